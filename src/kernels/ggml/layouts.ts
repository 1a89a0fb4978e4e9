// How ggml stores a block. Each quantized type cuts a row into blocks of equally many elements; a block is a fixed sequence of fields
// without padding. Sizes and field offsets follow from these declarations and are not written down a second time.

/** `b` is a byte of packed codes, whose order is the same on every machine. The others are numbers, and a big-endian file swaps them. */
export type FieldKind = 'b' | 'i8' | 'f16' | 'u16' | 'i16' | 'f32'

export interface Field {
  readonly name: string
  readonly kind: FieldKind
  readonly count: number
}

export interface BlockLayout {
  readonly elements: number
  readonly fields: readonly Field[]
}

const widths: Readonly<Record<FieldKind, number>> = { b: 1, i8: 1, f16: 2, u16: 2, i16: 2, f32: 4 }

export const fieldSize = (field: Field): number => widths[field.kind] * field.count

/** The bytes of one block. */
export const blockBytes = (layout: BlockLayout): number =>
  layout.fields.reduce((sum, field) => sum + fieldSize(field), 0)

/** The numbers of a block that take more than one byte, in storage order. */
export function wideNumbers(layout: BlockLayout): readonly { readonly offset: number; readonly width: number }[] {
  const found: { offset: number; width: number }[] = []
  let offset = 0
  for (const { kind, count } of layout.fields) {
    for (let i = 0; i < count; i++, offset += widths[kind]) {
      if (widths[kind] > 1) found.push({ offset, width: widths[kind] })
    }
  }
  return found
}

const field =
  (kind: FieldKind) =>
  (name: string, count = 1): Field => ({ name, kind, count })

const codes = field('b')
const bytes = field('i8')
const half = field('f16')
const words = field('u16')
const sums = field('i16')
const single = field('f32')

const block = (elements: number, ...fields: Field[]): BlockLayout => ({ elements, fields })

/** Every block type, under its name in lower case. */
export const layouts = {
  q4_0: block(32, half('d'), codes('qs', 16)),
  q4_1: block(32, half('d'), half('m'), codes('qs', 16)),
  q5_0: block(32, half('d'), codes('qh', 4), codes('qs', 16)),
  q5_1: block(32, half('d'), half('m'), codes('qh', 4), codes('qs', 16)),
  q8_0: block(32, half('d'), bytes('qs', 32)),
  q8_1: block(32, half('d'), half('s'), bytes('qs', 32)),
  q2_k: block(256, codes('scales', 16), codes('qs', 64), half('d'), half('dmin')),
  q3_k: block(256, codes('hmask', 32), codes('qs', 64), codes('scales', 12), half('d')),
  q4_k: block(256, half('d'), half('dmin'), codes('scales', 12), codes('qs', 128)),
  q5_k: block(256, half('d'), half('dmin'), codes('scales', 12), codes('qh', 32), codes('qs', 128)),
  q6_k: block(256, codes('ql', 128), codes('qh', 64), bytes('scales', 16), half('d')),
  q8_k: block(256, single('d'), bytes('qs', 256), sums('bsums', 16)),
  iq2_xxs: block(256, half('d'), words('qs', 32)),
  iq2_xs: block(256, half('d'), words('qs', 32), codes('scales', 8)),
  iq3_xxs: block(256, half('d'), codes('qs', 64), codes('scalesAndSigns', 32)),
  iq1_s: block(256, half('d'), codes('qs', 32), words('qh', 8)),
  iq4_nl: block(32, half('d'), codes('qs', 16)),
  iq3_s: block(256, half('d'), codes('qs', 64), codes('qh', 8), codes('signs', 32), codes('scales', 4)),
  iq2_s: block(256, half('d'), codes('qs', 32), codes('signs', 32), codes('qh', 8), codes('scales', 8)),
  iq4_xs: block(256, half('d'), words('scalesHigh'), codes('scalesLow', 4), codes('qs', 128)),
  iq1_m: block(256, codes('qs', 32), codes('qh', 16), words('scales', 4)),
  tq1_0: block(256, codes('qs', 48), codes('qh', 4), half('d')),
  tq2_0: block(256, codes('qs', 64), half('d')),
  mxfp4: block(32, codes('e'), codes('qs', 16)),
  nvfp4: block(64, codes('d', 4), codes('qs', 32)),
  q1_0: block(128, half('d'), codes('qs', 16)),
  q2_0: block(64, half('d'), codes('qs', 16)),
} as const

export type BlockName = keyof typeof layouts

/**
 * Blocks of files before GGUF. The first ones (`_v1`, and those that were given up) hold neighbours in one byte of codes; from the second
 * version on, the order of codes is today's. Scales of both are mostly f32.
 */
export const oldLayouts = {
  q4_0_v1: block(32, single('d'), codes('qs', 16)),
  q4_1_v1: block(32, single('d'), single('m'), codes('qs', 16)),
  q4_2: block(16, half('d'), codes('qs', 8)),
  q4_3: block(16, half('d'), half('m'), codes('qs', 8)),
  q5_0_v1: block(32, half('d'), codes('qh', 4), codes('qs', 16)),
  q5_1_v1: block(32, half('d'), half('m'), codes('qh', 4), codes('qs', 16)),
  q8_0_v1: block(32, single('d'), bytes('qs', 32)),
  q4_0_v2: block(32, single('d'), codes('qs', 16)),
  q4_1_v2: block(32, single('d'), single('m'), codes('qs', 16)),
} as const

export type OldBlockName = keyof typeof oldLayouts

/** The offset of a field from the start of its block. */
export function fieldOffset(layout: BlockLayout, name: string): number {
  const at = layout.fields.findIndex((each) => each.name === name)
  if (at < 0) throw new RangeError(`there is no field ${name}`)
  return layout.fields.slice(0, at).reduce((sum, each) => sum + fieldSize(each), 0)
}

/** Decodes `blocks` whole blocks. */
export type DecodeBlocks = (source: Uint8Array, target: Float32Array, blocks: number) => void

/** Encodes `blocks` whole blocks of finite values. */
export type EncodeBlocks = (source: Float32Array, target: Uint8Array, blocks: number) => void

/** Encodes a row of whole blocks. The importance weights are those of the columns. */
export type EncodeRow = (row: Float32Array, target: Uint8Array, importance: Float32Array | undefined) => void
