// Tensors whose bytes need to be stored only once: those that share a range of their source already and, when asked for, those that have
// the same type, shape and content.
import { type ByteSource, defaultWindow, toHex } from '../../bytes/index.js'
import { createHasher } from '../../digest/index.js'
import type { Payload, Tensor } from '../../model/index.js'

/** For each tensor the position of the first one with the same bytes, which can be its own. */
export async function groupShared(
  tensors: readonly Tensor[],
  dedup: boolean,
  signal: AbortSignal | undefined,
): Promise<number[]> {
  const owners = groupByOrigin(tensors)
  return dedup ? groupByContent(tensors, owners, signal) : owners
}

function groupByOrigin(tensors: readonly Tensor[]): number[] {
  const sources = new Map<ByteSource, Map<number, number[]>>()
  return tensors.map(({ data }, i) => {
    const origin = data?.origin
    if (!origin) return i
    const starts = sources.get(origin.source) ?? new Map<number, number[]>()
    sources.set(origin.source, starts)
    const others = starts.get(origin.offset)
    if (!others) starts.set(origin.offset, [i])
    const same = others?.find((other) => tensors[other]!.data!.byteLength === origin.length)
    if (same === undefined) others?.push(i)
    return same ?? i
  })
}

/** Only tensors that agree in type and shape with another one are read. */
async function groupByContent(
  tensors: readonly Tensor[],
  owners: readonly number[],
  signal: AbortSignal | undefined,
): Promise<number[]> {
  const alike = new Map<string, number[]>()
  for (const [i, { dtype, shape, data }] of tensors.entries()) {
    if (owners[i] !== i) continue
    const key = JSON.stringify([dtype.id, shape, data!.byteLength])
    const group = alike.get(key)
    if (group) group.push(i)
    else alike.set(key, [i])
  }
  const result = [...owners]
  for (const group of alike.values()) {
    if (group.length < 2) continue
    const first = new Map<string, number>()
    for (const i of group) {
      const digest = await contentDigest(tensors[i]!.data!, signal)
      const same = first.get(digest)
      if (same === undefined) first.set(digest, i)
      else result[i] = same
    }
  }
  return result.map((owner) => result[owner]!)
}

async function contentDigest(payload: Payload, signal: AbortSignal | undefined): Promise<string> {
  const hasher = await createHasher('blake3')
  for await (const chunk of payload.chunks(defaultWindow, signal)) hasher.update(chunk)
  return toHex(hasher.digest())
}
