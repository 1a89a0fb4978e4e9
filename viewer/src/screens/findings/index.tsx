// What is wrong with the file, or worth knowing: the quick check at once, the whole one when somebody asks for it. Findings with the same
// code stand together, with what the code means and what to do.

import { useEffect } from 'preact/hooks'
import type { AnyScreenProps } from '../../app/screens.js'
import { messageOf } from '../../engine/wire.js'
import { Command } from '../../parts/command.js'
import { countLabel, sizeLabel } from '../../parts/format.js'
import { Work } from '../../parts/progress.js'
import { useAnswer } from '../../parts/use-answer.js'
import { useWork } from '../../parts/use-work.js'
import { CodeGroup } from './code-group.js'
import { groupByCode } from './group-by-code.js'
import './findings.css'

const verdicts = { ok: 'Nothing is wrong', warnings: 'It can be used, with warnings', errors: 'It is damaged' } as const

const repairedName = (argument: string): string => `repaired-${argument.replace(/[\\/]+$/, '').replace(/^.*[\\/]/, '')}`

export default function Findings({ model }: AnyScreenProps) {
  const quick = useAnswer('verify', { model: model.id, from: model.from, quick: true })
  const whole = useWork('verify')
  useEffect(whole.clear, [model.id])
  const result = whole.answer ?? quick.answer
  const codes = useAnswer(
    'codes',
    result ? { codes: [...new Set(result.findings.map(({ code }) => code))] } : undefined,
  )
  return (
    <div class="findings-screen">
      <header>
        <h1>Findings</h1>
        {result && (
          <p class={`verdict ${result.verdict}`}>
            {result.format === null ? 'It is in no format that is known' : verdicts[result.verdict]}
            {!whole.answer && result.verdict !== 'errors' && ', as far as the structure shows'}
          </p>
        )}
        {result && (
          <p class="faint">
            {countLabel(result.checked.tensors)} {result.checked.tensors === 1 ? 'tensor' : 'tensors'} and{' '}
            {sizeLabel(result.checked.bytes)} were checked
            {result.cut && `; the file ends after ${sizeLabel(result.cut.size)}`}.
          </p>
        )}
        {!result && !quick.error && <p class="faint">Checking the structure…</p>}
        {whole.progress ? (
          <Work title="Checking all bytes" {...whole.progress} isBytes onCancel={whole.cancel} />
        ) : (
          <p>
            <button
              type="button"
              class="primary"
              onClick={() => void whole.start({ model: model.id, from: model.from, quick: false })}
            >
              {whole.answer ? 'Check all bytes again' : 'Check all bytes'}
            </button>
          </p>
        )}
        {Boolean(whole.error ?? quick.error) && <p role="alert">{messageOf(whole.error ?? quick.error)}</p>}
      </header>
      {result &&
        groupByCode(result.findings).map((group) => (
          <CodeGroup key={group.code} {...group} text={codes.answer?.[group.code]} />
        ))}
      <section>
        <h2>In a terminal</h2>
        <Command words={['tare', 'verify', model.argument]} />
        {result?.verdict === 'errors' && result.format !== null && (
          <Command words={['tare', 'repair', model.argument, '-o', repairedName(model.argument)]} />
        )}
      </section>
    </div>
  )
}
