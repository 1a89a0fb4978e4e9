// Elements of up to eight bits, packed over the flattened tensor: element i of b bits starts at bit i*b, counted from the lowest bit of the
// first byte. Rows need not start at whole bytes, and a 6-bit element can span two of them.
import { requireBytes } from '../../../bytes/views.js'

export type BitWidth = 1 | 2 | 4 | 6 | 8

/** Fills `target` with the table entry of each code. One loop per width: the inner step is one byte, or three for six bits. */
export type Unpack = (source: Uint8Array, table: Uint32Array, target: Uint32Array) => void

/** Writes codes of `width` bits; the unused bits of the last byte are zero. */
export type Pack = (codes: Uint8Array, target: Uint8Array) => void

export const groupOf = (width: BitWidth): { readonly elements: number; readonly bytes: number } =>
  width === 6 ? { elements: 4, bytes: 3 } : { elements: 8 / width, bytes: 1 }

export const unpackers: Readonly<Record<BitWidth, Unpack>> = {
  1: unpack1,
  2: unpack2,
  4: unpack4,
  6: unpack6,
  8: unpack8,
}

function unpack8(source: Uint8Array, table: Uint32Array, target: Uint32Array): void {
  requireBytes(source, target.length)
  for (let i = 0; i < target.length; i++) target[i] = table[source[i]!]!
}

function unpack4(source: Uint8Array, table: Uint32Array, target: Uint32Array): void {
  const whole = target.length - (target.length % 2)
  for (let i = 0, at = 0; i < whole; i += 2, at++) {
    const byte = source[at]!
    target[i] = table[byte & 15]!
    target[i + 1] = table[byte >>> 4]!
  }
  unpackRest(source, table, target, 4, whole)
}

function unpack2(source: Uint8Array, table: Uint32Array, target: Uint32Array): void {
  const whole = target.length - (target.length % 4)
  for (let i = 0, at = 0; i < whole; i += 4, at++) {
    const byte = source[at]!
    target[i] = table[byte & 3]!
    target[i + 1] = table[(byte >>> 2) & 3]!
    target[i + 2] = table[(byte >>> 4) & 3]!
    target[i + 3] = table[byte >>> 6]!
  }
  unpackRest(source, table, target, 2, whole)
}

function unpack1(source: Uint8Array, table: Uint32Array, target: Uint32Array): void {
  const whole = target.length - (target.length % 8)
  for (let i = 0, at = 0; i < whole; i += 8, at++) {
    const byte = source[at]!
    target[i] = table[byte & 1]!
    target[i + 1] = table[(byte >>> 1) & 1]!
    target[i + 2] = table[(byte >>> 2) & 1]!
    target[i + 3] = table[(byte >>> 3) & 1]!
    target[i + 4] = table[(byte >>> 4) & 1]!
    target[i + 5] = table[(byte >>> 5) & 1]!
    target[i + 6] = table[(byte >>> 6) & 1]!
    target[i + 7] = table[byte >>> 7]!
  }
  unpackRest(source, table, target, 1, whole)
}

function unpack6(source: Uint8Array, table: Uint32Array, target: Uint32Array): void {
  const whole = target.length - (target.length % 4)
  for (let i = 0, at = 0; i < whole; i += 4, at += 3) {
    const bits = source[at]! | (source[at + 1]! << 8) | (source[at + 2]! << 16)
    target[i] = table[bits & 63]!
    target[i + 1] = table[(bits >>> 6) & 63]!
    target[i + 2] = table[(bits >>> 12) & 63]!
    target[i + 3] = table[bits >>> 18]!
  }
  unpackRest(source, table, target, 6, whole)
}

function unpackRest(source: Uint8Array, table: Uint32Array, target: Uint32Array, width: BitWidth, from: number): void {
  requireBytes(source, Math.ceil((target.length * width) / 8))
  for (let i = from; i < target.length; i++) target[i] = table[codeAt(source, i, width)]!
}

export function codeAt(source: Uint8Array, index: number, width: BitWidth): number {
  const bit = index * width
  const at = Math.floor(bit / 8)
  requireBytes(source, Math.ceil((bit + width) / 8))
  const bits = source[at]! | ((source[at + 1] ?? 0) << 8)
  return (bits >>> (bit % 8)) & ((1 << width) - 1)
}

export const packers: Readonly<Record<BitWidth, Pack>> = { 1: pack1, 2: pack2, 4: pack4, 6: pack6, 8: pack8 }

function pack8(codes: Uint8Array, target: Uint8Array): void {
  target.set(codes)
}

function pack4(codes: Uint8Array, target: Uint8Array): void {
  const whole = codes.length - (codes.length % 2)
  for (let i = 0, at = 0; i < whole; i += 2, at++) target[at] = codes[i]! | (codes[i + 1]! << 4)
  packRest(codes, target, 4, whole)
}

function pack2(codes: Uint8Array, target: Uint8Array): void {
  const whole = codes.length - (codes.length % 4)
  for (let i = 0, at = 0; i < whole; i += 4, at++) {
    target[at] = codes[i]! | (codes[i + 1]! << 2) | (codes[i + 2]! << 4) | (codes[i + 3]! << 6)
  }
  packRest(codes, target, 2, whole)
}

function pack1(codes: Uint8Array, target: Uint8Array): void {
  const whole = codes.length - (codes.length % 8)
  for (let i = 0, at = 0; i < whole; i += 8, at++) {
    const low = codes[i]! | (codes[i + 1]! << 1) | (codes[i + 2]! << 2) | (codes[i + 3]! << 3)
    target[at] = low | (codes[i + 4]! << 4) | (codes[i + 5]! << 5) | (codes[i + 6]! << 6) | (codes[i + 7]! << 7)
  }
  packRest(codes, target, 1, whole)
}

function pack6(codes: Uint8Array, target: Uint8Array): void {
  const whole = codes.length - (codes.length % 4)
  for (let i = 0, at = 0; i < whole; i += 4, at += 3) {
    const bits = codes[i]! | (codes[i + 1]! << 6) | (codes[i + 2]! << 12) | (codes[i + 3]! << 18)
    target[at] = bits
    target[at + 1] = bits >>> 8
    target[at + 2] = bits >>> 16
  }
  packRest(codes, target, 6, whole)
}

/** The last, incomplete group. */
function packRest(codes: Uint8Array, target: Uint8Array, width: BitWidth, from: number): void {
  requireBytes(target, Math.ceil((codes.length * width) / 8))
  if (from === codes.length) return
  let bits = 0
  for (let i = from; i < codes.length; i++) bits |= codes[i]! << ((i - from) * width)
  const size = Math.ceil(((codes.length - from) * width) / 8)
  for (let k = 0; k < size; k++) target[(from * width) / 8 + k] = bits >>> (8 * k)
}
