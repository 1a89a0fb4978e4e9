import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compiledKernels, compiledUnpack } from '../../../src/kernels/mcf/compiled.js'
import {
  type CodeBits,
  type CodeSet,
  expandBlocks,
  expandSupers,
  plainKernels,
  type TileKernels,
  unpackRawBlocks,
} from '../../../src/kernels/mcf/index.js'
import { unpackPlain } from '../../../src/kernels/mcf/plain/unpack.js'
import { supersPerRow, type TileShape } from '../../../src/kernels/mcf/tile.js'

const plain = plainKernels()
const compiled = compiledKernels()!
const widths: readonly CodeBits[] = [8, 6, 4, 3, 2]

/** Values of any size that occurs, blocks of one kind of size each, and single outliers. */
const values32 = fc
  .tuple(
    fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 32, maxLength: 32 }),
    fc.oneof(fc.constant(0), fc.integer({ min: -149, max: 30 }), fc.integer({ min: -24, max: 8 })),
    fc.constantFrom(1, 2, 3, 5),
    fc.constantFrom(1, 1, 1, 30, 1000),
  )
  .map(([list, exponent, power, outlier]) => {
    const block = list.map((x) => Math.sign(x) * Math.abs(x) ** power * 2 ** exponent)
    block[7] = block[7]! * outlier
    return block
  })

const tiles = fc
  .record({
    rows: fc.integer({ min: 1, max: 3 }),
    perRow: fc.integer({ min: 1, max: 19 }),
    tail: fc.integer({ min: 1, max: 32 }),
  })
  .chain((shape) =>
    fc.array(values32, { minLength: shape.rows * shape.perRow, maxLength: shape.rows * shape.perRow }).map((blocks) => {
      const values = Float32Array.from(blocks.flat())
      for (let row = 1; row <= shape.rows; row++)
        values.fill(0, row * shape.perRow * 32 - (32 - shape.tail), row * shape.perRow * 32)
      return { shape, values }
    }),
  )

interface Quantized {
  readonly bad: number
  readonly halves: Uint16Array
  readonly subScales: Uint8Array
  readonly scales: Float32Array
  readonly codes: Uint8Array
}

function roomFor(bits: CodeBits, { rows, perRow }: TileShape, family: 'q' | 'k') {
  const blocks = rows * perRow
  return {
    halves: new Uint16Array(family === 'q' ? blocks : rows * supersPerRow(perRow)),
    subScales: new Uint8Array(family === 'q' ? 0 : blocks),
    scales: new Float32Array(blocks),
    codes: new Uint8Array(blocks * 4 * bits),
  }
}

function search(
  kernels: TileKernels,
  family: 'q' | 'k',
  bits: CodeBits,
  values: Float32Array,
  shape: TileShape,
  set: CodeSet = 'symmetric',
): Quantized {
  const room = roomFor(bits, shape, family)
  kernels.load(values)
  const bad =
    family === 'q'
      ? kernels.searchBlocks(bits, set, room.halves)
      : kernels.searchSupers(bits, set, shape, room.halves, room.subScales)
  if (bad >= 0) return { bad, ...roomFor(bits, shape, family) }
  if (family === 'q') expandBlocks(room.halves, room.scales)
  else expandSupers(shape.perRow, room.halves, room.subScales, room.scales)
  kernels.encode(bits, set, room.scales, room.codes)
  return { bad, ...room }
}

function reference(
  kernels: TileKernels,
  family: 'q' | 'k',
  bits: CodeBits,
  values: Float32Array,
  shape: TileShape,
): Quantized {
  const room = roomFor(bits, shape, family)
  kernels.load(values)
  if (family === 'q') kernels.referenceBlocks(bits, shape, room.halves, room.codes)
  else kernels.referenceSupers(bits, shape, room.halves, room.subScales, room.codes)
  if (family === 'q') expandBlocks(room.halves, room.scales)
  else expandSupers(shape.perRow, room.halves, room.subScales, room.scales)
  return { bad: -1, ...room }
}

function errorOf(bits: CodeBits, values: Float32Array, { scales, codes }: Quantized): number {
  const decoded = new Float32Array(values.length)
  unpackPlain(bits)(codes, scales, decoded)
  return decoded.reduce((sum, x, i) => sum + (x - values[i]!) ** 2, 0)
}

const sets: readonly CodeSet[] = ['symmetric', 'all']
const oneBlock: TileShape = { rows: 1, perRow: 1, tail: 32 }

const methods = [
  ['q', 8],
  ['q', 4],
  ['k', 6],
  ['k', 4],
  ['k', 3],
  ['k', 2],
] as const

