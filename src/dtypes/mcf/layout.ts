// Where the parts of a quantized MCF tensor are stored. A payload is not a sequence of blocks: all scales come first and all codes last, each
// region at a multiple of 64 from the start of the payload, and nothing follows the last one.
//
//   q*    scales (f16 per block)         | codes
//   k*    super-scales (f16 per 8 blocks) | sub-scales (u8 per block) | codes
//   int*  scale (f32) | zero point (f32, activations only)             | codes
//
// A block is 32 columns of one row; the last block of a row is padded with zeros, and neither blocks nor super-blocks cross rows; the last super-block of a row may be smaller.
import { alignUp, checkedAdd, checkedMultiply, countElements } from '../../bytes/index.js'
import { blockValues, type CodeBits, superBlocks } from '../../kernels/mcf/tile.js'

export { blockValues as blockSize } from '../../kernels/mcf/tile.js'

const regionAlignment = 64

export type Bits = CodeBits

export type Family = 'int' | 'q' | 'k'

export interface Method<Id extends string = string> {
  /** The dtype's id. */
  readonly id: Id
  /** The number that stands for it in a tensor index and in a quantization record. */
  readonly code: number
  readonly family: Family
  readonly bits: CodeBits
}

/** Symmetric weights have no zero point; activations have one. */
export type Domain = 'weights' | 'activations'

export interface BlockLayout {
  readonly rows: number
  readonly columns: number
  readonly blocksPerRow: number
  readonly supersPerRow: number
  readonly blocks: number
  readonly supers: number
  /** Bytes of codes per block. */
  readonly codeSize: number
  /** Where the sub-scales start; for q*, which has none, the same as `codesOffset`. */
  readonly subScalesOffset: number
  readonly codesOffset: number
  readonly byteLength: number
}

/** The regions of a q* or k* tensor; undefined unless it is a matrix with at least one row and column that some file can hold. */
export function blockLayout(method: Method, shape: readonly number[]): BlockLayout | undefined {
  const [rows, columns] = shape
  if (shape.length !== 2 || !rows || !columns) return undefined
  const blocksPerRow = Math.ceil(columns / blockValues)
  const supersPerRow = Math.ceil(blocksPerRow / superBlocks)
  const blocks = checkedMultiply(rows, blocksPerRow)
  if (blocks === undefined) return undefined
  const supers = rows * supersPerRow
  const codeSize = 4 * method.bits
  const scales = checkedMultiply(2, method.family === 'q' ? blocks : supers)
  const codes = checkedMultiply(blocks, codeSize)
  if (scales === undefined || codes === undefined) return undefined
  const subScalesOffset = alignUp(scales, regionAlignment)
  const codesOffset = method.family === 'q' ? subScalesOffset : alignUp(subScalesOffset + blocks, regionAlignment)
  const byteLength = checkedAdd(codesOffset, codes)
  if (byteLength === undefined) return undefined
  const counts = { rows, columns, blocksPerRow, supersPerRow, blocks, supers }
  return { ...counts, codeSize, subScalesOffset, codesOffset, byteLength }
}

export interface RawLayout {
  readonly count: number
  readonly domain: Domain
  /** Undefined where the domain has none. */
  readonly zeroOffset: number | undefined
  readonly codesOffset: number
  readonly byteLength: number
}

/** The regions of an int8 or int4 tensor of any rank. Codes follow each other over all rows. */
export function rawLayout(method: Method, shape: readonly number[], domain: Domain): RawLayout | undefined {
  const count = countElements(shape)
  if (!count) return undefined
  const codesOffset = domain === 'weights' ? regionAlignment : 2 * regionAlignment
  const byteLength = checkedAdd(codesOffset, rawCodeBytes(method, count))
  if (byteLength === undefined) return undefined
  const zeroOffset = domain === 'weights' ? undefined : regionAlignment
  return { count, domain, zeroOffset, codesOffset, byteLength }
}

/** Bytes of `count` int8 or int4 codes. */
export const rawCodeBytes = (method: Method, count: number): number => Math.ceil((count / 8) * method.bits)

/** The two layouts of an int* tensor differ in size, so the size tells which one it is. */
export function rawLayoutOf(method: Method, shape: readonly number[], byteLength: number): RawLayout | undefined {
  const layouts = [rawLayout(method, shape, 'weights'), rawLayout(method, shape, 'activations')]
  return layouts.find((layout) => layout?.byteLength === byteLength)
}

/** Codes without a scale, as the pack command of the reference program writes them: they cannot be decoded. */
export function isBareCodes(method: Method, shape: readonly number[], byteLength: number): boolean {
  const count = countElements(shape)
  return method.family === 'int' && count !== undefined && rawCodeBytes(method, count) === byteLength
}
