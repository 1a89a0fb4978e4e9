// Codecs with the compiled kernels against the same codecs without them, bit for bit.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { releaseWindow, takeWindow } from '../../../src/bytes/index.js'
import { type DType, dtypeById } from '../../../src/dtypes/index.js'
import { withoutKernels } from '../../../src/kernels/load.js'
import { bf16ToF16 } from '../../../src/kernels/numbers/convert.js'
import { whereBitsDiffer } from '../../support/numbers.js'

fc.configureGlobal({ seed: 5 })

const decoded = [
  'f16',
  'bf16',
  'f8_e4m3',
  'f8_e5m2',
  'f8_e8m0',
  'f8_e4m3fnuz',
  'f8_e5m2fnuz',
  'f6_e2m3',
  'f6_e3m2',
  'f4_e2m1',
]
const packed = ['i4', 'u4', 'i2', 'u2', 't2', 'i1', 'u1', 't1', 'bool', 'bitset']
const encoded = decoded.filter((id) => id !== 'f8_e8m0')

const typeOf = (id: string): DType => dtypeById(id)!

/** Memory that starts anywhere: ordinary, or part of a window. */
function memory(size: number, shift: number, isWindow: boolean): { bytes: Uint8Array; free(): void } {
  if (!isWindow) return { bytes: new Uint8Array(size + shift).subarray(shift), free: () => {} }
  const window = takeWindow(size + shift)
  return { bytes: window.subarray(shift), free: () => releaseWindow(window) }
}

const places = fc.record({
  shift: fc.nat(5),
  targetShift: fc.nat(5),
  isWindow: fc.boolean(),
  isTargetWindow: fc.boolean(),
})

function fill(bytes: Uint8Array, seed: number): void {
  let state = seed | 1
  for (let i = 0; i < bytes.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    bytes[i] = state >>> 24
  }
}

describe.each([...decoded, ...packed])('decoding %s', (id) => {
  const { codec, byteLength } = typeOf(id)

  it('gives the same bits with and without kernels', () => {
    const count = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 300, max: 3000 }))
    fc.assert(
      fc.property(count, fc.nat(), places, (count, seed, { shift, targetShift, isWindow, isTargetWindow }) => {
        const from = memory(byteLength([count])!, shift, isWindow)
        const to = memory(4 * count + 4, 4 * targetShift, isTargetWindow)
        fill(from.bytes, seed)
        const target = new Float32Array(to.bytes.buffer, to.bytes.byteOffset, count + 1)
        const bits = new Uint32Array(to.bytes.buffer, to.bytes.byteOffset, count + 1).fill(7)
        codec!.toF32(from.bytes, target.subarray(0, count))
        const plain = new Float32Array(count)
        withoutKernels(() => codec!.toF32(from.bytes, plain))
        expect(whereBitsDiffer(bits.subarray(0, count), plain)).toBe(-1)
        expect(bits[count]).toBe(7)
        from.free()
        to.free()
      }),
      { numRuns: 60 },
    )
  })

  it('does so for every code, and over many tiles', () => {
    const count = 200_000
    const bytes = new Uint8Array(byteLength([count])!)
    for (let i = 0; i < bytes.length; i++) bytes[i] = id === 'f16' || id === 'bf16' ? (i / 2) >>> (8 * (i % 2)) : i
    const [compiled, plain] = [new Float32Array(count), new Float32Array(count)]
    codec!.toF32(bytes, compiled)
    withoutKernels(() => codec!.toF32(bytes, plain))
    expect(whereBitsDiffer(compiled, plain)).toBe(-1)
  })
})

/** f32 patterns around all that rounding has to tell apart: ties and their neighbours, overflow, subnormals, NaN. */
function edges(): Uint32Array {
  const patterns: number[] = []
  for (let upper = 0; upper < 65_536; upper += 1) {
    for (const lower of [0, 1, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001, 0xffff])
      if (upper % 8 === 0 || lower === 0 || lower === 0x8000) patterns.push(upper * 65_536 + lower)
  }
  return Uint32Array.from(patterns)
}

