// Parts of a model for other programs: one tensor for NumPy, the table of tensors for a spreadsheet.

import { useState } from 'preact/hooks'
import type { ScreenProps } from '../../app/screens.js'
import { ask } from '../../engine/session.js'
import { messageOf } from '../../engine/wire.js'
import { Command } from '../../parts/command.js'
import { tensorCommand } from '../../parts/shell.js'
import { TensorPicker } from '../../parts/tensor-picker.js'
import { notify } from '../../state/announce.js'
import { downloadAll, downloadBlob } from './save.js'

export function Extras({ model }: ScreenProps) {
  const [tensor, setTensor] = useState('')
  const tell = (error: unknown): void => notify(messageOf(error))
  const saveTensor = async (): Promise<void> => {
    downloadAll(await ask('convertTensor', { model: model.id, tensor }))
  }
  const saveTable = async (): Promise<void> => {
    const csv = await ask('convertTable', { model: model.id })
    downloadBlob(`${model.title}.csv`, new Blob([csv], { type: 'text/csv' }))
  }
  return (
    <section>
      <h2>For other programs</h2>
      <div class="extras">
        <TensorPicker model={model.id} value={tensor} onPick={setTensor} />
        <button type="button" disabled={tensor === ''} onClick={() => void saveTensor().catch(tell)}>
          Download as .npy
        </button>
        <button type="button" onClick={() => void saveTable().catch(tell)}>
          Download the table as CSV
        </button>
      </div>
      {tensor !== '' && (
        <Command words={tensorCommand('extract', model.argument, tensor, ['--as', 'f32', '-o', 'tensor.npy'])} />
      )}
      <Command words={['tare', 'inspect', '--all', '--format', 'csv', model.argument]} />
    </section>
  )
}
