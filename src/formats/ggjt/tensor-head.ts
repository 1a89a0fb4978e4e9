// What stands before the data of a tensor: the number of its dimensions, the length of its name and its type, 32 bits each, then the
// dimensions, innermost first, and the name.
import type { WindowReader } from '../../bytes/index.js'
import { ggmlTypeByNumber, removedGgmlTypes } from '../../dtypes/ggml/types.js'

export const fixedSize = 12
export const maxDims = 4
/** The readers of old files take no longer one. */
export const maxName = 4095

export interface TensorHead {
  readonly dims: number
  readonly nameLength: number
  readonly type: number
  /** Of all that stands before the padding. */
  readonly size: number
}

/** The fixed numbers at a place, which must be at hand. */
export function headAt({ view, offset: base }: WindowReader, offset: number): TensorHead {
  const at = offset - base
  const [dims, nameLength, type] = [0, 4, 8].map((field) => view.getUint32(at + field, true)) as [
    number,
    number,
    number,
  ]
  return { dims, nameLength, type, size: fixedSize + 4 * dims + nameLength }
}

/** Whether these numbers can be those of a tensor. */
export const isPossibleHead = ({ dims, nameLength, type }: TensorHead): boolean =>
  dims <= maxDims && nameLength > 0 && nameLength <= maxName && isType(type)

const isType = (type: number): boolean => ggmlTypeByNumber(type) !== undefined || removedGgmlTypes.has(type)

const printable = /^[\x20-\x7e]+$/

/** The name of the tensor that begins here, empty where the file ends before it; undefined where there is no tensor. */
export async function nameAt(window: WindowReader, offset: number): Promise<string | undefined> {
  if (window.source.size - offset < fixedSize) return ''
  await window.reach(offset, fixedSize)
  const head = headAt(window, offset)
  if (!isPossibleHead(head)) return undefined
  if (offset + head.size > window.end) return ''
  await window.reach(offset, head.size)
  const name = String.fromCharCode(...window.slice(offset + head.size - head.nameLength, head.nameLength))
  return printable.test(name) ? name : undefined
}
