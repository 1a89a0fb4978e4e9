// Block codecs: which decoder and encoder go with which block, and what all of them share: whole blocks, the incomplete last one, values that
// no block can hold, and NaN.
import { bitsOf, requireBytes } from '../../bytes/views.js'
import { compiledDecoder, firstAtLeast, firstNonFinite } from '../../kernels/ggml/compiled.js'
import { encoders } from '../../kernels/ggml/encoders.js'
import {
  type BlockLayout,
  type BlockName,
  blockBytes,
  type DecodeBlocks,
  type EncodeBlocks,
  fieldOffset,
  layouts,
  type OldBlockName,
  oldLayouts,
} from '../../kernels/ggml/layouts.js'
import { decodeMXFP4, decodeNVFP4, decodeTQ1_0, decodeTQ2_0 } from '../../kernels/ggml/plain/decode-fp4.js'
import {
  decodeIQ2_S,
  decodeIQ2_XS,
  decodeIQ2_XXS,
  decodeIQ3_S,
  decodeIQ3_XXS,
} from '../../kernels/ggml/plain/decode-iq.js'
import {
  decodeIQ1_M,
  decodeIQ1_S,
  decodeIQ4_NL,
  decodeIQ4_XS,
  scaleCodeIQ1_M,
} from '../../kernels/ggml/plain/decode-iq-edge.js'
import {
  decodeQ2_K,
  decodeQ3_K,
  decodeQ4_K,
  decodeQ5_K,
  decodeQ6_K,
  decodeQ8_K,
} from '../../kernels/ggml/plain/decode-k.js'
import {
  decodeQ1_0,
  decodeQ2_0,
  decodeQ4_0,
  decodeQ4_1,
  decodeQ5_0,
  decodeQ5_1,
  decodeQ8_0,
  decodeQ8_1,
} from '../../kernels/ggml/plain/decode-legacy.js'
import { oldDecoders } from '../../kernels/ggml/plain/decode-old.js'
import { type EncodableBlock, type RowEncoders, rowEncoders } from '../../kernels/ggml/reference/index.js'
import type { BitsOfK } from '../../kernels/ggml/unusual.js'
import { quietNaN } from '../../kernels/numbers/float-bits.js'
import type { Codec, RowEncoder } from '../dtype.js'
import { throughF32 } from '../via-f32.js'
import { betterOnUnusual } from './unusual-blocks.js'

const decoders: Readonly<Record<BlockName, DecodeBlocks>> = {
  q4_0: compiledDecoder('decodeQ4_0', layouts.q4_0, decodeQ4_0),
  q4_1: decodeQ4_1,
  q5_0: decodeQ5_0,
  q5_1: decodeQ5_1,
  q8_0: compiledDecoder('decodeQ8_0', layouts.q8_0, decodeQ8_0),
  q8_1: decodeQ8_1,
  q2_k: compiledDecoder('decodeQ2_K', layouts.q2_k, decodeQ2_K),
  q3_k: compiledDecoder('decodeQ3_K', layouts.q3_k, decodeQ3_K),
  q4_k: compiledDecoder('decodeQ4_K', layouts.q4_k, decodeQ4_K),
  q5_k: compiledDecoder('decodeQ5_K', layouts.q5_k, decodeQ5_K),
  q6_k: compiledDecoder('decodeQ6_K', layouts.q6_k, decodeQ6_K),
  q8_k: decodeQ8_K,
  iq2_xxs: decodeIQ2_XXS,
  iq2_xs: decodeIQ2_XS,
  iq3_xxs: decodeIQ3_XXS,
  iq1_s: decodeIQ1_S,
  iq4_nl: decodeIQ4_NL,
  iq3_s: decodeIQ3_S,
  iq2_s: decodeIQ2_S,
  iq4_xs: decodeIQ4_XS,
  iq1_m: decodeIQ1_M,
  tq1_0: decodeTQ1_0,
  tq2_0: decodeTQ2_0,
  mxfp4: decodeMXFP4,
  nvfp4: decodeNVFP4,
  q1_0: decodeQ1_0,
  q2_0: decodeQ2_0,
}

/** The bits of 1024. The scales of smaller values are finite in every type: the smallest level is an eighth, so none is above 8192. */
const modest = 0x44800000

/** The blocks that values can be encoded to. */
export type { EncodableBlock }

/** Blocks of old files are read, and never written. */
export const oldCodecOf = (name: OldBlockName): Codec => blockCodec(oldLayouts[name], oldDecoders[name])

export function codecOf(name: BlockName): Codec {
  const rows = isEncoded(name) ? rowEncoders[name] : undefined
  return blockCodec(layouts[name], decoders[name], rows, rows && blockEncoder(name as EncodableBlock, rows))
}

const isEncoded = (name: BlockName): name is EncodableBlock => name in rowEncoders

/** Without importance weights no block depends on the row that it is in. Some types have a faster encoder, or one with less error than ggml's. */
function blockEncoder(name: EncodableBlock, { weights, encode, reference }: RowEncoders): EncodeBlocks | undefined {
  if (weights === 'required') return undefined
  const own: EncodeBlocks | undefined = (encoders as Readonly<Partial<Record<EncodableBlock, EncodeBlocks>>>)[name]
  const { elements } = layouts[name]
  if (own && name.endsWith('_k')) {
    return betterOnUnusual(layouts[name], Number(name[1]) as BitsOfK, own, reference, decoders[name])
  }
  return own ?? ((source, target, blocks) => encode(source.subarray(0, blocks * elements), target, undefined))
}

