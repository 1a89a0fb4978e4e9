// Spending a budget of bytes: each kind of tensor gets the method that takes the least error for its share. Starting from the cheapest
// methods, the step that removes the most error per byte is taken next, until the budget is used up.
import type { MeasuredKind } from '../../engine/rooms/lab/lab.js'

export interface Choice {
  readonly glob: string
  readonly method: string
  readonly bytes: number
  /** Sum of squared errors over all values of the kind. */
  readonly error: number
}

interface Option {
  readonly method: string
  readonly bytes: number
  readonly error: number
}

/** Of all kinds, by the order of their methods from cheap to good: those that are worth choosing at some budget. */
function optionsOf({ points, values }: MeasuredKind): Option[] {
  const all = points
    .map(({ method, bitsPerWeight, rmse }) => ({
      method,
      bytes: (bitsPerWeight * values) / 8,
      error: rmse ** 2 * values,
    }))
    .sort((a, b) => a.bytes - b.bytes || a.error - b.error)
  const hull: Option[] = []
  for (const option of all) {
    if (hull.length > 0 && option.error >= hull.at(-1)!.error) continue
    while (hull.length > 1 && gain(hull.at(-2)!, hull.at(-1)!) <= gain(hull.at(-1)!, option)) hull.pop()
    hull.push(option)
  }
  return hull
}

/** Error that a byte more removes. */
const gain = (from: Option, to: Option): number => (from.error - to.error) / Math.max(1, to.bytes - from.bytes)

/** The least and the most bytes that the methods can make of all kinds. */
export function budgetRange(kinds: readonly MeasuredKind[]): readonly [low: number, high: number] {
  let [low, high] = [0, 0]
  for (const kind of kinds) {
    const options = optionsOf(kind)
    low += options[0]?.bytes ?? kind.bytes
    high += options.at(-1)?.bytes ?? kind.bytes
  }
  return [low, high]
}

/** `fixed` are the choices that somebody made by hand. */
export function spend(
  kinds: readonly MeasuredKind[],
  budget: number,
  fixed: ReadonlyMap<string, string> = new Map(),
): Choice[] {
  const open = kinds.map((kind) => {
    const wanted = fixed.get(kind.glob)
    const options = optionsOf(kind)
    const own = wanted === undefined ? options : pointOf(kind, wanted)
    return { glob: kind.glob, options: own, at: 0 }
  })
  let used = open.reduce((sum, { options }) => sum + (options[0]?.bytes ?? 0), 0)
  for (;;) {
    let best: (typeof open)[number] | undefined
    let bestGain = 0
    for (const each of open) {
      const [from, to] = [each.options[each.at], each.options[each.at + 1]]
      if (!from || !to || used + to.bytes - from.bytes > budget) continue
      const value = gain(from, to)
      if (value > bestGain) [best, bestGain] = [each, value]
    }
    if (!best) break
    used += best.options[best.at + 1]!.bytes - best.options[best.at]!.bytes
    best.at++
  }
  return open.flatMap(({ glob, options, at }) => (options[at] ? [{ glob, ...options[at] }] : []))
}

function pointOf({ points, values }: MeasuredKind, method: string): Option[] {
  const point = points.find((each) => each.method === method)
  return point ? [{ method, bytes: (point.bitsPerWeight * values) / 8, error: point.rmse ** 2 * values }] : []
}

/** Signal to noise of all kinds together, in decibels. */
export function totalSnr(kinds: readonly MeasuredKind[], choices: readonly Choice[]): number | null {
  const signal = kinds.reduce((sum, { power, values }) => sum + power * values, 0)
  const noise = choices.reduce((sum, { error }) => sum + error, 0)
  return signal > 0 && noise > 0 ? 10 * Math.log10(signal / noise) : null
}

/** The commonest method, and a rule for every kind that takes another. */
export function rulesFor(choices: readonly Choice[]): {
  readonly method: string
  readonly rules: readonly (readonly [string, string])[]
} {
  const bytes = new Map<string, number>()
  for (const { method, bytes: own } of choices) bytes.set(method, (bytes.get(method) ?? 0) + own)
  const [method = 'q4_k'] = [...bytes].sort((a, b) => b[1] - a[1])[0] ?? []
  return {
    method: shortName(method),
    rules: choices.filter((each) => each.method !== method).map((each) => [each.glob, shortName(each.method)] as const),
  }
}

export const shortName = (method: string): string => method.replace(/^.*\./, '')
