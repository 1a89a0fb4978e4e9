// The whole model within a number of bytes: which kind of tensor gets which method, changed by hand where somebody knows better.

import { useMemo, useState } from 'preact/hooks'
import type { ScreenProps } from '../../app/screens.js'
import type { MeasuredKind } from '../../engine/rooms/lab/lab.js'
import { messageOf } from '../../engine/wire.js'
import { Command } from '../../parts/command.js'
import { countLabel, sizeLabel } from '../../parts/format.js'
import { Work } from '../../parts/progress.js'
import { Name } from '../../parts/text.js'
import { useAnswer } from '../../parts/use-answer.js'
import { useWork } from '../../parts/use-work.js'
import { goTo } from '../../state/location.js'
import { budgetRange, type Choice, rulesFor, shortName, spend, totalSnr } from './budget.js'

/** Types that llama.cpp runs everywhere and that need no importance matrix. */
const families = {
  gguf: ['q2_k', 'q3_k', 'q4_k', 'q5_k', 'q6_k', 'q8_0'],
  mcf: ['k2', 'k3', 'k4', 'k6', 'q8'],
} as const

type Family = keyof typeof families

export function Budget({ model }: ScreenProps) {
  const [family, setFamily] = useState<Family>('gguf')
  const work = useWork('labKinds')
  const start = (): void => void work.start({ model: model.id, methods: families[family] })
  return (
    <section class="budget">
      <h2>The whole model within a budget</h2>
      <div class="row">
        <label>
          For{' '}
          <select
            value={family}
            onChange={(event) => {
              work.clear()
              setFamily(event.currentTarget.value as Family)
            }}
          >
            <option value="gguf">GGUF</option>
            <option value="mcf">MCF</option>
          </select>
        </label>
        {work.progress ? (
          <Work title="Measuring kinds of tensors" {...work.progress} onCancel={work.cancel} />
        ) : (
          !work.answer && (
            <button type="button" class="primary" onClick={start}>
              Measure every kind of tensor
            </button>
          )
        )}
      </div>
      {work.error !== undefined && <p role="alert">{messageOf(work.error)}</p>}
      {work.answer &&
        (work.answer.length === 0 ? (
          <p>No tensor of this model can be quantized.</p>
        ) : (
          <Spending key={family} model={model} kinds={work.answer} family={family} />
        ))}
    </section>
  )
}

interface SpendingProps extends ScreenProps {
  readonly kinds: readonly MeasuredKind[]
  readonly family: Family
}

function Spending({ model, kinds, family }: SpendingProps) {
  const [low, high] = useMemo(() => budgetRange(kinds), [kinds])
  const [budget, setBudget] = useState(() => Math.round((low + high) / 2))
  const [fixed, setFixed] = useState<ReadonlyMap<string, string>>(new Map())
  const choices = useMemo(() => spend(kinds, budget, fixed), [kinds, budget, fixed])
  const { method, rules } = rulesFor(choices)
  const { answer: plan } = useAnswer('labPlan', { model: model.id, method, rules })
  const snr = totalSnr(kinds, choices)
  const values = kinds.reduce((sum, kind) => sum + kind.values, 0)
  const used = choices.reduce((sum, choice) => sum + choice.bytes, 0)
  const fix = (glob: string, chosen: string): void => {
    const next = new Map(fixed)
    if (chosen === '') next.delete(glob)
    else next.set(glob, chosen)
    setFixed(next)
  }
  const output = family === 'gguf' ? 'model.gguf' : 'model.mcf'
  return (
    <>
      <label class="slider">
        Budget for what is quantized: {sizeLabel(budget)}
        <input
          type="range"
          min={Math.floor(low)}
          max={Math.ceil(high)}
          step={Math.max(1, Math.round((high - low) / 500))}
          value={budget}
          onInput={(event) => setBudget(Number(event.currentTarget.value))}
        />
      </label>
      <p>
        <strong>{sizeLabel(used)}</strong>, {((8 * used) / Math.max(1, values)).toFixed(2)} bits per weight
        {snr !== null && `, about ${snr.toFixed(1)} dB signal to noise`}
        {plan && `; the weights of the whole model go from ${sizeLabel(plan.before)} to ${sizeLabel(plan.after)}`}
      </p>
      <Kinds kinds={kinds} choices={choices} fixed={fixed} onFix={fix} />
      <Command
        words={[
          'tare',
          'quantize',
          model.argument,
          '-o',
          output,
          '--method',
          method,
          ...rules.flatMap(([glob, each]) => ['--tensor-method', `${glob}=${each}`]),
        ]}
      />
      <p>
        <button
          type="button"
          onClick={() => goTo('convert', undefined, { to: family, method, rules: JSON.stringify(rules) })}
        >
          Convert with these methods
        </button>
      </p>
    </>
  )
}

interface KindsProps {
  readonly kinds: readonly MeasuredKind[]
  readonly choices: readonly Choice[]
  readonly fixed: ReadonlyMap<string, string>
  readonly onFix: (glob: string, method: string) => void
}

function Kinds({ kinds, choices, fixed, onFix }: KindsProps) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            {['Kind of tensor', 'Tensors', 'Now', 'Then', 'Method', 'SNR'].map((title, i) => (
              <th key={title} scope="col" class={i === 0 || i === 4 ? '' : 'number'}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {kinds.map(({ glob, count, bytes, points }) => {
            const choice = choices.find((each) => each.glob === glob)
            const point = points.find(({ method }) => method === choice?.method)
            return (
              <tr key={glob}>
                <th scope="row">
                  <Name text={glob} />
                </th>
                <td class="number">{countLabel(count)}</td>
                <td class="number">{sizeLabel(bytes)}</td>
                <td class="number">{choice && sizeLabel(choice.bytes)}</td>
                <td>
                  <select
                    aria-label={`Method for ${glob}`}
                    value={fixed.get(glob) ?? ''}
                    onChange={(event) => onFix(glob, event.currentTarget.value)}
                  >
                    <option value="">{choice ? `${shortName(choice.method)} (by budget)` : 'kept'}</option>
                    {points.map(({ method }) => (
                      <option key={method} value={method}>
                        {shortName(method)}
                      </option>
                    ))}
                  </select>
                </td>
                <td class="number">{point?.snr ? `${point.snr.toFixed(1)} dB` : '–'}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
