// The compiled encoders and their plain twins give the same bytes, wherever source and target lie.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { releaseWindow, takeWindow } from '../../../src/bytes/index.js'
import {
  type CompiledEncoder,
  compiledEncoder,
  firstAtLeast,
  firstAtLeastPlain,
  firstNonFinite,
} from '../../../src/kernels/ggml/compiled.js'
import { type BlockLayout, blockBytes, type EncodeBlocks, layouts } from '../../../src/kernels/ggml/layouts.js'
import { encodeQ2_K, encodeQ3_K, encodeQ4_K, encodeQ5_K, encodeQ6_K } from '../../../src/kernels/ggml/plain/encode-k.js'
import {
  encodeQ4_0,
  encodeQ4_1,
  encodeQ5_0,
  encodeQ5_1,
  encodeQ8_0,
} from '../../../src/kernels/ggml/plain/encode-legacy.js'
import { floatOf, parts } from './values.js'

const encoders: readonly (readonly [CompiledEncoder, BlockLayout, EncodeBlocks])[] = [
  ['encodeQ4_0', layouts.q4_0, encodeQ4_0],
  ['encodeQ4_1', layouts.q4_1, encodeQ4_1],
  ['encodeQ5_0', layouts.q5_0, encodeQ5_0],
  ['encodeQ5_1', layouts.q5_1, encodeQ5_1],
  ['encodeQ8_0', layouts.q8_0, encodeQ8_0],
  ['encodeQ2_K', layouts.q2_k, encodeQ2_K],
  ['encodeQ3_K', layouts.q3_k, encodeQ3_K],
  ['encodeQ4_K', layouts.q4_k, encodeQ4_K],
  ['encodeQ5_K', layouts.q5_k, encodeQ5_K],
  ['encodeQ6_K', layouts.q6_k, encodeQ6_K],
]

describe.each(encoders)('%s', (name, layout, plain) => {
  const encode = compiledEncoder(name, layout, () => {
    throw new Error('the plain twin was called')
  })
  const size = blockBytes(layout)
  const { elements } = layout

  function expectTwins(values: Float32Array, shift = 0): void {
    const blocks = values.length / elements
    const wanted = new Uint8Array(blocks * size)
    plain(values, wanted, blocks)
    const found = new Uint8Array(wanted.length + shift + 1).fill(7)
    encode(values, found.subarray(shift), blocks)
    expect(Buffer.compare(found.subarray(shift, -1), wanted)).toBe(0)
    expect(found.at(-1)).toBe(7)
  }

  it('agrees with its twin on any finite values', () => {
    const all = fc.array(parts, { minLength: 4, maxLength: 12 })
    fc.assert(
      fc.property(all, fc.nat(3), (some, shift) => {
        // Whole blocks, and the parts in another order in each.
        const values = Array.from({ length: elements / 32 }, (_, i) => [...some.slice(i), ...some.slice(0, i)]).flat(2)
        expectTwins(Float32Array.from(values), shift)
      }),
      { numRuns: elements === 32 ? 400 : 100, seed: 11 },
    )
  })

  it('agrees on every size of the largest value, and over many tiles', () => {
    const count = (32 * 65_280) / elements
    const sizes = Math.floor(count / 2)
    const values = new Float32Array(elements * count)
    for (let i = 0; i < count; i++) {
      const pattern = Math.floor(((i % sizes) * 32_640) / sizes) * 65_536
      values.fill(floatOf(pattern), elements * i, elements * (i + 1) - 1)
      values[elements * i + (i % (elements - 1))] = floatOf(
        pattern + (i > sizes ? 2 ** 31 : 0) + ((i * 40_503) % 65_536),
      )
    }
    expectTwins(values)
  })

  it('agrees where one part has the least scale, and another a minimum many codes away', () => {
    const count = 64
    const values = Float32Array.from({ length: elements * count }, (_, i) => {
      const [block, part] = [Math.floor(i / elements), Math.floor((i % elements) / 32)]
      return part === 0 ? (i % 16) * 1e-9 : -1000 * 1.14 ** block * (1 + part / 8)
    })
    expectTwins(values)
  })

  it('works in windows without a copy', () => {
    const blocks = 19_200 / elements
    const [source, target] = [takeWindow(4 * elements * blocks), takeWindow(blocks * size)]
    const values = new Float32Array(source.buffer, source.byteOffset, elements * blocks)
    values.set(Float32Array.from({ length: values.length }, (_, i) => Math.sin(i * i)))
    const wanted = new Uint8Array(blocks * size)
    plain(values, wanted, blocks)
    encode(values, target, blocks)
    expect(Buffer.compare(target, wanted)).toBe(0)
    const elsewhere = new Uint8Array(blocks * size)
    encode(values, elsewhere, blocks)
    expect(Buffer.compare(elsewhere, wanted)).toBe(0)
    target.fill(0)
    encode(values.slice(), target, blocks)
    expect(Buffer.compare(target, wanted)).toBe(0)
    releaseWindow(source)
    releaseWindow(target)
  })

  it('leaves a few blocks to its twin', () => {
    expect(() => encode(new Float32Array(elements), new Uint8Array(size), 1)).toThrow('plain twin')
  })
})

describe('the first value that no block can hold', () => {
  it('is found in a window as elsewhere', () => {
    const window = takeWindow(4 * 200)
    // Next to each other: the largest numbers, infinities and the NaNs with the fewest and the most bits.
    const edge = fc.constantFrom(0, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0xffffffff)
    const bits = fc.array(fc.oneof({ weight: 30, arbitrary: fc.nat(0x7f7fffff) }, edge), { maxLength: 120 })
    fc.assert(
      fc.property(bits, fc.nat(70), (patterns, shift) => {
        const values = new Float32Array(window.buffer, window.byteOffset + 4 * shift, patterns.length)
        new Uint32Array(window.buffer, values.byteOffset, values.length).set(patterns)
        const wanted = patterns.findIndex((pattern) => ((pattern >>> 23) & 0xff) === 0xff)
        expect(firstNonFinite(values)).toBe(wanted)
        expect(firstNonFinite(values.slice())).toBe(wanted)
        expect(firstAtLeastPlain(values, 0x7f800000)).toBe(wanted)
      }),
    )
    releaseWindow(window)
  })

  it('is found for any limit', () => {
    const window = takeWindow(4 * 200)
    const values = new Float32Array(window.buffer, window.byteOffset, 190)
    const limit = Math.fround(1024)
    const bits = new Uint32Array(Float32Array.of(limit).buffer)[0]!
    for (const value of [1023.99, 1024, -1024, -1023.99, Infinity, -Infinity, Number.NaN]) {
      values.fill(1)
      values[177] = value
      const wanted = Math.abs(Math.fround(value)) < limit ? -1 : 177
      expect(firstAtLeast(values, bits)).toBe(wanted)
      expect(firstAtLeast(values.slice(), bits)).toBe(wanted)
      expect(firstAtLeastPlain(values, bits)).toBe(wanted)
    }
    releaseWindow(window)
  })

  it('is found far behind the first', () => {
    const values = new Float32Array(20_000)
    for (const place of [0, 8191, 8192, 16_385, 19_999]) {
      expect(firstNonFinite(values)).toBe(-1)
      values[place] = Number.NaN
      expect(firstNonFinite(values)).toBe(place)
      values[place] = 1
    }
  })
})