describe('the compiled kernels', () => {
  it('find the largest magnitude, and what is not finite', () => {
    for (const kernels of [plain, compiled]) {
      const values = new Float32Array(64)
      expect(kernels.load(values)).toBe(0)
      values[63] = -2
      expect(kernels.load(values)).toBe(0x40000000)
      values[5] = Number.NEGATIVE_INFINITY
      expect(kernels.load(values)).toBe(0x7f800000)
      values[40] = Number.NaN
      expect(kernels.load(values)).toBeGreaterThan(0x7f800000)
    }
  })

  it.each(methods)('search like their twins (%s%i)', (family, bits) => {
    fc.assert(
      fc.property(tiles, ({ shape, values }) => {
        for (const set of sets) {
          const wanted = search(plain, family, bits, values, shape, set)
          expect(search(compiled, family, bits, values, shape, set)).toEqual(wanted)
        }
      }),
      { numRuns: 20 },
    )
  })

  it.each(methods)('follow the reference like their twins (%s%i)', (family, bits) => {
    fc.assert(
      fc.property(tiles, ({ shape, values }) => {
        expect(reference(compiled, family, bits, values, shape)).toEqual(reference(plain, family, bits, values, shape))
      }),
      { numRuns: 20 },
    )
  })

  it.each(widths)('unpack %i bits like their twins', (bits) => {
    const special = [0, -0, 1, 2 ** -24, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, -0.125]
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 600 }), fc.integer(), (blocks, seed) => {
        const codes = Uint8Array.from({ length: blocks * 4 * bits }, (_, i) => Math.imul(i ^ seed, 0x9e3779b1) >>> 24)
        const scales = Float32Array.from({ length: blocks }, (_, i) => special[(i + seed) & 7]!)
        const wanted = new Float32Array(blocks * 32)
        const found = new Float32Array(blocks * 32)
        unpackPlain(bits)(codes, scales, wanted)
        compiledUnpack(bits)!(codes, scales, found)
        expect(Buffer.compare(new Uint8Array(found.buffer), new Uint8Array(wanted.buffer))).toBe(0)
      }),
      { numRuns: 20 },
    )
  })

  it.each([8, 4] as const)('unpack raw codes of %i bits like the plain formula', (bits) => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 20_000 }),
        fc.float({ noNaN: true }),
        fc.integer({ min: -128, max: 127 }),
        (count, scale, zero) => {
          const codes = Uint8Array.from(
            { length: Math.ceil((count * bits) / 8) },
            (_, i) => Math.imul(i, 0x9e3779b1) >>> 24,
          )
          const found = new Float32Array(count)
          const done = unpackRawBlocks(bits, codes, scale, zero, found)
          expect(done).toBe(Number.isFinite(scale) ? count - (count % 32) : 0)
          const wanted = Float32Array.from({ length: done }, (_, i) => {
            const code = bits === 8 ? (codes[i]! << 24) >> 24 : (codes[i >> 1]! << (i % 2 === 0 ? 28 : 24)) >> 28
            return Math.fround(scale) * (code - zero)
          })
          expect(Buffer.compare(new Uint8Array(found.buffer, 0, 4 * done), new Uint8Array(wanted.buffer))).toBe(0)
        },
      ),
      { numRuns: 20 },
    )
  })

  it('refuse codes that are too few', () => {
    expect(() => compiledUnpack(4)!(new Uint8Array(31), new Float32Array(2), new Float32Array(64))).toThrow(RangeError)
  })
})

