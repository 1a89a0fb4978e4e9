import { useState } from 'preact/hooks'
import type { Loss } from 'tare'
import type { ConvertSettings } from '../../engine/rooms/convert.js'
import { messageOf } from '../../engine/wire.js'
import { sizeLabel } from '../../parts/format.js'
import { Work } from '../../parts/progress.js'
import { useWork } from '../../parts/use-work.js'
import { notify } from '../../state/announce.js'
import { canChooseFile, chooseFile, downloadAll } from './save.js'

interface DownloadProps {
  readonly model: number
  readonly settings: ConvertSettings
  readonly allowLoss: Loss
  readonly isAllowed: boolean
  readonly size: number
}

export function Download({ model, settings, allowLoss, isAllowed, size }: DownloadProps) {
  const work = useWork('convertRun')
  const [failure, setFailure] = useState<string>()
  const run = async (isChosen: boolean): Promise<void> => {
    setFailure(undefined)
    try {
      const file = isChosen ? await chooseFile(settings.name) : undefined
      if (isChosen && !file) return
      const made = await work.start({ model, settings, allowLoss, file })
      if (!made) return
      downloadAll(made)
      notify(isChosen ? `${settings.name} is written` : `${settings.name} is ready`)
    } catch (error) {
      setFailure(messageOf(error))
    }
  }
  if (work.progress) return <Work title="Converting" {...work.progress} isBytes onCancel={work.cancel} />
  const failed = failure ?? (work.error === undefined ? undefined : messageOf(work.error))
  return (
    <div class="save">
      {canChooseFile() && (
        <button type="button" class="primary" disabled={!isAllowed} onClick={() => void run(true)}>
          Save as {settings.name}…
        </button>
      )}
      <button
        type="button"
        class={canChooseFile() ? '' : 'primary'}
        disabled={!isAllowed}
        onClick={() => void run(false)}
      >
        Download ({sizeLabel(size)})
      </button>
      {failed !== undefined && <p role="alert">{failed}</p>}
    </div>
  )
}
