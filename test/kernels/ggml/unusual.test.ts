// The compiled search for unusual blocks and its plain twin mark the same blocks.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { releaseWindow, takeWindow } from '../../../src/bytes/index.js'
import { encoders } from '../../../src/kernels/ggml/encoders.js'
import { blockBytes, layouts } from '../../../src/kernels/ggml/layouts.js'
import { decodeQ2_K, decodeQ3_K, decodeQ4_K, decodeQ5_K, decodeQ6_K } from '../../../src/kernels/ggml/plain/decode-k.js'
import { type BitsOfK, markUnusual, markUnusualPlain } from '../../../src/kernels/ggml/unusual.js'
import { parts } from './values.js'

const types = [
  [2, 'q2_k', decodeQ2_K],
  [3, 'q3_k', decodeQ3_K],
  [4, 'q4_k', decodeQ4_K],
  [5, 'q5_k', decodeQ5_K],
  [6, 'q6_k', decodeQ6_K],
] as const

describe.each(types)('%i bits', (bits: BitsOfK, name, decode) => {
  const size = blockBytes(layouts[name])
  const encoded = (values: Float32Array): Uint8Array => {
    const bytes = new Uint8Array((values.length / 256) * size)
    encoders[name](values, bytes, values.length / 256)
    return bytes
  }

  it('agrees with its twin on any finite values', () => {
    fc.assert(
      fc.property(fc.array(parts, { minLength: 8, maxLength: 8 }), (eight) => {
        const values = Float32Array.from([...eight, ...eight.toReversed()].flat())
        const bytes = encoded(values)
        const marks = markUnusual(bits, size, values, bytes, 2, decode)
        expect(marks).toEqual(markUnusualPlain(bits, size, values, bytes, 2, decode))
      }),
      { numRuns: 300, seed: 21 },
    )
  })

  it('leaves most blocks of normally distributed values alone, and marks those of one sign', () => {
    const count = 100
    const windows = [1024 * count, size * count].map(takeWindow)
    const [bytes, target] = windows as [Uint8Array, Uint8Array]
    const values = new Float32Array(bytes.buffer, bytes.byteOffset, 256 * count)
    const normal = (i: number): number =>
      Math.sqrt(-2 * Math.log(((i * 0.618034) % 1) + 1e-9)) * Math.cos(((i * i * 0.754877) % 1) * 2 * Math.PI)
    for (let i = 0; i < values.length; i++) values[i] = normal(i)
    encoders[name](values, target, count)
    const marks = markUnusual(bits, size, values, target, count, decode)
    expect(marks).toEqual(markUnusualPlain(bits, size, values, target, count, decode))
    expect(marks.reduce((sum, mark) => sum + mark)).toBeLessThan(count / 4)
    for (let i = 0; i < 256; i++) values[i] = Math.abs(values[i]!)
    encoders[name](values, target, count)
    expect(markUnusual(bits, size, values, target, count, decode)[0]).toBe(1)
    windows.forEach(releaseWindow)
  })
})
