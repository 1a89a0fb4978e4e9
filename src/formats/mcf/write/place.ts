// Where tensors go inside TensorData: in the order of their names, each on a multiple of the alignment counted from the start of the file,
// so the section may begin with padding. Tensors with the same bytes can share one place; the reference still leaves the padding that the
// second one would have had, which shows when it is the last.
import { alignUp, type ByteSource, isPowerOfTwo, type Range } from '../../../bytes/index.js'
import type { Payload, Tensor } from '../../../model/index.js'
import { byName as orderedByName } from '../../../model/tensor-order.js'
import { isBlockType, needsAlignment } from '../dtypes.js'

/** Quantized payloads need 64 whatever else was asked for. */
export const blockAlignment = 64
export const maxAlignment = 1 << 20

export const isAlignment = (value: number): boolean => value === 0 || (isPowerOfTwo(value) && value <= maxAlignment)

/** Tensors by the bytes of their names. */
export const byName = (tensors: readonly Tensor[]): readonly Tensor[] =>
  orderedByName(tensors, ({ name, rawName }) => rawName?.[0] ?? name)

/** For each tensor the position of the first one with the same payload, or the same range of the same source; mostly its own. */
export function ownersOf(tensors: readonly Tensor[]): number[] {
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

export interface Places {
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
  return { offsets, end }
}

/** The alignment that the tensors of a file were written with, where one explains where they all lie. */
export function alignmentOf(tensors: readonly Tensor[], { start, end }: Range): number | undefined {
  const sizes = new Map<number, number>()
  const placed: {
    readonly offset: number
    readonly size: number
    readonly isBlock: boolean
    readonly isShared: boolean
  }[] = []
  for (const { data, dtype } of byName(tensors)) {
    if (!data?.origin) continue
    const { offset, length: size } = data.origin
    const known = sizes.get(offset)
    if (known !== undefined && known !== size) return undefined // they overlap, which no alignment explains
    sizes.set(offset, size)
    placed.push({ offset, size, isBlock: isBlockType(dtype), isShared: known !== undefined })
  }
  const explains = (alignment: number): boolean => {
    const ofBlocks = Math.max(alignment, blockAlignment)
    let at = start
    for (const { offset, size, isBlock, isShared } of placed) {
      at = alignUp(at, isBlock ? ofBlocks : alignment)
      if (isShared) continue
      if (offset !== at) return false
      at += size
    }
    return at === end
  }
  const powers = Array.from({ length: Math.log2(maxAlignment) + 1 }, (_, i) => 2 ** i)
  return [blockAlignment, ...powers].find(explains)
}
