// Another format, another element type, fewer bits: the plan with what would be lost first, as `--dry-run` shows it, then the file.

import { useMemo, useState } from 'preact/hooks'
import type { ScreenProps } from '../../app/screens.js'
import type { ConvertSettings, Target } from '../../engine/rooms/convert.js'
import { messageOf } from '../../engine/wire.js'
import { Command } from '../../parts/command.js'
import { useAnswer } from '../../parts/use-answer.js'
import { address, setQuery } from '../../state/location.js'
import { Download } from './download.js'
import { Extras } from './extras.js'
import { PlanView } from './plan-view.js'
import './convert.css'
import '../../parts/maps.css'

export default function Convert({ model }: ScreenProps) {
  const { answer: targets } = useAnswer('convertTargets', {})
  const { query } = address.value
  const usual = model.head.format === 'gguf' ? 'safetensors' : 'gguf'
  const target = targets?.find(({ id }) => id === query.to) ?? targets?.find(({ id }) => id === usual)
  const settings = useMemo(() => target && settingsFrom(query, target, model.title), [query, target, model.title])
  const { answer: plan, error, isLoading } = useAnswer('convertPlan', settings && { model: model.id, settings })
  const [isLossAllowed, setLossAllowed] = useState(false)
  if (!targets || !target || !settings) return <p class="waiting">Reading…</p>
  const needsLeave = plan?.unrequestedLoss === 'content' || plan?.unrequestedLoss === 'precision'
  return (
    <div class="convert">
      <header>
        <h1>Convert</h1>
      </header>
      <Choices targets={targets} target={target} />
      {error !== undefined && <p role="alert">{messageOf(error)}</p>}
      {plan && <PlanView plan={plan} isOld={isLoading} />}
      {plan && needsLeave && (
        <label>
          <input
            type="checkbox"
            checked={isLossAllowed}
            onChange={(event) => setLossAllowed(event.currentTarget.checked)}
          />{' '}
          Go on although this is lost
        </label>
      )}
      {plan && (
        <Download
          model={model.id}
          settings={settings}
          allowLoss={isLossAllowed ? 'content' : 'form'}
          isAllowed={!needsLeave || isLossAllowed}
          size={plan.size}
        />
      )}
      <section>
        <h2>In a terminal</h2>
        <Command words={commandOf(model, settings, isLossAllowed)} />
      </section>
      <Extras model={model} />
    </div>
  )
}

function settingsFrom(query: Readonly<Record<string, string>>, target: Target, title: string): ConvertSettings {
  const stem = title.replace(/\.[a-z0-9_]+$/i, '').replace(/[^\w.-]+/g, '_') || 'model'
  const change = query.method ?? query.cast
  const wanted = `${stem}${change ? `-${change}` : ''}${target.extension}`
  // The command would write over its input.
  const name = wanted === title ? `${stem}-converted${target.extension}` : wanted
  return {
    to: target.id,
    name,
    ...(query.cast && { cast: query.cast }),
    ...(query.method && { quantize: query.method, rules: rulesFrom(query.rules), requantize: true }),
    ...(query.dequantize && { dequantize: true }),
  }
}

/** What stands in an address can be anything. */
function rulesFrom(text: string | undefined): readonly (readonly [string, string])[] {
  try {
    const rules: unknown = JSON.parse(text ?? '[]')
    if (!Array.isArray(rules)) return []
    return rules.filter(
      (rule): rule is [string, string] =>
        Array.isArray(rule) && rule.length === 2 && rule.every((part) => typeof part === 'string'),
    )
  } catch {
    return []
  }
}

function commandOf(
  { argument, head }: ScreenProps['model'],
  { name, to, cast, quantize, rules, dequantize }: ConvertSettings,
  isLossAllowed: boolean,
): string[] {
  // Types of a family, such as ggml.q4_k, are quantized; f16 and the like have no family.
  const isQuantized = head.types.some(({ type }) => type.includes('.') || type === 'packed')
  return [
    ...['tare', 'convert', argument, '-o', name, '--to', to],
    ...(cast ? ['--cast', cast] : []),
    ...(dequantize ? ['--dequantize'] : []),
    ...(quantize ? ['--quantize', quantize, ...(isQuantized ? ['--requantize'] : [])] : []),
    ...(rules ?? []).flatMap(([glob, method]) => ['--tensor-method', `${glob}=${method}`]),
    ...(isLossAllowed ? ['--allow-loss'] : []),
  ]
}

const casts = ['f32', 'f16', 'bf16'] as const
const methods = ['q8_0', 'q6_k', 'q5_k', 'q4_k', 'q3_k', 'q2_k', 'q8', 'k6', 'k4', 'k3', 'k2'] as const

function Choices({ targets, target }: { readonly targets: readonly Target[]; readonly target: Target }) {
  const { query } = address.value
  const ruleCount = rulesFrom(query.rules).length
  return (
    <div class="choices">
      <label>
        Format
        <select value={target.id} onChange={(event) => setQuery({ to: event.currentTarget.value })}>
          {targets.map(({ id, title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label>
        Floats as
        <select value={query.cast ?? ''} onChange={(event) => setQuery({ cast: event.currentTarget.value })}>
          <option value="">they are</option>
          {casts.map((id) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
      </label>
      <label>
        Quantize
        <select
          value={query.method ?? ''}
          onChange={(event) => setQuery({ method: event.currentTarget.value, rules: undefined })}
        >
          <option value="">nothing</option>
          {[...new Set([...methods, ...(query.method ? [query.method] : [])])].map((id) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={query.dequantize === '1'}
          onChange={(event) => setQuery({ dequantize: event.currentTarget.checked ? '1' : undefined })}
        />
        Dequantize
      </label>
      {ruleCount > 0 && <p class="faint">{ruleCount} kinds of tensors have methods of their own, from the budget.</p>}
    </div>
  )
}
