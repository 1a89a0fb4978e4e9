// Tensors whose bytes are stored only once: those that share a payload, or a range of their source.
import type { ByteSource } from '../../bytes/index.js'
import type { Payload, TensorList } from '../../model/index.js'

/** For each tensor the position of the first one with the same bytes, which can be its own. */
export function groupShared(tensors: TensorList): Uint32Array {
  const payloads = new Map<Payload, number>()
  const sources = new Map<ByteSource, Map<number, number[]>>()
  return Uint32Array.from(tensors, ({ data }, i) => {
    const known = payloads.get(data!)
    if (known !== undefined) return known
    const first = sameRange(data!, i) ?? i
    payloads.set(data!, first)
    return first
  })

  function sameRange({ origin }: Payload, i: number): number | undefined {
    if (!origin) return undefined
    const starts = sources.get(origin.source) ?? new Map<number, number[]>()
    sources.set(origin.source, starts)
    const others = starts.get(origin.offset)
    if (!others) starts.set(origin.offset, [i])
    const same = others?.find((other) => tensors.at(other)!.data!.byteLength === origin.length)
    if (same === undefined) others?.push(i)
    return same
  }
}