describe.each(encoded)('encoding %s', (id) => {
  const { codec, byteLength } = typeOf(id)

  function expectSame(values: Float32Array, target: Uint8Array): void {
    const plain = new Uint8Array(byteLength([values.length])!)
    const bad = withoutKernels(() => codec!.fromF32!(values, plain))
    expect(codec!.fromF32!(values, target)).toBe(bad)
    if (bad < 0) expect(whereBitsDiffer(target.subarray(0, plain.length), plain)).toBe(-1)
  }

  it('gives the same bits for everything that is hard to round', () => {
    const patterns = edges()
    const isNotNumber = (bits: number): boolean => bits % 2 ** 31 > 0x7f800000
    const fitting = id.startsWith('f8') || id.endsWith('f16') ? patterns : patterns.filter((bits) => !isNotNumber(bits))
    expectSame(new Float32Array(fitting.buffer), new Uint8Array(byteLength([fitting.length])!))
  })

  it('gives the same bits for any values, wherever they lie', () => {
    const value = fc.oneof(
      fc.float(),
      fc.float({ min: -2, max: 2, noNaN: true }),
      fc.constantFrom(0, -0, 1e-7, 448, 6e4),
    )
    fc.assert(
      fc.property(
        fc.array(value, { maxLength: 500 }),
        places,
        (list, { shift, targetShift, isWindow, isTargetWindow }) => {
          const from = memory(4 * list.length, 4 * shift, isWindow)
          const to = memory(byteLength([list.length])!, targetShift, isTargetWindow)
          const values = new Float32Array(from.bytes.buffer, from.bytes.byteOffset, list.length)
          values.set(list)
          expectSame(values, to.bytes)
          from.free()
          to.free()
        },
      ),
      { numRuns: 60 },
    )
  })
})

it('says where the first value without a code is, in long runs too', () => {
  const values = new Float32Array(100_000).fill(1)
  for (const at of [99_999, 70_003, 8_192, 63, 0]) {
    values[at] = Number.NaN
    expect(typeOf('f4_e2m1').codec!.fromF32!(values, new Uint8Array(50_000))).toBe(at)
    values[at] = -1
    expect(typeOf('f8_e8m0').codec!.fromF32!(values, new Uint8Array(100_000))).toBe(at)
    values[at] = 1
  }
})

it('changes tables when another type follows', () => {
  const values = Float32Array.from({ length: 1000 }, (_, i) => i / 7 - 70)
  const ids = ['f8_e4m3', 'f8_e5m2', 'f8_e4m3', 'f8_e5m2fnuz', 'f4_e2m1']
  const encode = (id: string): Uint8Array => {
    const target = new Uint8Array(typeOf(id).byteLength([1000])!)
    typeOf(id).codec!.fromF32!(values, target)
    return target
  }
  const compiled = ids.map(encode)
  expect(compiled).toEqual(withoutKernels(() => ids.map(encode)))
})

describe('bf16 to f16', () => {
  const throughF32 = (source: Uint8Array, count: number): Uint8Array => {
    const [values, target] = [new Float32Array(count), new Uint8Array(2 * count)]
    withoutKernels(() => {
      typeOf('bf16').codec!.toF32(source, values)
      typeOf('f16').codec!.fromF32!(values, target)
    })
    return target
  }

  it('gives the same codes as the way through f32, for every code', () => {
    const codes = Uint16Array.from({ length: 65_536 + 5 }, (_, i) => i)
    const source = new Uint8Array(codes.buffer)
    const [compiled, plain] = [new Uint8Array(source.length), new Uint8Array(source.length)]
    bf16ToF16(source, compiled, codes.length)
    withoutKernels(() => bf16ToF16(source, plain, codes.length))
    expect(Buffer.compare(compiled, throughF32(source, codes.length))).toBe(0)
    expect(Buffer.compare(plain, compiled)).toBe(0)
  })

  it('does so wherever both sides lie, and writes nothing else', () => {
    fc.assert(
      fc.property(fc.nat(700), fc.nat(), places, (count, seed, { shift, targetShift, isWindow, isTargetWindow }) => {
        const from = memory(2 * count, shift, isWindow)
        const to = memory(2 * count + 2, targetShift, isTargetWindow)
        fill(from.bytes, seed)
        to.bytes.fill(7)
        bf16ToF16(from.bytes, to.bytes, count)
        expect(Buffer.compare(to.bytes.subarray(0, 2 * count), throughF32(from.bytes, count))).toBe(0)
        expect([...to.bytes.subarray(2 * count)].every((byte) => byte === 7)).toBe(true)
        from.free()
        to.free()
      }),
      { numRuns: 100 },
    )
  })
})
