// The compiled encoder of whole numbers and its plain twin give the same codes.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { releaseWindow, takeWindow } from '../../../src/bytes/index.js'
import { withoutKernels } from '../../../src/kernels/load.js'
import { f32ToWhole, f32ToWholePlain, type WholeScale } from '../../../src/kernels/numbers/whole.js'

const scaleOf = (bits: 4 | 8, max: number, zero = 0): WholeScale => {
  const highest = 2 ** (bits - 1) - 1
  const factor = max === 0 ? 0 : 1 / Math.fround(max / highest)
  return { min: -max, max, factor, zero, lowest: zero === 0 ? -highest : -highest - 1, highest }
}

describe.each([4, 8] as const)('whole numbers of %i bits', (bits) => {
  function expectTwins(values: Float32Array, scale: WholeScale): void {
    const size = Math.ceil((values.length * bits) / 8)
    const [found, wanted] = [new Uint8Array(size + 1).fill(7), new Uint8Array(size)]
    expect(f32ToWhole(bits, values, found, scale)).toBe(-1)
    expect(f32ToWholePlain(bits, values, wanted, scale)).toBe(-1)
    expect(Buffer.compare(found.subarray(0, -1), wanted)).toBe(0)
    expect(found.at(-1)).toBe(7)
  }

  it('agree with their twin on any finite values, scale and zero point', () => {
    const value = fc.oneof(
      fc.float({ noNaN: true, noDefaultInfinity: true }),
      fc.float({ min: -2, max: 2, noNaN: true }),
      fc.integer({ min: -256, max: 256 }).map((half) => half / 2),
    )
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 64, maxLength: 200 }),
        fc.oneof(fc.constant(0), fc.constant(127), fc.constant(7), fc.float({ min: 0, max: 4, noNaN: true })),
        fc.integer({ min: -8, max: 7 }),
        (values, max, zero) => expectTwins(Float32Array.from(values), scaleOf(bits, max, zero)),
      ),
      { numRuns: 300, seed: 5 },
    )
  })

  it('round halves to even', () => {
    const values = Float32Array.from({ length: 80 }, (_, i) => (i % 14) / 2 - 3)
    const target = new Uint8Array(bits * 10)
    f32ToWhole(bits, values, target, { min: -7, max: 7, factor: 1, zero: 0, lowest: -7, highest: 7 })
    const codes = Array.from({ length: 8 }, (_, i) =>
      bits === 8 ? (target[i]! << 24) >> 24 : (((target[i >>> 1]! >>> (4 * (i % 2))) & 15) << 28) >> 28,
    )
    expect(codes).toEqual([-3, -2, -2, -2, -1, 0, 0, 0])
  })

  it('name the first value that is not finite', () => {
    for (const at of [0, 7, 64, 8191, 65_536, 99_998]) {
      const values = new Float32Array(100_000).fill(0.5)
      values[at] = at % 2 === 0 ? Number.NaN : Number.NEGATIVE_INFINITY
      values[99_999] = Number.NaN
      expect(f32ToWhole(bits, values, new Uint8Array(100_000), scaleOf(bits, 1))).toBe(at)
    }
  })

  it('are made in windows without a copy, and without WebAssembly', () => {
    const count = 70_001
    const [window, target] = [takeWindow(4 * count), takeWindow(count)]
    const values = new Float32Array(window.buffer, window.byteOffset, count).map((_, i) => Math.sin(i * i))
    const inWindow = new Float32Array(window.buffer, window.byteOffset, count)
    inWindow.set(values)
    const size = Math.ceil((count * bits) / 8)
    f32ToWhole(bits, inWindow, target, scaleOf(bits, 0.9))
    const plain = new Uint8Array(size)
    withoutKernels(() => f32ToWhole(bits, values, plain, scaleOf(bits, 0.9)))
    expect(Buffer.compare(target.subarray(0, size), plain)).toBe(0)
    releaseWindow(window)
    releaseWindow(target)
  })
})
