// Where tensors go inside TensorData: in the order of their names, each on a multiple of the alignment counted from the start of the file,
// so the section may begin with padding. Tensors with the same bytes can share one place; the reference still leaves the padding that the
// second one would have had, which shows when it is the last.
import { alignUp, isPowerOfTwo } from '../../../bytes/index.js'

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

/** Where the tensors of a file lie, in the order of their names. */
export class PlacedTensors {
  length = 0
  readonly offsets: Float64Array
  readonly sizes: Float64Array
  readonly areBlocks: Uint8Array

  constructor(most: number) {
    this.offsets = new Float64Array(most)
    this.sizes = new Float64Array(most)
    this.areBlocks = new Uint8Array(most)
  }

  add(offset: number, size: number, isBlock: boolean): void {
    const i = this.length++
    this.offsets[i] = offset
    this.sizes[i] = size
    this.areBlocks[i] = Number(isBlock)
  }

  /** Which ones share the place of another that comes before; undefined when two begin at one place and differ in size. */
  findShared(): Uint8Array | undefined {
    const { offsets, sizes, length } = this
    const areShared = new Uint8Array(length)
    if (offsets.subarray(0, length).every((offset, i) => i === 0 || offsets[i - 1]! < offset)) return areShared
    const order = Uint32Array.from({ length }, (_, i) => i).sort((a, b) => offsets[a]! - offsets[b]! || a - b)
    for (let k = 1; k < length; k++) {
      const [before, i] = [order[k - 1]!, order[k]!]
      if (offsets[before] !== offsets[i]) continue
      if (sizes[before] !== sizes[i]) return undefined
      areShared[i] = 1
    }
    return areShared
  }
}

/** The alignment that explains where the tensors of a file lie. */
export function findAlignment(tensors: PlacedTensors, start: number, end: number): number | undefined {
  const { offsets, sizes, areBlocks, length } = tensors
  const areShared = tensors.findShared()
  if (!areShared) return undefined // they overlap, which no alignment explains
  const explains = (candidate: number): boolean => {
    const ofBlocks = Math.max(candidate, blockAlignment)
    let at = start
    for (let i = 0; i < length; i++) {
      at = alignUp(at, areBlocks[i] === 1 ? ofBlocks : candidate)
      if (areShared[i] === 1) continue
      if (offsets[i] !== at) return false
      at += sizes[i]!
    }
    return at === end
  }
  const powers = Array.from({ length: Math.log2(maxAlignment) + 1 }, (_, i) => 2 ** i)
  return [blockAlignment, ...powers].find(explains)
}