function blockCodec(layout: BlockLayout, decode: DecodeBlocks, rows?: RowEncoders, encode?: EncodeBlocks): Codec {
  const group = { elements: layout.elements, bytes: blockBytes(layout) }
  const hasNonFiniteScale = nonFiniteScales(layout)

  function toF32(source: Uint8Array, target: Float32Array): void {
    const blocks = Math.floor(target.length / group.elements)
    const rest = target.length - blocks * group.elements
    requireBytes(source, (blocks + (rest > 0 ? 1 : 0)) * group.bytes)
    decode(source, target, blocks)
    for (let block = 0, at = 0; block < blocks; block++, at += group.bytes) {
      if (hasNonFiniteScale(source, at)) unifyNaN(target, block * group.elements, group.elements)
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
  const decoder = { toF32, toF64, element }
  if (!rows) return decoder

  /** Encodes whole blocks. What no block can hold is found before or after; scales may be allowed to become infinite. Huge weights overflow, too. */
  function checked(
    source: Float32Array,
    target: Uint8Array,
    blocks: number,
    put: () => void,
    { overflow = false, isWeighted = false } = {},
  ): number {
    const isModest = !isWeighted && firstAtLeast(source, modest) < 0
    const bad = isModest ? -1 : firstNonFinite(source)
    if (bad >= 0) return bad
    requireBytes(target, blocks * group.bytes)
    put()
    if (overflow || isModest) return -1
    for (let block = 0, at = 0; block < blocks; block++, at += group.bytes) {
      if (hasNonFiniteScale(target, at)) return indexOfLargest(source, block * group.elements, group.elements)
    }
    return -1
  }

  const rowEncoder: RowEncoder = {
    weights: rows.weights,
    encode(row, target, { importance, isReference }) {
      const blocks = row.length / group.elements
      const put = isReference ? rows.reference : rows.encode
      const weights = rows.weights === 'ignored' ? undefined : importance
      return checked(row, target, blocks, () => put(row, target, weights), { isWeighted: weights !== undefined })
    },
  }
  if (!encode) return { ...decoder, rows: rowEncoder }

  function encodeAll(source: Float32Array, target: Uint8Array, overflow: boolean): number {
    const blocks = Math.floor(source.length / group.elements)
    const rest = source.length - blocks * group.elements
    const bad = checked(source, target, blocks, () => encode!(source, target, blocks), { overflow })
    if (bad >= 0 || rest === 0) return bad
    return encodeRest(source.subarray(blocks * group.elements), target.subarray(blocks * group.bytes), overflow)
  }

  const fromF32 = (source: Float32Array, target: Uint8Array): number => encodeAll(source, target, false)
  const fromF32Overflowing = (source: Float32Array, target: Uint8Array): number => encodeAll(source, target, true)

  /** A row never ends within a block; this is for the odd remainder of a caller, padded with zeros. */
  function encodeRest(source: Float32Array, target: Uint8Array, overflow: boolean): number {
    const padded = new Float32Array(group.elements)
    padded.set(source)
    const bytes = new Uint8Array(group.bytes)
    const bad = encodeAll(padded, bytes, overflow)
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

  return { ...decoder, fromF32, fromF32Overflowing, fromF64, rows: rowEncoder }
}

/** Whether a scale of the block that starts at `at` is infinite or NaN. */
function nonFiniteScales(layout: BlockLayout): (bytes: Uint8Array, at: number) => boolean {
  if (layout === layouts.iq1_m) return (bytes, at) => (scaleCodeIQ1_M(bytes, at) & 0x7c00) === 0x7c00
  // The exponent is in the upper byte of an f16, and in the upper nine bits of an f32.
  const halves = layout.fields
    .filter((field) => field.kind === 'f16')
    .map((field) => fieldOffset(layout, field.name) + 1)
  const singles = layout.fields.filter(({ kind }) => kind === 'f32').map(({ name }) => fieldOffset(layout, name) + 2)
  if (singles.length > 0)
    return (bytes, at) =>
      singles.some((place) => (bytes[at + place + 1]! & 0x7f) === 0x7f && bytes[at + place]! >= 0x80)
  const [first, second] = halves
  if (first === undefined) return () => false
  if (second === undefined) return (bytes, at) => (bytes[at + first]! & 0x7c) === 0x7c
  return (bytes, at) => (bytes[at + first]! & 0x7c) === 0x7c || (bytes[at + second]! & 0x7c) === 0x7c
}

/** Which NaN arithmetic gives differs between machines; replace it by one pattern. Only infinite or NaN scales make any. */
function unifyNaN(values: Float32Array, from: number, count: number): void {
  const bits = bitsOf(values)
  for (let i = from; i < from + count; i++) if (Number.isNaN(values[i]!)) bits[i] = quietNaN
}

function indexOfLargest(values: Float32Array, from: number, count: number): number {
  let largest = from
  for (let i = from; i < Math.min(from + count, values.length); i++)
    if (Math.abs(values[i]!) > Math.abs(values[largest]!)) largest = i
  return largest
}
