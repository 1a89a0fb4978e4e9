// How many bytes a shape takes when elements follow each other without gaps.
import { checkedAdd, checkedMultiply, countElements } from '../bytes/index.js'
import type { DType } from './dtype.js'

/** Counts over the flattened tensor: rows are not padded, only the last byte is filled up. */
export function flatByteLength(group: DType['group']): (shape: readonly number[]) => number | undefined {
  return (shape) => {
    const count = countElements(shape)
    if (count === undefined) return undefined
    const rest = count % group.elements
    const whole = checkedMultiply((count - rest) / group.elements, group.bytes)
    return whole === undefined ? undefined : checkedAdd(whole, Math.ceil((rest * group.bytes) / group.elements))
  }
}

/** Each element takes `bytes` whole bytes. */
export function plainLayout(bytes: number): Pick<DType, 'group' | 'byteLength'> {
  const group = { elements: 1, bytes }
  return { group, byteLength: flatByteLength(group) }
}

/** Whether tensors of this shape can have this number of bytes. Some types do not tell. */
export function isSizeOf(dtype: DType, shape: readonly number[], byteLength: number): boolean {
  if (dtype.regions) return dtype.regions.isKnownSize(shape, byteLength)
  const length = dtype.byteLength(shape)
  return length === undefined || length === byteLength
}
