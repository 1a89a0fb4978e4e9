// Blocks of files before GGUF. At first a byte of 4-bit codes held two neighbours; later, as today, one element of each half of the block.
// Where a scale is an f32, the product of scale and code is rounded to f32 before the offset is added, as in the C code of that time.
import {
  type BlockLayout,
  blockBytes,
  type DecodeBlocks,
  fieldOffset,
  type OldBlockName,
  oldLayouts,
} from '../layouts.js'
import { wordAt } from './decode-legacy.js'
import { f16At } from './f16-scales.js'

const { fround } = Math

const single = new DataView(new ArrayBuffer(4))

function f32At(source: Uint8Array, at: number): number {
  single.setInt32(0, wordAt(source, at))
  return single.getFloat32(0)
}

/** With an offset the codes count from 0, otherwise from the middle of their range. */
function nibbles(layout: BlockLayout, order: 'neighbours' | 'halves'): DecodeBlocks {
  const size = blockBytes(layout)
  const { elements, fields } = layout
  const scaleAt = fields[0]!.kind === 'f32' ? f32At : f16At
  const placeOf = (name: string): number | undefined =>
    fields.some((field) => field.name === name) ? fieldOffset(layout, name) : undefined
  const [offsetAt, highAt, codesAt] = [placeOf('m'), placeOf('qh'), placeOf('qs')!]
  const zero = offsetAt === undefined ? (highAt === undefined ? 8 : 16) : 0
  const [step, apart] = order === 'neighbours' ? [2, 1] : [1, elements / 2]
  return (source, target, blocks) => {
    for (let block = 0, at = 0, to = 0; block < blocks; block++, at += size, to += elements) {
      const d = scaleAt(source, at)
      const m = offsetAt === undefined ? 0 : scaleAt(source, at + offsetAt)
      const high = highAt === undefined ? 0 : wordAt(source, at + highAt)
      for (let i = 0; i < elements / 2; i++) {
        const byte = source[at + codesAt + i]!
        const [low, up] = [i * step, i * step + apart]
        const a = fround(((byte & 15) + (((high >>> low) & 1) << 4) - zero) * d)
        const b = fround(((byte >>> 4) + (((high >>> up) & 1) << 4) - zero) * d)
        target[to + low] = offsetAt === undefined ? a : a + m
        target[to + up] = offsetAt === undefined ? b : b + m
      }
    }
  }
}

/** q * d with signed bytes. */
const decodeQ8: DecodeBlocks = (source, target, blocks) => {
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += 36, to += 32) {
    const d = f32At(source, at)
    for (let i = 0; i < 32; i++) target[to + i] = ((source[at + 4 + i]! << 24) >> 24) * d
  }
}

export const oldDecoders: Readonly<Record<OldBlockName, DecodeBlocks>> = {
  q4_0_v1: nibbles(oldLayouts.q4_0_v1, 'neighbours'),
  q4_1_v1: nibbles(oldLayouts.q4_1_v1, 'neighbours'),
  q4_2: nibbles(oldLayouts.q4_2, 'neighbours'),
  q4_3: nibbles(oldLayouts.q4_3, 'neighbours'),
  q5_0_v1: nibbles(oldLayouts.q5_0_v1, 'neighbours'),
  q5_1_v1: nibbles(oldLayouts.q5_1_v1, 'neighbours'),
  q8_0_v1: decodeQ8,
  q4_0_v2: nibbles(oldLayouts.q4_0_v2, 'halves'),
  q4_1_v2: nibbles(oldLayouts.q4_1_v2, 'halves'),
}
