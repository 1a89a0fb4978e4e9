// The compiled encoders of rows and their plain twins give the same bytes, with and without importance weights.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { releaseWindow, takeWindow } from '../../../src/bytes/index.js'
import {
  type CompiledLatticeEncoder,
  type CompiledRowEncoder,
  compiledRows,
} from '../../../src/kernels/ggml/compiled.js'
import { latticeTables } from '../../../src/kernels/ggml/lattice-tables.js'
import { type BlockLayout, blockBytes, type EncodeRow, layouts } from '../../../src/kernels/ggml/layouts.js'
import { lattice2s } from '../../../src/kernels/ggml/plain/lattices.js'
import {
  encodeMXFP4,
  referenceMXFP4,
  referenceNVFP4,
  referenceQ1_0,
  referenceQ2_0,
  referenceTQ1_0,
  referenceTQ2_0,
} from '../../../src/kernels/ggml/reference/encode-flat.js'
import { referenceIQ1_M, referenceIQ1_S } from '../../../src/kernels/ggml/reference/encode-iq1.js'
import { referenceIQ4_NL, referenceIQ4_XS } from '../../../src/kernels/ggml/reference/encode-iq4.js'
import {
  encodeIQ3_S,
  referenceIQ2_S,
  referenceIQ2_XS,
  referenceIQ2_XXS,
  referenceIQ3_S,
  referenceIQ3_XXS,
} from '../../../src/kernels/ggml/reference/encode-iq23.js'
import {
  referenceQ2_K,
  referenceQ3_K,
  referenceQ4_K,
  referenceQ5_K,
  referenceQ6_K,
} from '../../../src/kernels/ggml/reference/encode-k.js'
import { type Grid, lazyGrid } from '../../../src/kernels/ggml/reference/grid.js'
import { grid1, grid2s, grid2xs, grid2xxs, grid3s, grid3xxs } from '../../../src/kernels/ggml/reference/grids.js'
import { rowEncoders } from '../../../src/kernels/ggml/reference/index.js'
import { withoutKernels } from '../../../src/kernels/load.js'
import { floatOf, parts } from './values.js'

interface Lattice {
  readonly grid: () => Grid
  readonly needsWeights?: boolean
}
type Encoder = readonly [CompiledRowEncoder | CompiledLatticeEncoder, BlockLayout, EncodeRow, Lattice | undefined]

const encoders: readonly Encoder[] = [
  ['encodeIQ4_NL', layouts.iq4_nl, referenceIQ4_NL, undefined],
  ['encodeIQ4_XS', layouts.iq4_xs, referenceIQ4_XS, undefined],
  ['encodeMXFP4', layouts.mxfp4, encodeMXFP4, undefined],
  ['encodeNVFP4', layouts.nvfp4, referenceNVFP4, undefined],
  ['encodeTQ1_0', layouts.tq1_0, referenceTQ1_0, undefined],
  ['encodeTQ2_0', layouts.tq2_0, referenceTQ2_0, undefined],
  ['encodeQ1_0', layouts.q1_0, referenceQ1_0, undefined],
  ['encodeQ2_0', layouts.q2_0, referenceQ2_0, undefined],
  ['encodeExactQ2_K', layouts.q2_k, referenceQ2_K, undefined],
  ['encodeExactQ3_K', layouts.q3_k, referenceQ3_K, undefined],
  ['encodeExactQ4_K', layouts.q4_k, referenceQ4_K, undefined],
  ['encodeExactQ5_K', layouts.q5_k, referenceQ5_K, undefined],
  ['encodeExactQ6_K', layouts.q6_k, referenceQ6_K, undefined],
  ['encodeIQ2_XXS', layouts.iq2_xxs, referenceIQ2_XXS, { grid: grid2xxs }],
  ['encodeIQ2_XS', layouts.iq2_xs, referenceIQ2_XS, { grid: grid2xs }],
  ['encodeIQ2_S', layouts.iq2_s, referenceIQ2_S, { grid: grid2s }],
  ['encodeIQ3_XXS', layouts.iq3_xxs, referenceIQ3_XXS, { grid: grid3xxs }],
  ['encodeIQ3_S', layouts.iq3_s, encodeIQ3_S, { grid: grid3s }],
  ['encodeClosedIQ3_S', layouts.iq3_s, referenceIQ3_S, { grid: grid3s }],
  ['encodeIQ1_S', layouts.iq1_s, referenceIQ1_S, { grid: grid1, needsWeights: true }],
  ['encodeIQ1_M', layouts.iq1_m, referenceIQ1_M, { grid: grid1 }],
]

