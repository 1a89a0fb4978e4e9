// The inside of a quantized window: the integer codes, and the scale and offset of every block that the window touches, such that
// value = scale · code + offset.
import { checkAborted } from '../bytes/index.js'
import type { DType, RegionReader } from '../dtypes/index.js'
import { readScales } from '../dtypes/mcf/decode.js'
import { blockLayout, blockSize, type Method, rawLayoutOf } from '../dtypes/mcf/layout.js'
import { methodOf } from '../dtypes/mcf/types.js'
import { failWith, usageCodes } from '../errors/index.js'
import { blockUnpacker } from '../kernels/mcf/index.js'
import type { Payload, Tensor } from '../model/index.js'
import { type CodePatterns, codePatternsOf, patched } from './code-patterns.js'
import { fileOf, type Plane, planeOf, type ViewOptions } from './plane.js'
import { type Interval, intervalIn } from './read-window.js'
import { requireValues } from './spans.js'

/** Which part of a quantized tensor to read. */
export interface CodesOptions extends Pick<ViewOptions, 'fixed'> {
  readonly rows?: Interval | undefined
  readonly columns?: Interval | undefined
  readonly signal?: AbortSignal | undefined
}

/** The integer codes of a part of a quantized tensor, with the scales of its blocks. */
export interface WindowCodes {
  readonly rows: number
  readonly columns: number
  /** Row by row. Signed where the type is. */
  readonly codes: Int16Array
  /** Columns that share a scale. Borders are at multiples of this, counted from column 0 of the tensor. */
  readonly perScale: number
  /** The blocks of a row that the window touches; the first begins at column `firstColumn` of the tensor. */
  readonly blocksPerRow: number
  readonly firstColumn: number
  /** For each row, for each of these blocks. */
  readonly scales: Float32Array
  /** The same; null where the type has none. */
  readonly offsets: Float32Array | null
}

interface Wanted {
  readonly rows: Interval
  readonly columns: Interval
  readonly signal: AbortSignal | undefined
}

const maxCodes = 2 ** 26
const maxBandBytes = 1 << 20

/** Whether `readCodes` can show the inside of this type. */
export const hasCodes = (type: DType): boolean =>
  methodOf(type.id) !== undefined || codePatternsOf(type.id) !== undefined

/** For tensors in row order, with the last two axes as rows and columns. */
export async function readCodes(tensor: Tensor, options: CodesOptions = {}): Promise<WindowCodes> {
  const refuse = (message: string): never =>
    failWith(usageCodes.option, { file: fileOf(tensor), path: tensor.name, message })
  const { type, data } = requireValues(tensor)
  const plane = planeOf(tensor, { fixed: options.fixed })
  const rows = intervalIn(tensor, 'rows', options.rows, plane.rows)
  const columns = intervalIn(tensor, 'columns', options.columns, plane.columns)
  if ((rows[1] - rows[0]) * (columns[1] - columns[0]) > maxCodes) refuse(`a window has at most ${maxCodes} codes`)
  const wanted: Wanted = { rows, columns, signal: options.signal }
  const method = methodOf(type.id)
  const patterns = codePatternsOf(type.id)
  if (!method && !patterns) return refuse(`values of type ${type.id} are not multiples of a scale`)
  if (!data.read) return refuse('the bytes can only be read in order')
  if (patterns) return ggmlCodes(type, patterns, data, plane, wanted)
  const layout = method!.family === 'int' ? undefined : blockLayout(method!, tensor.shape)
  return layout ? mcfCodes(method!, tensor, data, wanted) : rawCodes(method!, tensor, data, plane, wanted)
}

function emptyCodes({ rows, columns }: Wanted, perScale: number, hasOffsets: boolean): WindowCodes {
  const [height, width] = [rows[1] - rows[0], columns[1] - columns[0]]
  const firstBlock = Math.floor(columns[0] / perScale)
  const blocksPerRow = width === 0 ? 0 : Math.ceil(columns[1] / perScale) - firstBlock
  return {
    rows: height,
    columns: width,
    codes: new Int16Array(height * width),
    perScale,
    blocksPerRow,
    firstColumn: firstBlock * perScale,
    scales: new Float32Array(height * blocksPerRow),
    offsets: hasOffsets ? new Float32Array(height * blocksPerRow) : null,
  }
}

