// Blocks that are not as weights usually are: of few different values, close to one or two points, of one sign, of parts that differ a lot.
// ggml's encoder must not do better on any of them.
import { describe, expect, it } from 'vitest'
import { dtypeById } from '../../../src/dtypes/index.js'

/** Between -1 and 1, without a pattern. */
const noise = (i: number): number => 2 * ((i * i * 0.754877666 + i * 0.569840291) % 1) - 1

const patterns: Readonly<Record<string, (scale: number, i: number) => number>> = {
  constants: (scale) => scale,
  'one sign after the other': (scale, i) => (i % 2 === 0 ? scale : -scale),
  'every other value': (scale, i) => (i % 2 === 0 ? scale : 0),
  'one value among zeros': (scale, i) => (i === 7 ? scale : 0),
  'whole numbers': (scale, i) => ((Math.floor(1000 * Math.abs(scale)) + 7 * i) % 16) - 8,
  'another constant for every 32 values': (scale, i) => (Math.floor(i / 32) + 1) * scale,
  zeros: () => 0,
  'close to a constant': (scale, i) => scale * (1 + 1e-3 * noise(i)),
  'very close to a constant': (scale, i) => scale * (1 + 3e-5 * noise(i)),
  'close to two points': (scale, i) => scale * ((i * i) % 3 === 0 ? 1 : -1) * (1 + 1e-3 * noise(i)),
  'very close to two points': (scale, i) => scale * ((i * i) % 3 === 0 ? 1 : -1) * (1 + 2e-5 * noise(i)),
  'one sign': (scale, i) => scale * Math.abs(noise(i)),
  'a range above zero': (scale, i) => scale * (5 + noise(i)),
  'a range below zero': (scale, i) => -scale * (5 + noise(i)),
  'a geometric series': (scale, i) => scale * 1.05 ** -i * (i % 2 === 0 ? 1 : -1),
  'one part far wider than the others': (scale, i) => scale * noise(i) * (i < 32 ? 1 : 1e-3),
  ramps: (scale, i) => scale * (i / 100 - 1.1),
}
const scales = Array.from({ length: 60 }, (_, k) => Math.fround(0.003 * 1.21 ** k * (k % 3 === 0 ? -1 : 1)))

describe.each(['q2_k', 'q3_k', 'q4_k', 'q5_k', 'q6_k'])('%s', (name) => {
  const { codec, byteLength } = dtypeById(`ggml.${name}`)!
  const size = byteLength([256])!

  function errors(values: Float32Array): { own: number; reference: number } {
    const [own, reference] = [new Uint8Array(4 * size), new Uint8Array(4 * size)]
    expect(codec!.fromF32!(values, own)).toBe(-1)
    expect(codec!.rows!.encode(values, reference, { isReference: true })).toBe(-1)
    const errorOf = (bytes: Uint8Array): number => {
      const decoded = new Float32Array(values.length)
      codec!.toF32(bytes, decoded)
      return decoded.reduce((sum, value, i) => sum + (value - values[i]!) ** 2, 0)
    }
    return { own: errorOf(own), reference: errorOf(reference) }
  }

  it.each(Object.entries(patterns))('has no more error on %s', (_, pattern) => {
    for (const scale of scales) {
      const values = Float32Array.from({ length: 1024 }, (_, i) => pattern(scale, i % 256))
      const { own, reference } = errors(values)
      expect(own, `scale ${scale}`).toBeLessThanOrEqual(reference * (1 + 1e-9))
    }
  })
})
