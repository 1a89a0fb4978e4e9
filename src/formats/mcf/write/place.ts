// Where tensors go inside TensorData: in the order of their names, each on a multiple of the alignment counted from the start of the file,
// so the section may begin with padding. Tensors with the same bytes can share one place; the reference still leaves the padding that the
// second one would have had, which shows when it is the last.
import { alignUp, type ByteSource, isPowerOfTwo, type Range } from '../../../bytes/index.js'
import type { Payload, Tensor } from '../../../model/index.js'
import { byName as orderedByName } from '../../../model/tensor-order.js'
import { isBlockType, needsAlignment } from '../dtypes.js'

/** Quantized payloads need 64 whatever else was requested. */
export const blockAlignment = 64
export const maxAlignment = 1 << 20

export const isAlignment = (value: number): boolean => value === 0 || (isPowerOfTwo(value) && value <= maxAlignment)

/** Tensors by the bytes of their names. */
export const byName = (tensors: readonly Tensor[]): readonly Tensor[] =>
  orderedByName(tensors, ({ name, rawName }) => rawName?.[0] ?? name)

/**
 * For each tensor the position of the first one with the same payload, or the same range of the same source; mostly its own. `given` are
 * the same tensors in the order of the model, which mostly is that of its file: then no two are the same, and there is nothing to look up.
 */
export function ownersOf(tensors: readonly Tensor[], given: readonly Tensor[]): number[] {
  if (doRangesAscend(given)) return tensors.map((_, i) => i)
  const sources = new Map<ByteSource, number>()
  const owners = new Map<Payload | string, number>()
  return tensors.map(({ data }, i) => {
    const origin = data!.origin
    if (origin && !sources.has(origin.source)) sources.set(origin.source, sources.size)
    const key = origin ? `${sources.get(origin.source)} ${origin.offset} ${origin.length}` : data!
    const owner = owners.get(key)
    if (owner === undefined) owners.set(key, i)
    return owner ?? i
  })
}

/** Whether each tensor begins behind the beginning of the one before in its source. */
function doRangesAscend(tensors: readonly Tensor[]): boolean {
  const reached = new Map<ByteSource, number>()
  for (const { data } of tensors) {
    const origin = data!.origin
    if (!origin || origin.offset <= (reached.get(origin.source) ?? -1)) return false
    reached.set(origin.source, origin.offset)
  }
  return true
}

export interface Places {
  readonly start: number
  readonly offsets: readonly number[]
  readonly end: number
}

/** The tensors are in the order of their names; `owners` says whose bytes each of them has. */
export function placeTensors(
  tensors: readonly Tensor[],
  owners: readonly number[],
  alignment: number,
  start: number,
): Places {
  const ofBlocks = Math.max(alignment, blockAlignment)
  const alignments = tensors.map(({ dtype }) => (needsAlignment(dtype) ? ofBlocks : alignment))
  for (const [i, owner] of owners.entries()) alignments[owner] = Math.max(alignments[owner]!, alignments[i]!)
  const offsets: number[] = []
  let end = start
  for (const [i, { data }] of tensors.entries()) {
    const owner = owners[i]!
    end = alignUp(end, alignments[i]!)
    offsets.push(owner === i ? end : offsets[owner]!)
    if (owner === i) end += data!.byteLength
  }
  return { start, offsets, end }
}

/** The alignment that the tensors of a file were written with, where one explains where they all lie. */
export function alignmentOf(tensors: readonly Tensor[], { start, end }: Range): number | undefined {
  const placed = byName(tensors.filter(({ data }) => data?.origin))
  const shared = findShared(placed)
  if (!shared) return undefined // they overlap, which no alignment explains
  const explains = (alignment: number): boolean => {
    const ofBlocks = Math.max(alignment, blockAlignment)
    let at = start
    for (const [i, { data, dtype }] of placed.entries()) {
      at = alignUp(at, isBlockType(dtype) ? ofBlocks : alignment)
      if (shared.has(i)) continue
      if (data!.origin!.offset !== at) return false
      at += data!.byteLength
    }
    return at === end
  }
  const powers = Array.from({ length: Math.log2(maxAlignment) + 1 }, (_, i) => 2 ** i)
  return [blockAlignment, ...powers].find(explains)
}

/** The positions of tensors that lie where another one before them lies; undefined where two begin at one place and differ in size. */
function findShared(tensors: readonly Tensor[]): ReadonlySet<number> | undefined {
  const shared = new Set<number>()
  if (doRangesAscend(tensors)) return shared
  const sizes = new Map<number, number>()
  for (const [i, { data }] of tensors.entries()) {
    const { offset, length } = data!.origin!
    const known = sizes.get(offset)
    if (known !== undefined && known !== length) return undefined
    if (known === undefined) sizes.set(offset, length)
    else shared.add(i)
  }
  return shared
}
