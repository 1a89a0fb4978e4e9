// Integers of four, two and one bit, and the ternary types of OINF.
//   i4 i2 i1  two's complement, so i1 holds 0 and -1
//   u4 u2 u1  plain
//   t2        two's complement in two bits for -1, 0 and +1; the fourth code decodes to -2 and is never written
//   t1        one bit: 0 is -1, 1 is +1, there is no zero

import { f32Bits } from '../kernels/numbers/float-bits.js'
import type { DType } from './dtype.js'
import { firstUnfit } from './integers.js'
import { tableType } from './table-codec.js'

const patternsOf = (values: readonly number[]) => (): Uint32Array => Uint32Array.from(values, f32Bits)

function packedInteger<Id extends string>(id: Id, width: 1 | 2 | 4): DType<Id> {
  const codes = 2 ** width
  const signed = id.startsWith('i')
  const lowest = signed ? -codes / 2 : 0
  const highest = lowest + codes - 1
  return tableType({
    id,
    kind: signed ? 'int' : 'uint',
    width,
    patterns: patternsOf(Array.from({ length: codes }, (_, code) => (code > highest ? code - codes : code))),
    encode: { f64: twosComplement(width, lowest, highest) },
    values: { lowest, highest, step: 0, precision: Math.max(signed ? width - 1 : width, 1) },
  })
}

function twosComplement(width: number, lowest: number, highest: number) {
  const mask = 2 ** width - 1
  return (values: Float64Array, codes: Uint8Array): number => {
    const bad = firstUnfit(values, lowest, highest)
    for (let i = 0; i < values.length; i++) codes[i] = values[i]! & mask
    return bad
  }
}

function encodeSigns(values: Float64Array, codes: Uint8Array): number {
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (value !== 1 && value !== -1) return i
    codes[i] = value === 1 ? 1 : 0
  }
  return -1
}

export const i4 = packedInteger('i4', 4)
export const i2 = packedInteger('i2', 2)
export const i1 = packedInteger('i1', 1)
export const u4 = packedInteger('u4', 4)
export const u2 = packedInteger('u2', 2)
export const u1 = packedInteger('u1', 1)
export const t2 = tableType({
  id: 't2',
  kind: 'int',
  hasStrayCodes: true,
  width: 2,
  patterns: patternsOf([0, 1, -2, -1]),
  encode: { f64: twosComplement(2, -1, 1) },
  // The stray -2 is left out: what can be written counts, and every type that holds the other three next to it holds -2 as well.
  values: { lowest: -1, highest: 1, step: 0, precision: 1 },
})
export const t1 = tableType({
  id: 't1',
  kind: 'int',
  width: 1,
  patterns: patternsOf([-1, 1]),
  encode: { f64: encodeSigns },
  values: { lowest: -1, highest: 1, step: 0, precision: 1, zero: false },
})

export const smallIntegers = [i4, i2, i1, u4, u2, u1, t2, t1] as const