async function ggmlCodes(
  { group, codec }: DType,
  patterns: CodePatterns,
  data: Payload,
  plane: Plane,
  wanted: Wanted,
): Promise<WindowCodes> {
  const { layout, perScale, scalesOne, codesZero, codesOne, offsetsZero } = patterns
  const result = emptyCodes(wanted, perScale, offsetsZero !== undefined)
  const { rows, columns, blocksPerRow } = result
  if (rows * columns === 0) return result
  const rowBytes = (plane.columns / group.elements) * group.bytes
  const start = Math.floor(wanted.columns[0] / group.elements)
  const blocks = Math.ceil(wanted.columns[1] / group.elements) - start
  const [length, size] = [blocks * group.bytes, blocks * group.elements]
  const skipColumns = wanted.columns[0] - start * group.elements
  const skipScales = (result.firstColumn - start * group.elements) / perScale
  const origin = (plane.first / group.elements) * group.bytes + start * group.bytes
  const perBand = Math.max(1, Math.floor(maxBandBytes / rowBytes))
  for (let row = 0; row < rows; row += perBand) {
    checkAborted(wanted.signal, data.origin?.source.name ?? 'tensor')
    const some = Math.min(perBand, rows - row)
    const offset = origin + (wanted.rows[0] + row) * rowBytes
    const band = await data.read!(offset, (some - 1) * rowBytes + length, wanted.signal)
    const stored = new Uint8Array(some * length)
    for (let i = 0; i < some; i++) stored.set(band.subarray(i * rowBytes, i * rowBytes + length), i * length)
    const decode = (bytes: Uint8Array): Float32Array => {
      const values = new Float32Array(some * size)
      codec!.toF32(bytes, values)
      return values
    }
    const codes = decode(patched(stored, layout, scalesOne, offsetsZero))
    const scales = decode(patched(stored, layout, codesOne, offsetsZero))
    const offsets = offsetsZero && decode(patched(stored, layout, codesZero))
    for (let i = 0; i < some; i++) {
      const from = i * size + skipColumns
      result.codes.set(codes.subarray(from, from + columns), (row + i) * columns)
      for (let block = 0; block < blocksPerRow; block++) {
        const at = i * size + (skipScales + block) * perScale
        result.scales[(row + i) * blocksPerRow + block] = scales[at]!
        if (offsets) result.offsets![(row + i) * blocksPerRow + block] = offsets[at]!
      }
    }
  }
  return result
}

/** Blocks of 32 columns; scales and codes lie apart. */
async function mcfCodes(method: Method, tensor: Tensor, data: Payload, wanted: Wanted): Promise<WindowCodes> {
  const layout = blockLayout(method, tensor.shape)!
  const result = emptyCodes(wanted, blockSize, false)
  const { rows, columns, blocksPerRow } = result
  if (rows * columns === 0) return result
  const unpack = blockUnpacker(method.bits)
  const { codeSize, codesOffset } = layout
  const firstBlock = result.firstColumn / blockSize
  const skip = wanted.columns[0] - result.firstColumn
  const ones = new Float32Array(blocksPerRow).fill(1)
  const values = new Float32Array(blocksPerRow * blockSize)
  const perBand = Math.max(1, Math.floor(maxBandBytes / (layout.blocksPerRow * codeSize)))
  for (let row = 0; row < rows; row += perBand) {
    checkAborted(wanted.signal, fileOf(tensor))
    const some = Math.min(perBand, rows - row)
    const start = (wanted.rows[0] + row) * layout.blocksPerRow + firstBlock
    const end = start + (some - 1) * layout.blocksPerRow + blocksPerRow
    const [scales, codes] = await Promise.all([
      readScales(method, layout, data as RegionReader, start, end, wanted.signal),
      data.read!(codesOffset + start * codeSize, (end - start) * codeSize, wanted.signal),
    ])
    for (let i = 0; i < some; i++) {
      const block = i * layout.blocksPerRow
      unpack(codes.subarray(block * codeSize, (block + blocksPerRow) * codeSize), ones, values)
      result.codes.set(values.subarray(skip, skip + columns), (row + i) * columns)
      result.scales.set(scales.subarray(block, block + blocksPerRow), (row + i) * blocksPerRow)
    }
  }
  return result
}

/** int8 and int4: one scale, and for activations one zero point, for the whole tensor. */
async function rawCodes(
  { bits, ...method }: Method,
  tensor: Tensor,
  data: Payload,
  plane: Plane,
  wanted: Wanted,
): Promise<WindowCodes> {
  const layout = rawLayoutOf({ bits, ...method }, tensor.shape, data.byteLength)!
  const result = emptyCodes(wanted, Math.max(1, plane.columns), layout.zeroOffset !== undefined)
  const { rows, columns } = result
  if (rows * columns === 0) return result
  const scale = await readNumber(data, 0, wanted.signal)
  result.scales.fill(scale)
  if (layout.zeroOffset !== undefined)
    result.offsets!.fill(-scale * (await readNumber(data, layout.zeroOffset, wanted.signal)))
  const perByte = 8 / bits
  const perBand = Math.max(1, Math.floor((maxBandBytes * perByte) / plane.columns))
  for (let row = 0; row < rows; row += perBand) {
    checkAborted(wanted.signal, fileOf(tensor))
    const some = Math.min(perBand, rows - row)
    const first = plane.first + (wanted.rows[0] + row) * plane.rowStride + wanted.columns[0]
    const end = first + (some - 1) * plane.rowStride + columns
    const start = Math.floor(first / perByte)
    const bytes = await data.read!(layout.codesOffset + start, Math.ceil(end / perByte) - start, wanted.signal)
    for (let i = 0; i < some; i++) {
      for (let column = 0; column < columns; column++) {
        const place = first + i * plane.rowStride + column - start * perByte
        const byte = bytes[Math.floor(place / perByte)]!
        const code = bits === 8 ? byte : place % 2 === 0 ? byte & 15 : byte >>> 4
        result.codes[(row + i) * columns + column] = (code << (32 - bits)) >> (32 - bits)
      }
    }
  }
  return result
}

async function readNumber(data: Payload, offset: number, signal: AbortSignal | undefined): Promise<number> {
  const bytes = await data.read!(offset, 4, signal)
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getFloat32(0, true)
}
