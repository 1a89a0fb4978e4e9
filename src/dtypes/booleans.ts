// A bool is one byte; writers use 0 and 1, and readers take every other byte for true as well. A bitset element, in OINF, is one byte
// that holds eight flags: it is shown and converted as the number 0 to 255.
import { requireBytes } from '../bytes/views.js'
import { codesToF32 } from '../kernels/numbers/codes.js'
import { type DType, plainLayout } from './dtype.js'
import { firstUnfit, u8 } from './integers.js'
import { throughF32 } from './via-f32.js'

const one = 0x3f800000
const boolToF32 = codesToF32(8, () => new Uint32Array(256).fill(one, 1))

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
