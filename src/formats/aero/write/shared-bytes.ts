// Which tensors are the same bytes: those that have the same payload, or the same range of the same file. They are found by numbers alone,
// since there can be a million tensors and hardly ever any that are tied.
import type { ByteSource } from '../../../bytes/index.js'
import type { Payload, Tensor } from '../../../model/index.js'

export interface TensorBytes {
  readonly lengths: Float64Array
  /** For each tensor, the first one that is the same bytes, which may be itself. Undefined where all are by themselves. */
  readonly firsts: Uint32Array | undefined
}

/** Goes through the tensors once. */
export function findSharedBytes(tensors: readonly Tensor[]): TensorBytes {
  const count = tensors.length
  const lengths = new Float64Array(count)
  const offsets = new Float64Array(count)
  /** Of the files that the bytes lie in; 0 where they are made, or there are none. */
  const sources = new Uint32Array(count)
  const numbers = new Map<ByteSource, number>()
  // Lists may make payloads anew; then they are nobody else's, and need not be kept alive.
  const made = new WeakMap<Payload, number>()
  let firsts: Uint32Array | undefined
  for (const [i, { data }] of tensors.entries()) {
    if (!data || data.byteLength === 0) continue
    lengths[i] = data.byteLength
    const { origin } = data
    if (origin) {
      const number = numbers.get(origin.source) ?? numbers.size + 1
      numbers.set(origin.source, number)
      sources[i] = number
      offsets[i] = origin.offset
    } else {
      const first = made.get(data)
      if (first === undefined) made.set(data, i)
      else {
        firsts ??= upTo(count)
        firsts[i] = first
      }
    }
  }
  const compare = (a: number, b: number): number => sources[a]! - sources[b]! || offsets[a]! - offsets[b]!
  if (isAscending(sources, compare)) return { lengths, firsts }
  let first = 0
  for (const i of upTo(count).sort((a, b) => compare(a, b) || a - b)) {
    if (sources[i] === 0 || compare(first, i) !== 0) first = i
    // Of those that begin at one place the first counts; others may be longer or shorter.
    else if (lengths[i] === lengths[first]) {
      firsts ??= upTo(count)
      firsts[i] = first
    }
  }
  return { lengths, firsts }
}

const upTo = (count: number): Uint32Array => new Uint32Array(count).map((_, i) => i)

/** Whether those that lie in files do so one behind the other, so that no two are the same. */
function isAscending(sources: Uint32Array, compare: (a: number, b: number) => number): boolean {
  let last = -1
  for (let i = 0; i < sources.length; i++) {
    if (sources[i] === 0) continue
    if (last >= 0 && compare(last, i) >= 0) return false
    last = i
  }
  return true
}
