// The compiled comparison against its plain twin, bit for bit.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { releaseWindow, takeWindow } from '../../../src/bytes/index.js'
import { withoutKernels } from '../../../src/kernels/load.js'
import { type Closeness, compareWindows, createMeter, type Meter } from '../../../src/kernels/numbers/compare.js'
import { noise } from '../../support/numbers.js'

fc.configureGlobal({ seed: 5 })

const special = [NaN, Infinity, -Infinity, 0, -0, 1e-45, 3.4e38, -3.4e38, 1e-30]

/** Two lists that differ everywhere, in some places, or nowhere, with NaN and others among them. */
const lists = fc
  .record({
    seed: fc.nat(),
    count: fc.integer({ min: 1000, max: 8000 }),
    spacing: fc.constantFrom(1, 2, 900, 100_000),
    error: fc.constantFrom(1e-3, 1e-6, 2, 0),
    others: fc.array(fc.constantFrom(...special), { maxLength: 3 }),
    otherSpacing: fc.constantFrom(7, 1500),
    scale: fc.constantFrom(1, 1e-38, 1e30),
  })
  .map(({ seed, count, spacing, error, others, otherSpacing, scale }) => {
    const a = noise(seed, count).map((x) => x * scale)
    const b = a.map((x, i) => (i % spacing === spacing - 1 ? x * (1 + error * Math.cos(i)) : x))
    for (let i = 5; others.length > 0 && i < count; i += otherSpacing) {
      a[i] = others[i % others.length]!
      b[i] = others[(i * 7) % others.length]!
    }
    return [a, b] as const
  })

const closenesses = fc.constantFrom<(Closeness | undefined)[]>(
  undefined,
  { abs: 0, rel: 0 },
  { abs: 1e-4, rel: 1e-3 },
  { abs: 0, rel: 1e-6 },
)

function metered(pairs: readonly (readonly [Float32Array, Float32Array])[], close: Closeness | undefined): Meter {
  const meter = createMeter()
  for (const [a, b] of pairs) compareWindows(meter, { a, b, close })
  return meter
}

describe('compiled comparison', () => {
  it('gives the same as the plain one', () => {
    fc.assert(
      fc.property(lists, closenesses, fc.nat(8000), ([a, b], close, cut) => {
        const pairs = [
          [a.subarray(0, cut), b.subarray(0, cut)],
          [a.subarray(cut), b.subarray(cut)],
        ] as const
        expect(metered(pairs, close)).toStrictEqual(withoutKernels(() => metered(pairs, close)))
      }),
      { numRuns: 100 },
    )
  })

  it('gives the same for lists that lie in windows, both or one, and over many calls', () => {
    const windows = [takeWindow(400_000), takeWindow(400_000)] as const
    const [a, b] = windows.map((window) => new Float32Array(window.buffer, window.byteOffset + 4, 90_000)) as [
      Float32Array,
      Float32Array,
    ]
    a.set(noise(3, a.length))
    b.set(a.map((x, i) => (i % 3 === 0 ? x * (1 + 1e-4 * Math.sin(i)) : x)))
    const plain = withoutKernels(() => metered([[a, b]], { abs: 0, rel: 5e-5 }))
    expect(plain.differing).toBeGreaterThan(20_000)
    for (const pair of [
      [a, b],
      [a.slice(), b],
      [a, b.slice()],
      [a.slice(), b.slice()],
    ] as const)
      expect(metered([pair], { abs: 0, rel: 5e-5 })).toStrictEqual(plain)
    windows.forEach(releaseWindow)
  })
})
