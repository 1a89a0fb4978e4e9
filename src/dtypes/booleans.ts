// A bool is one byte; writers use 0 and 1, and readers take every other byte for true as well. A bitset element, in OINF, is one byte
// that holds eight flags: it is shown and converted as the number 0 to 255.
import { lookUp } from '../kernels/numbers-convert.js'
import { throughF32 } from './blocks.js'
import type { DType } from './dtype.js'
import { firstUnfit, u8 } from './integers.js'
import { plainLayout } from './size.js'
import { bitsOf, requireBytes } from './views.js'

const patterns = Uint32Array.from({ length: 256 }, (_, byte) => (byte === 0 ? 0 : 0x3f800000))

function boolToF32(source: Uint8Array, target: Float32Array): void {
  requireBytes(source, target.length)
  for (let i = lookUp(8, patterns, source, bitsOf(target)); i < target.length; i++) target[i] = source[i] === 0 ? 0 : 1
}

export const bool: DType = {
  id: 'bool',
  kind: 'bool',
  hasStrayCodes: true,
  ...plainLayout(1),
  codec: {
    toF32: boolToF32,
    toF64: throughF32(boolToF32, { elements: 1, bytes: 1 }),
    fromF64(source, target) {
      requireBytes(target, source.length)
      const bad = firstUnfit(source, 0, 1)
      if (bad < 0) target.set(source)
      return bad
    },
    element(source, index) {
      requireBytes(source, index + 1)
      return source[index] !== 0
    },
  },
  values: { lowest: 0, highest: 1, step: 0, precision: 1 },
}

export const bitset: DType = { ...u8, id: 'bitset' }

export const booleans: readonly DType[] = [bool, bitset]
