// Rows in which a few values are far larger than the others: the others then share two or three codes, and much depends on where these lie.
// ggml's encoder must not do better on any of them.
import { describe, expect, it } from 'vitest'
import { dtypeById } from '../../../src/dtypes/index.js'

/** Random numbers between 0 and 1 that are the same in every run. */
function uniform(seed: number): () => number {
  let state = seed * 7919
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

const gaussian = (next: () => number): number =>
  Math.sqrt(-2 * Math.log(next() + 1e-12)) * Math.cos(2 * Math.PI * next())

const kinds: Readonly<Record<string, (next: () => number) => number>> = {
  'few that are large': (next) => (next() < 0.005 ? 30 : 1) * gaussian(next),
  'heavy tails': (next) => gaussian(next) / Math.hypot(gaussian(next), gaussian(next), 1e-4),
  'positive ones with a long tail': (next) => Math.exp(gaussian(next)),
}

describe.each(['q4_k', 'q5_k'])('%s', (name) => {
  const { codec, byteLength } = dtypeById(`ggml.${name}`)!
  const count = 4096

  it.each(Object.entries(kinds))('has no more error on %s', (_, kind) => {
    for (let seed = 1; seed <= 30; seed++) {
      const next = uniform(seed)
      const values = Float32Array.from({ length: count }, () => kind(next))
      const [own, reference] = [new Uint8Array(byteLength([count])!), new Uint8Array(byteLength([count])!)]
      expect(codec!.fromF32!(values, own)).toBe(-1)
      expect(codec!.rows!.encode(values, reference, { isReference: true })).toBe(-1)
      expect(errorOf(own, values), `seed ${seed}`).toBeLessThanOrEqual(errorOf(reference, values) * (1 + 1e-9))
    }
  })

  function errorOf(bytes: Uint8Array, values: Float32Array): number {
    const decoded = new Float32Array(count)
    codec!.toF32(bytes, decoded)
    return decoded.reduce((sum, value, i) => sum + (value - values[i]!) ** 2, 0)
  }
})
