// Where tensors go inside TensorData: in the order of their names, each on a multiple of the alignment counted from the start of the file,
// so the section may begin with padding. Tensors with the same bytes can share one place; the reference still leaves the padding that the
// second one would have had, which shows when it is the last.
import { alignUp, isPowerOfTwo } from '../../bytes/index.js'

export interface Item {
  readonly size: number
  readonly alignment: number
  /** The position in the list of the tensor whose bytes these are; its own when they are nobody else's. */
  readonly bytesOf: number
}

export interface Places {
  readonly offsets: Float64Array
  readonly end: number
}

export function placeTensors(count: number, itemAt: (index: number) => Item, start: number): Places {
  const offsets = new Float64Array(count)
  let end = start
  for (let i = 0; i < count; i++) {
    const { size, alignment, bytesOf } = itemAt(i)
    end = alignUp(end, alignment)
    offsets[i] = bytesOf < i ? offsets[bytesOf]! : end
    if (bytesOf === i) end += size
  }
  return { offsets, end }
}

/** Quantized payloads need 64 whatever else was asked for. */
export const blockAlignment = 64
export const maxAlignment = 1 << 20

export const isAlignment = (value: number): boolean => value === 0 || (isPowerOfTwo(value) && value <= maxAlignment)

interface Placed {
  readonly offset: number
  readonly size: number
  readonly isBlock: boolean
}

/** The alignment that explains where the tensors of a file lie; they come in the order of their names. */
export function findAlignment(tensors: readonly Placed[], start: number, end: number): number | undefined {
  const sizes = new Map<number, number>()
  const isFirst: boolean[] = []
  for (const { offset, size } of tensors) {
    const known = sizes.get(offset)
    if (known !== undefined && known !== size) return undefined // they overlap, which no alignment explains
    isFirst.push(known === undefined)
    sizes.set(offset, size)
  }
  const explains = (candidate: number): boolean => {
    let at = start
    for (const [i, { offset, size, isBlock }] of tensors.entries()) {
      at = alignUp(at, isBlock ? Math.max(candidate, blockAlignment) : candidate)
      if (!isFirst[i]) continue
      if (offset !== at) return false
      at += size
    }
    return at === end
  }
  const powers = Array.from({ length: Math.log2(maxAlignment) + 1 }, (_, i) => 2 ** i)
  return [blockAlignment, ...powers].find(explains)
}
