import zlib from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { areEqual, expect as pageExpect } from '../page/vitest.js'
import { crc32 } from '../page/zlib.js'
import { callIn, type Use } from '../site.js'

const families = [
  'numbers: statistics',
  'numbers: decoding and encoding',
  'numbers: comparing',
  'numbers: turning matrices',
  'mcf',
  'ggml',
  'digests: BLAKE3',
  'digests: CRC-32',
]

export function kernelSuite({ page }: Use): void {
  it('all run', async () => {
    const running = await callIn(page(), 'kernel-tests', 'running')
    expect(running).toEqual({ numbers: true, mcf: true, ggml: true, digests: true })
    expect(await callIn(page(), 'kernel-tests', 'families')).toEqual(families)
  })

  it.each(families)('%s: the same bits as the plain twins', async (family) => {
    const outcomes = await callIn(page(), 'kernel-tests', 'runFamily', family)
    expect(outcomes.length).toBeGreaterThan(1)
    expect(outcomes.filter(({ error }) => error !== undefined)).toEqual([])
  })

  it('are compared with a CRC-32 that is right', () => {
    const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * i) % 251)
    expect([crc32(bytes), crc32(bytes, 7)]).toEqual([zlib.crc32(bytes), zlib.crc32(bytes, 7)])
  })

  // A comparison that finds everything equal would prove nothing.
  describe('what compares them there', () => {
    const unequal: readonly (readonly [unknown, unknown])[] = [
      [0, -0],
      [1, '1'],
      [Float32Array.of(0), Float32Array.of(-0)],
      [Float32Array.of(1), Float64Array.of(1)],
      [{ a: 1 }, { a: 1, b: undefined }],
      [
        [1, [2]],
        [1, [3]],
      ],
      [new Map([[1, 2]]), new Map([[1, 3]])],
    ]
    it.each(unequal)('tells %o from %o', (a, b) => {
      expect(areEqual(a, b)).toBe(false)
      expect(() => pageExpect(a).toBe(b)).toThrow()
      expect(() => pageExpect(a).toEqual(b)).toThrow()
    })

    it('notices when something is not thrown, or is another error', () => {
      expect(() => pageExpect(() => {}).toThrow()).toThrow()
      expect(() =>
        pageExpect(() => {
          throw new TypeError('x')
        }).toThrow(RangeError),
      ).toThrow()
    })

    it('finds equal what is', () => {
      pageExpect([Number.NaN, Float32Array.of(Number.NaN), new Map([[1, { a: 2 }]])]).toEqual([
        Number.NaN,
        Float32Array.of(Number.NaN),
        new Map([[1, { a: 2 }]]),
      ])
    })
  })
}
