// What every block codec has in common: whole blocks, the incomplete last one, values that no block can hold, and NaN.
import { throughF32 } from '../blocks.js'
import type { Codec } from '../dtype.js'
import { quietNaN } from '../float-rounding.js'
import { bitsOf, requireBytes } from '../views.js'
import { firstUnbounded } from './compiled.js'
import { scaleCodeIQ1_M } from './decode-iq-edge.js'
import type { DecodeBlocks } from './decode-legacy.js'
import type { EncodeBlocks } from './encode-legacy.js'
import { type BlockLayout, blockBytes, fieldOffset, layouts } from './layouts.js'

export function blockCodec(layout: BlockLayout, decode: DecodeBlocks, encode?: EncodeBlocks): Codec {
  const group = { elements: layout.elements, bytes: blockBytes(layout) }
  const isUnbounded = unboundedScales(layout)

  function toF32(source: Uint8Array, target: Float32Array): void {
    const blocks = Math.floor(target.length / group.elements)
    const rest = target.length - blocks * group.elements
    requireBytes(source, (blocks + (rest > 0 ? 1 : 0)) * group.bytes)
    decode(source, target, blocks)
    for (let block = 0, at = 0; block < blocks; block++, at += group.bytes) {
      if (isUnbounded(source, at)) settleNaN(target, block * group.elements, group.elements)
    }
    if (rest === 0) return
    const last = new Float32Array(group.elements)
    toF32(source.subarray(blocks * group.bytes), last)
    target.set(last.subarray(0, rest), blocks * group.elements)
  }

  const toF64 = throughF32(toF32, group)
  const element = (source: Uint8Array, index: number): number => {
    const within = index % group.elements
    const values = new Float32Array(within + 1)
    toF32(source.subarray(((index - within) / group.elements) * group.bytes), values)
    return values[within]!
  }
  if (!encode) return { toF32, toF64, element }

  function fromF32(source: Float32Array, target: Uint8Array): number {
    const bad = firstUnbounded(source)
    if (bad >= 0) return bad
    const blocks = Math.floor(source.length / group.elements)
    const rest = source.length - blocks * group.elements
    requireBytes(target, blocks * group.bytes)
    encode!(source, target, blocks)
    for (let block = 0, at = 0; block < blocks; block++, at += group.bytes) {
      if (isUnbounded(target, at)) return indexOfLargest(source, block * group.elements, group.elements)
    }
    return rest === 0 ? -1 : encodeRest(source.subarray(blocks * group.elements), target.subarray(blocks * group.bytes))
  }

  /** A row never ends within a block; what comes here is a caller's odd remainder, filled up with zeros. */
  function encodeRest(source: Float32Array, target: Uint8Array): number {
    const padded = new Float32Array(group.elements)
    padded.set(source)
    const bytes = new Uint8Array(group.bytes)
    const bad = fromF32(padded, bytes)
    target.set(bytes.subarray(0, Math.ceil((source.length * group.bytes) / group.elements)))
    return bad
  }

  function fromF64(source: Float64Array, target: Uint8Array): number {
    const length = 16 * 256 // whole blocks of every type
    const run = new Float32Array(Math.min(length, source.length))
    for (let at = 0; at < source.length; at += length) {
      const values = run.subarray(0, Math.min(length, source.length - at))
      values.set(source.subarray(at, at + values.length))
      const bad = fromF32(values, target.subarray((at / group.elements) * group.bytes))
      if (bad >= 0) return at + bad
    }
    return -1
  }

  return { toF32, toF64, element, fromF32, fromF64 }
}

/** Whether a scale of the block that starts at `at` is infinite or NaN. */
function unboundedScales(layout: BlockLayout): (bytes: Uint8Array, at: number) => boolean {
  if (layout === layouts.iq1_m) return (bytes, at) => (scaleCodeIQ1_M(bytes, at) & 0x7c00) === 0x7c00
  // The exponent is in the upper byte of an f16, and in the upper nine bits of an f32.
  const halves = layout.fields
    .filter((field) => field.kind === 'f16')
    .map((field) => fieldOffset(layout, field.name) + 1)
  if (layout === layouts.q8_k) return (bytes, at) => (bytes[at + 3]! & 0x7f) === 0x7f && bytes[at + 2]! >= 0x80
  const [first, second] = halves
  if (first === undefined) return () => false
  if (second === undefined) return (bytes, at) => (bytes[at + first]! & 0x7c) === 0x7c
  return (bytes, at) => (bytes[at + first]! & 0x7c) === 0x7c || (bytes[at + second]! & 0x7c) === 0x7c
}

/** What arithmetic leaves in a NaN differs between machines; here it is always the same. Only unbounded scales make any. */
function settleNaN(values: Float32Array, from: number, count: number): void {
  const bits = bitsOf(values)
  for (let i = from; i < from + count; i++) if (Number.isNaN(values[i]!)) bits[i] = quietNaN
}

function indexOfLargest(values: Float32Array, from: number, count: number): number {
  let largest = from
  for (let i = from; i < from + count; i++) if (Math.abs(values[i]!) > Math.abs(values[largest]!)) largest = i
  return largest
}
