// A slow decoder written straight from the description of the layout, one element at a time, to compare the real one with.
import { methodOf } from '../../../src/dtypes/mcf/types.js'

export function halfValue(code: number): number {
  const sign = code >= 0x8000 ? -1 : 1
  const exponent = Math.floor((code % 0x8000) / 0x400)
  const mantissa = code % 0x400
  if (exponent === 31) return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return sign * (exponent === 0 ? mantissa * 2 ** -24 : (1 + mantissa / 0x400) * 2 ** (exponent - 15))
}

const up64 = (size: number): number => Math.ceil(size / 64) * 64

function codeAt(bytes: Uint8Array, bit: number, bits: number): number {
  let code = 0
  for (let k = 0; k < bits; k++) {
    const at = bit + k
    code += (Math.floor(bytes[Math.floor(at / 8)]! / 2 ** (at % 8)) % 2) * 2 ** k
  }
  return code >= 2 ** (bits - 1) ? code - 2 ** bits : code
}

/** The values as f32 bit patterns; every NaN is 0x7fc00000. */
export function decodeSlowly(dtypeId: string, shape: readonly number[], bytes: Uint8Array): Uint32Array {
  const { family, bits } = methodOf(dtypeId)!
  const count = shape.reduce((a, b) => a * b, 1)
  const values = new Float32Array(count)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (family === 'int') {
    const start = bytes.byteLength - Math.ceil((count * bits) / 8)
    const zero = start === 128 ? view.getFloat32(64, true) : 0
    for (let i = 0; i < count; i++)
      values[i] = view.getFloat32(0, true) * Math.fround(codeAt(bytes, start * 8 + i * bits, bits) - zero)
  } else {
    const [rows, columns] = shape as [number, number]
    const perRow = Math.ceil(columns / 32)
    const superPerRow = Math.ceil(perRow / 8)
    const subStart = up64(2 * rows * superPerRow)
    const codeStart = family === 'q' ? up64(2 * rows * perRow) : up64(subStart + rows * perRow)
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const block = row * perRow + Math.floor(column / 32)
        const group = row * superPerRow + Math.floor(column / 256)
        const scale =
          family === 'q'
            ? halfValue(view.getUint16(2 * block, true))
            : bytes[subStart + block]! % 64 === 0
              ? 0
              : (halfValue(view.getUint16(2 * group, true)) * (bytes[subStart + block]! % 64)) / 32
        const code = codeAt(bytes, codeStart * 8 + (block * 32 + (column % 32)) * bits, bits)
        values[row * columns + column] = scale === 0 ? 0 : code * scale
      }
    }
  }
  const patterns = new Uint32Array(values.buffer)
  for (let i = 0; i < count; i++) if (Number.isNaN(values[i]!)) patterns[i] = 0x7fc00000
  return patterns
}

export function randomBytes(length: number, seed: number): Uint8Array {
  let state = seed
  return Uint8Array.from({ length }, () => {
    state = (state * 1103515245 + 12345) % 2 ** 31
    return Math.floor(state / 2 ** 16) % 256
  })
}
