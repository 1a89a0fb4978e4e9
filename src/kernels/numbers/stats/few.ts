// Statistics of few values: sorting them is faster than clearing the counters that large tensors need.
import { type Bins, binOf } from './bins.js'
import { addTo, createSum, scaleFor, sumOf } from './sum.js'

export interface SortedValues {
  readonly count: number
  readonly nan: number
  readonly posInf: number
  readonly negInf: number
  readonly zero: number
  /** Ascending, -0 before 0. */
  readonly finite: Float32Array | Float64Array
}

export function sortValues(values: Float32Array | Float64Array): SortedValues {
  let nan = 0
  let posInf = 0
  let negInf = 0
  let zero = 0
  for (const x of values) {
    if (Number.isNaN(x)) nan++
    else if (x === Infinity) posInf++
    else if (x === -Infinity) negInf++
    else if (x === 0) zero++
  }
  const sorted = values.slice().sort() // -Infinity first; Infinity and then NaN last
  const finite = sorted.subarray(negInf, sorted.length - posInf - nan)
  return { count: values.length, nan, posInf, negInf, zero, finite }
}

export function meanOfSorted(finite: Float32Array | Float64Array): number {
  const [min, max] = [finite[0]!, finite.at(-1)!]
  const scale = Math.max(-min, max) > 2 ** 900 ? 2 ** -128 : 1
  const sum = createSum()
  for (const x of finite) addTo(sum, x * scale)
  return Math.min(Math.max(sumOf(sum) / finite.length / scale, min), max)
}

export function deviationOfSorted(finite: Float32Array | Float64Array, mean: number): number {
  const scale = scaleFor(finite[0]!, finite.at(-1)!)
  const squares = createSum()
  for (const x of finite) addTo(squares, (x * scale - mean * scale) ** 2)
  return Math.sqrt(sumOf(squares) / finite.length) / scale
}

export function medianOfSorted(finite: Float32Array | Float64Array): number {
  return halfway(finite[Math.floor((finite.length - 1) / 2)]!, finite[Math.floor(finite.length / 2)]!)
}

/** The middle of two finite values, the value itself when they are the same. */
export function halfway(lower: number, upper: number): number {
  if (Object.is(lower, upper)) return lower
  const sum = lower + upper
  return Number.isFinite(sum) ? sum / 2 : lower / 2 + upper / 2
}

export function countSorted(bins: Bins, finite: Float32Array | Float64Array): void {
  for (const x of finite) bins.counts[binOf(bins, x)]!++
}
