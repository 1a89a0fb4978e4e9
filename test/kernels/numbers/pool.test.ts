// The compiled pooling kernel against its plain twin, and both against the definition.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { releaseWindow, takeWindow } from '../../../src/bytes/index.js'
import { withoutKernels } from '../../../src/kernels/load.js'
import { cellWords, createCells, poolBand } from '../../../src/kernels/numbers/pool.js'
import { noise, whereBitsDiffer } from '../../support/numbers.js'

fc.configureGlobal({ seed: 11 })

const special = [NaN, Infinity, -Infinity, 0, -0, 1e-45, 3.4e38, -3.4e38]

const bands = fc
  .record({
    seed: fc.nat(),
    width: fc.integer({ min: 1, max: 70 }),
    rows: fc.integer({ min: 1, max: 9 }),
    cuts: fc.array(fc.nat(1000), { maxLength: 12 }),
    others: fc.array(fc.constantFrom(...special), { maxLength: 3 }),
    spacing: fc.constantFrom(1, 2, 5, 31),
  })
  .map(({ seed, width, rows, cuts, others, spacing }) => {
    const values = noise(seed, width * rows)
    for (let i = 0; others.length > 0 && i < values.length; i += spacing) values[i] = others[i % others.length]!
    const edges = Uint32Array.from([0, ...cuts.map((cut) => cut % (width + 1)), width].sort((a, b) => a - b))
    return { values, width, edges }
  })

describe('poolBand', () => {
  it('gives the same with and without kernels, in the arena and outside', () => {
    fc.assert(
      fc.property(bands, fc.boolean(), (band, isInArena) => {
        const window = takeWindow(band.values.byteLength)
        const values = isInArena
          ? new Float32Array(window.buffer, window.byteOffset, band.values.length)
          : new Float32Array(band.values.length)
        values.set(band.values)
        const run = (): Float64Array => {
          const cells = createCells(band.edges.length - 1)
          poolBand({ ...band, values }, cells)
          poolBand({ ...band, values }, cells)
          return cells
        }
        const [compiled, plain] = [run(), withoutKernels(run)]
        releaseWindow(window)
        expect(whereBitsDiffer(compiled, plain)).toBe(-1)
      }),
      { numRuns: 300 },
    )
  })

  it('is about the finite values of each cell', () => {
    const cells = createCells(3)
    poolBand(
      { values: Float32Array.of(1, NaN, 3, -4, 5, Infinity, 2, 2), width: 4, edges: Uint32Array.of(0, 2, 4, 4) },
      cells,
    )
    const ends = new Float32Array(cells.buffer)
    expect([ends[0], ends[1], ...cells.subarray(1, 4)]).toEqual([1, 5, 6, 26, 2])
    expect([ends[8], ends[9], ...cells.subarray(5, 8)]).toEqual([-4, 3, 3, 33, 4])
    expect([ends[16], ends[17], cells[2 * cellWords + 3]]).toEqual([Infinity, -Infinity, 0])
  })

  it('refuses edges beyond the band', () => {
    const band = { values: new Float32Array(8), width: 4, edges: Uint32Array.of(0, 5) }
    expect(() => poolBand(band, createCells(1))).toThrow(RangeError)
    expect(() => poolBand({ ...band, edges: Uint32Array.of(0, 2, 4) }, createCells(1))).toThrow(RangeError)
  })
})
