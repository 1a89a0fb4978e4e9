// Scales for columns that do not count the same: never worse than the search without weights, and clearly better where weights differ.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  blockUnpacker,
  blockValues,
  type CodeBits,
  type CodeSet,
  expandBlocks,
  expandSupers,
  plainKernels,
  supersPerRow,
} from '../../../src/kernels/mcf/index.js'
import { reweighBlocks, reweighSupers } from '../../../src/kernels/mcf/weighted.js'

interface Rows {
  readonly values: Float32Array
  readonly weights: Float32Array
  readonly rows: number
}

/** Weighted errors of all blocks (q*) or super-blocks (k*), and their scales, without weights and with them. */
function errorsOf(family: 'q' | 'k', bits: CodeBits, set: CodeSet, { values, weights, rows }: Rows) {
  const perRow = weights.length / blockValues
  const blocks = rows * perRow
  const shape = { rows, perRow, tail: blockValues }
  const kernels = plainKernels()
  kernels.load(values)
  const halves = new Uint16Array(family === 'q' ? blocks : rows * supersPerRow(perRow))
  const subs = new Uint8Array(blocks)
  const bad =
    family === 'q' ? kernels.searchBlocks(bits, set, halves) : kernels.searchSupers(bits, set, shape, halves, subs)
  expect(bad).toBe(-1)
  const measure = (): number[] => {
    const scales = new Float32Array(blocks)
    if (family === 'q') expandBlocks(halves, scales)
    else expandSupers(perRow, halves, subs, scales)
    const codes = new Uint8Array(blocks * 4 * bits)
    kernels.encode(bits, set, scales, codes)
    const decoded = new Float32Array(values.length)
    blockUnpacker(bits)(codes, scales, decoded)
    const errors = new Array<number>(halves.length).fill(0)
    for (let i = 0; i < values.length; i++) {
      const block = Math.floor(i / blockValues)
      const row = Math.floor(block / perRow)
      const at = family === 'q' ? block : row * supersPerRow(perRow) + Math.floor((block % perRow) / 8)
      errors[at]! += weights[i % weights.length]! * (values[i]! - decoded[i]!) ** 2
    }
    return errors
  }
  const plain = measure()
  const before = [...halves, ...subs]
  const tile = { values, weights, shape }
  if (family === 'q') reweighBlocks(bits, set, tile, halves)
  else reweighSupers(bits, set, tile, halves, subs)
  return { plain, weighted: measure(), before, after: [...halves, ...subs] }
}

const methods = (
  [
    ['q', 8],
    ['q', 4],
    ['k', 6],
    ['k', 4],
    ['k', 3],
    ['k', 2],
  ] as const
).flatMap(([family, bits]) => (['symmetric', 'all'] as const).map((set) => ({ family, bits, set })))

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

describe.each(methods)('$family$bits with $set codes', ({ family, bits, set }) => {
  it('has no larger weighted error, whatever values and weights are', () => {
    const value = fc.oneof(
      fc.float({ noNaN: true, noDefaultInfinity: true, min: -100, max: 100 }),
      fc.constantFrom(0, 1, -1, 1e-30, 3e4, -3e4),
    )
    const weight = fc.oneof(fc.float({ noNaN: true, min: 0, max: 1000 }), fc.constantFrom(0, 1, 1e-20))
    const columns = 9 * blockValues
    const rows = fc.record({
      values: fc.array(value, { minLength: 2 * columns, maxLength: 2 * columns }),
      weights: fc.array(weight, { minLength: columns, maxLength: columns }),
    })
    fc.assert(
      fc.property(rows, ({ values, weights }) => {
        const given = { values: Float32Array.from(values), weights: Float32Array.from(weights), rows: 2 }
        const { plain, weighted } = errorsOf(family, bits, set, given)
        for (const [i, error] of weighted.entries()) expect(error).toBeLessThanOrEqual(plain[i]! * (1 + 1e-5))
      }),
      { numRuns: 25 },
    )
  })

  it('has clearly less where a few columns count most', () => {
    const columns = 16 * blockValues
    const values = Float32Array.from({ length: 4 * columns }, (_, i) => Math.sin(i * 1.7) * Math.cos(i * i * 0.013))
    const weights = Float32Array.from({ length: columns }, (_, i) => (i % 16 === 3 ? 100 : 1))
    const { plain, weighted } = errorsOf(family, bits, set, { values, weights, rows: 4 })
    expect(sum(weighted)).toBeLessThan(sum(plain) * 0.9)
  })

  it('leaves blocks alone whose columns count for nothing', () => {
    const columns = 8 * blockValues
    const values = Float32Array.from({ length: columns }, (_, i) => Math.sin(i))
    const weights = new Float32Array(columns)
    const { before, after } = errorsOf(family, bits, set, { values, weights, rows: 1 })
    expect(after).toEqual(before)
  })
})
