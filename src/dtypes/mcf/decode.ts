// Decoding a range of a quantized tensor. A range of elements is a range of blocks, because blocks are numbered row after row just as elements
// are; so it takes one read per region, whatever the shape.
import { bitsOf, requireBytes } from '../../bytes/views.js'
import { blockUnpacker, blockValues, superBlocks, unpackRawBlocks } from '../../kernels/mcf/index.js'
import { f16ToF32 } from '../../kernels/numbers/convert.js'
import { quietNaN } from '../../kernels/numbers/float-bits.js'
import type { RegionReader } from '../dtype.js'
import type { BlockLayout, Method, RawLayout } from './layout.js'

/** Fills `target` with the values from row-major element `first` on. */
export async function decodeBlockRange(
  method: Method,
  layout: BlockLayout,
  payload: RegionReader,
  first: number,
  target: Float32Array,
  signal?: AbortSignal,
): Promise<void> {
  if (target.length === 0) return
  const start = blockOf(layout, first)
  const end = blockOf(layout, first + target.length - 1) + 1
  const [scales, codes] = await Promise.all([
    readScales(method, layout, payload, start, end, signal),
    payload.read(layout.codesOffset + start * layout.codeSize, (end - start) * layout.codeSize, signal),
  ])
  const unpack = blockUnpacker(method.bits)
  const scratch = new Float32Array(blockValues)
  const { columns, codeSize } = layout
  let column = first % columns
  let block = 0
  for (let done = 0; done < target.length; ) {
    const skip = column % blockValues
    const left = Math.min(columns - column, target.length - done)
    // Rows that end with their last block run on as one; otherwise whole blocks go up to the row's end.
    const whole = skip > 0 ? 0 : Math.floor((columns % blockValues === 0 ? target.length - done : left) / blockValues)
    if (whole > 0) {
      const room = target.subarray(done, done + whole * blockValues)
      unpack(codes.subarray(block * codeSize), scales.subarray(block, block + whole), room)
    } else unpack(codes.subarray(block * codeSize), scales.subarray(block, block + 1), scratch)
    const count = whole > 0 ? whole * blockValues : Math.min(blockValues - skip, left)
    if (whole === 0) target.set(scratch.subarray(skip, skip + count), done)
    block += Math.max(whole, 1)
    done += count
    column = (column + count) % columns
  }
}

function blockOf({ columns, blocksPerRow }: BlockLayout, element: number): number {
  const column = element % columns
  return ((element - column) / columns) * blocksPerRow + Math.floor(column / blockValues)
}

/** The scale of each block from `start` to `end`, as f32. */
export async function readScales(
  method: Method,
  layout: BlockLayout,
  payload: RegionReader,
  start: number,
  end: number,
  signal?: AbortSignal,
): Promise<Float32Array> {
  const scales = new Float32Array(end - start)
  if (method.family === 'q') {
    f16ToF32(await payload.read(2 * start, 2 * (end - start), signal), scales)
    return scales
  }
  const { blocksPerRow } = layout
  const firstSuper = superOf(layout, start)
  const supers = new Float32Array(superOf(layout, end - 1) - firstSuper + 1)
  const [halves, subScales] = await Promise.all([
    payload.read(2 * firstSuper, 2 * supers.length, signal),
    payload.read(layout.subScalesOffset + start, end - start, signal),
  ])
  f16ToF32(halves, supers)
  requireBytes(subScales, scales.length)
  let inRow = start % blocksPerRow
  let at = 0
  for (let i = 0; i < scales.length; i++) {
    // A sub-scale has six bits; readers ignore the other two. Without one, even an infinite super-scale gives zeros.
    const sub = subScales[i]! & 63
    scales[i] = sub === 0 ? 0 : (supers[at]! * sub) / 32
    inRow++
    if (inRow === blocksPerRow) {
      inRow = 0
      at++
    } else if (inRow % superBlocks === 0) at++
  }
  return scales
}

function superOf({ blocksPerRow, supersPerRow }: BlockLayout, block: number): number {
  const inRow = block % blocksPerRow
  return ((block - inRow) / blocksPerRow) * supersPerRow + Math.floor(inRow / superBlocks)
}

/** The same for int8 and int4: value = scale · (code − zero point), each step rounded to f32. */
export async function decodeRawRange(
  method: Method,
  layout: RawLayout,
  payload: RegionReader,
  first: number,
  target: Float32Array,
  signal?: AbortSignal,
): Promise<void> {
  if (target.length === 0) return
  const perByte = 8 / method.bits
  const start = Math.floor(first / perByte)
  const size = Math.ceil((first + target.length) / perByte) - start
  const [codes, scale, zero] = await Promise.all([
    payload.read(layout.codesOffset + start, size, signal),
    readF32(payload, 0, signal),
    layout.zeroOffset === undefined ? 0 : readF32(payload, layout.zeroOffset, signal),
  ])
  requireBytes(codes, size)
  // There are so few codes that all values are computed beforehand.
  const values = Float32Array.from({ length: 2 ** method.bits }, (_, code) => {
    const signed = code < 2 ** (method.bits - 1) ? code : code - 2 ** method.bits
    return scale * Math.fround(signed - zero)
  })
  const patterns = bitsOf(values)
  for (let i = 0; i < values.length; i++) if (Number.isNaN(values[i]!)) patterns[i] = quietNaN
  const bits = bitsOf(target)
  const shift = first % perByte
  const done = shift === 0 ? unpackRawBlocks(method.bits as 4 | 8, codes, scale, zero, target) : 0
  if (method.bits === 8) for (let i = done; i < bits.length; i++) bits[i] = patterns[codes[i]!]!
  else {
    for (let i = done; i < bits.length; i++) {
      const byte = codes[(i + shift) >>> 1]!
      bits[i] = patterns[(i + shift) % 2 === 0 ? byte & 15 : byte >>> 4]!
    }
  }
}

async function readF32(payload: RegionReader, offset: number, signal?: AbortSignal): Promise<number> {
  const bytes = await payload.read(offset, 4, signal)
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getFloat32(0, true)
}