describe('the search', () => {
  it.each(methods)('never does worse than the reference (%s%i)', (family, bits) => {
    fc.assert(
      fc.property(tiles, ({ shape, values }) => {
        const other = reference(compiled, family, bits, values, shape)
        if (other.halves.includes(0x7c00)) return // an infinite scale has no error to compare with
        for (const set of sets) {
          const found = search(compiled, family, bits, values, shape, set)
          if (found.bad >= 0) return
          expect(errorOf(bits, values, found)).toBeLessThanOrEqual(errorOf(bits, values, other) * (1 + 1e-6))
        }
      }),
      { numRuns: 60 },
    )
  })

  it.each(methods)('stores normal scales, and codes without the lowest one (%s%i)', (family, bits) => {
    fc.assert(
      fc.property(tiles, ({ shape, values }) => {
        const found = search(compiled, family, bits, values, shape)
        expect(found.halves.every((half) => half === 0 || (half >= 0x400 && half < 0x7c00))).toBe(true)
        expect(found.subScales.every((sub) => sub <= 63)).toBe(true)
        const codes = new Float32Array(values.length)
        unpackPlain(bits)(
          found.codes,
          found.scales.map(() => 1),
          codes,
        )
        expect(codes.every((code) => Math.abs(code) < 2 ** (bits - 1))).toBe(true)
      }),
      { numRuns: 20 },
    )
  })

  it.each(methods)('stores normal scales of either sign with all codes (%s%i)', (family, bits) => {
    fc.assert(
      fc.property(tiles, ({ shape, values }) => {
        const { halves, subScales } = search(compiled, family, bits, values, shape, 'all')
        const magnitudes = halves.map((half) => half & 0x7fff)
        expect(magnitudes.every((half) => half === 0 || (half >= 0x400 && half < 0x7c00))).toBe(true)
        expect(halves.includes(0x8000)).toBe(false)
        expect(subScales.every((sub) => sub <= 63)).toBe(true)
      }),
      { numRuns: 20 },
    )
    const values = normalValues(32768, 1)
    const { scales, codes } = search(compiled, family, bits, values, { rows: 4, perRow: 256, tail: 32 }, 'all')
    expect(Math.min(...scales)).toBeLessThan(0)
    expect(Math.max(...scales)).toBeGreaterThan(0)
    const lowest = -(2 ** (bits - 1))
    const decoded = new Float32Array(values.length)
    unpackPlain(bits)(
      codes,
      scales.map(() => 1),
      decoded,
    )
    expect(decoded.includes(lowest)).toBe(true)
  })

  it.each([8, 4] as const)('gives no block a larger error with all codes than with symmetric ones (q%i)', (bits) => {
    fc.assert(
      fc.property(values32, (block) => {
        const values = Float32Array.from(block)
        const [symmetric, all] = sets.map((set) => search(compiled, 'q', bits, values, oneBlock, set))
        expect(all!.bad).toBe(symmetric!.bad)
        expect(errorOf(bits, values, all!)).toBeLessThanOrEqual(errorOf(bits, values, symmetric!) * (1 + 1e-6))
      }),
      { numRuns: 200 },
    )
  })

  it.each(methods)('gives back what uses all codes, on either side (%s%i)', (family, bits) => {
    const [lowest, count] = [-(2 ** (bits - 1)), 2 ** bits]
    for (const sign of [1, -1]) {
      const codes = Array.from({ length: 32 }, (_, i) => lowest + (count < 32 ? i % count : (count / 32) * i + (i % 2)))
      const values = Float32Array.from(codes, (code) => sign * 0.75 * code)
      const square = values.reduce((sum, x) => sum + x * x, 0)
      const [symmetric, all] = sets.map((set) => search(compiled, family, bits, values, oneBlock, set))
      expect(Math.sign(all!.scales[0]!)).toBe(sign)
      expect(errorOf(bits, values, all!)).toBeLessThan(3e-6 * square)
      expect(errorOf(bits, values, symmetric!)).toBeGreaterThan(3e-6 * square)
    }
  })

  it.each(methods)('says which block is too large (%s%i)', (family, bits) => {
    const shape = { rows: 1, perRow: 3, tail: 32 }
    for (const set of sets) {
      const values = new Float32Array(96).fill(1)
      values[70] = 3e38
      expect(search(compiled, family, bits, values, shape, set).bad).toBe(2)
      values[70] = 65504
      expect(search(compiled, family, bits, values, shape, set).bad).toBe(-1)
    }
  })

  it.each([
    ['q', 8, 'symmetric', 0.00476],
    ['q', 4, 'symmetric', 0.091],
    ['k', 6, 'symmetric', 0.0206],
    ['k', 4, 'symmetric', 0.0912],
    ['k', 3, 'symmetric', 0.196],
    ['k', 2, 'symmetric', 0.424],
    ['q', 8, 'all', 0.00471],
    ['q', 4, 'all', 0.0813],
    ['k', 6, 'all', 0.0202],
    ['k', 4, 'all', 0.0846],
    ['k', 3, 'all', 0.1741],
    ['k', 2, 'all', 0.3588],
  ] as const)('reaches the least error on normal values (%s%i, %s)', (family, bits, set, most) => {
    const shape = { rows: 4, perRow: 256, tail: 32 }
    let [square, error] = [0, 0]
    for (let round = 0; round < 8; round++) {
      const values = normalValues(32768, round + 1)
      error += errorOf(bits, values, search(compiled, family, bits, values, shape, set))
      square += values.reduce((sum, x) => sum + x * x, 0)
    }
    expect(Math.sqrt(error / square)).toBeLessThan(most)
  })
})

function normalValues(count: number, seed: number): Float32Array {
  let state = seed
  const uniform = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state + 0.5) / 2 ** 32
  }
  return Float32Array.from(
    { length: count },
    () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()),
  )
}