describe.each(encoders)('%s', (name, layout, plain, lattice) => {
  const noTwin = () => {
    throw new Error('the plain twin was called')
  }
  const encode = compiledRows(name, layout, noTwin, lattice && ((module) => latticeTables(module, lattice.grid())))
  /** The plain twins that search are slow. */
  const effort = lattice ? 0.15 : 1
  const size = blockBytes(layout)
  const { elements } = layout

  function expectTwins(row: Float32Array, given?: Float32Array, shift = 0): void {
    const importance = given ?? (lattice?.needsWeights ? new Float32Array(row.length).fill(1) : undefined)
    const wanted = new Uint8Array((row.length / elements) * size)
    plain(row, wanted, importance)
    const found = new Uint8Array(wanted.length + shift + 1).fill(7)
    encode(row, found.subarray(shift), importance)
    expect(Buffer.compare(found.subarray(shift, -1), wanted)).toBe(0)
    expect(found.at(-1)).toBe(7)
  }

  const rows = fc.array(parts, { minLength: elements / 32, maxLength: 10 }).map((some) => {
    // Whole blocks, and the parts in another order in each.
    const block = (first: number) =>
      Array.from({ length: elements / 32 }, (_, i) => some[(first + i) % some.length]!).flat()
    return Float32Array.from([0, 1, 2, 3, 4].flatMap((first) => block((first * elements) / 32)))
  })

  it('agrees with its twin on any finite values', () => {
    fc.assert(
      fc.property(rows, fc.nat(3), (row, shift) => expectTwins(row, undefined, shift)),
      { numRuns: 200 * effort, seed: 12 },
    )
  })

  it('agrees with any importance weights', () => {
    const weights = fc.oneof(fc.constant(0), fc.float({ min: 0, max: 2 ** 100, noNaN: true }))
    fc.assert(
      fc.property(rows, fc.array(weights, { minLength: 1, maxLength: 40 }), (row, some) =>
        expectTwins(
          row,
          Float32Array.from(row, (_, i) => some[i % some.length]!),
        ),
      ),
      { numRuns: 200 * effort, seed: 13 },
    )
  })

  it('agrees on every exponent, and on the numbers around powers of two', () => {
    const patterns = Array.from({ length: 255 }, (_, e) =>
      (lattice ? [-1, 0, 0x400000] : [-60, -44, -22, -12, -5, -2, -1, 0, 1, 64, 0x400000]).map((x) =>
        Math.max(0, e * 2 ** 23 + x),
      ),
    ).flat()
    const row = new Float32Array(elements * patterns.length)
    patterns.forEach((pattern, i) => {
      const largest = floatOf(pattern + (i % 3 === 0 ? 2 ** 31 : 0))
      for (let j = 0; j < elements; j++) row[elements * i + j] = largest * Math.sin(i + j)
      row[elements * i + (i % elements)] = largest
    })
    expectTwins(row)
  })

  it('works in windows without a copy', () => {
    const count = 19_200
    const windows = [4 * count, 4 * count, (count / elements) * size].map(takeWindow)
    const [row, importance] = windows
      .slice(0, 2)
      .map(({ buffer, byteOffset }) => new Float32Array(buffer, byteOffset, count))
    for (let i = 0; i < count; i++) {
      row![i] = Math.sin(i * i)
      importance![i] = 1 + Math.cos(i * i)
    }
    const wanted = new Uint8Array((count / elements) * size)
    plain(row!, wanted, importance)
    encode(row!, windows[2]!, importance)
    expect(Buffer.compare(windows[2]!, wanted)).toBe(0)
    windows.forEach(releaseWindow)
  })

  it('leaves the work to its twin where there is no WebAssembly', () => {
    const row = new Float32Array(elements)
    expect(() => withoutKernels(() => encode(row, new Uint8Array(size), undefined))).toThrow('plain twin')
  })
})

it('forgets lists of candidates where there is no more room for them', () => {
  const row = Float32Array.from({ length: 65_536 }, (_, i) => Math.sin(i * i))
  const small = lazyGrid(lattice2s, 8, 1)()
  const encode = compiledRows(
    'encodeIQ2_S',
    layouts.iq2_s,
    () => {
      throw new Error('the plain twin was called')
    },
    (module) => latticeTables(module, small, 8192),
  )
  const [found, wanted] = [new Uint8Array(256 * 82), new Uint8Array(256 * 82)]
  encode(row, found, undefined)
  rowEncoders.iq2_s.encode(row, wanted, undefined)
  expect(Buffer.compare(found, wanted)).toBe(0)
})

it('lifts the exponent of MXFP4 exactly where the logarithm rounds up', () => {
  const row = new Float32Array(32 * 254 * 64)
  const patterns = new Uint32Array(row.buffer)
  for (let i = 0; i < 254 * 64; i++) patterns[32 * i] = (Math.floor(i / 64) + 2) * 2 ** 23 - 1 - (i % 64)
  const [found, wanted] = [new Uint8Array(17 * 254 * 64), new Uint8Array(17 * 254 * 64)]
  rowEncoders.mxfp4.encode(row, found, undefined)
  encodeMXFP4(row, wanted, undefined)
  expect(Buffer.compare(found, wanted)).toBe(0)
  rowEncoders.mxfp4.reference(row, found, undefined)
  referenceMXFP4(row, wanted, undefined)
  expect(Buffer.compare(found, wanted)).toBe(0)
})
