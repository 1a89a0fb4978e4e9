// The quick check: structure only, a moment for any file. The whole check is a screen of its own.

import type { ScreenProps } from '../../app/screens.js'
import { messageOf } from '../../engine/wire.js'
import { FindingList } from '../../parts/findings.js'
import { useAnswer } from '../../parts/use-answer.js'

const words = { ok: 'The structure is sound', warnings: 'Sound, with warnings', errors: 'There are errors' } as const

export function Verdict({ model }: ScreenProps) {
  const { answer, error } = useAnswer('verify', { model: model.id, from: model.from, quick: true })
  return (
    <section>
      <h2>Check</h2>
      {error !== undefined && <p>{messageOf(error)}</p>}
      {!answer && error === undefined && <p class="faint">Checking…</p>}
      {answer && (
        <>
          <p class={`verdict ${answer.verdict}`}>{words[answer.verdict]}</p>
          <FindingList findings={answer.findings} max={8} />
        </>
      )}
    </section>
  )
}
