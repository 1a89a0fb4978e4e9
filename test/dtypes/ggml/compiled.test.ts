// The compiled decoders and encoders and their plain twins give the same bits, wherever source and target lie.
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { releaseWindow, takeWindow } from '../../../src/bytes/index.js'
import type { EncodeBlocks } from '../../../src/dtypes/ggml/codec.js'
import {
  type CompiledEncoder,
  type CompiledName,
  compiled,
  compiledEncoder,
  hasCompiled,
} from '../../../src/dtypes/ggml/compiled.js'
import { decodeQ4_K, decodeQ5_K, decodeQ6_K } from '../../../src/dtypes/ggml/decode-k.js'
import { type DecodeBlocks, decodeQ4_0, decodeQ8_0 } from '../../../src/dtypes/ggml/decode-legacy.js'
import { encodeQ4_0, encodeQ8_0 } from '../../../src/dtypes/ggml/encode-legacy.js'
import { type BlockLayout, blockBytes, layouts } from '../../../src/dtypes/ggml/layouts.js'

const rows: readonly (readonly [CompiledName, BlockLayout, DecodeBlocks])[] = [
  ['decodeQ4_0', layouts.q4_0, decodeQ4_0],
  ['decodeQ8_0', layouts.q8_0, decodeQ8_0],
  ['decodeQ4_K', layouts.q4_k, decodeQ4_K],
  ['decodeQ5_K', layouts.q5_k, decodeQ5_K],
  ['decodeQ6_K', layouts.q6_k, decodeQ6_K],
]

/** Which NaN comes out depends on the machine; the codec settles it. */
function bits(values: Float32Array): Uint32Array {
  const copy = values.map((value) => (Number.isNaN(value) ? Number.NaN : value))
  return new Uint32Array(copy.buffer, 0, copy.length).map((word, i) => (Number.isNaN(copy[i]!) ? 0x7fc00000 : word))
}

function randomBytes(length: number, seed: number): Uint8Array {
  let state = seed
  return Uint8Array.from({ length }, () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9
    return state >>> 24
  })
}

test('there is WebAssembly here', () => expect(hasCompiled()).toBe(true))

describe.each(rows)('%s', (name, layout, plain) => {
  const decode = compiled(name, layout, () => {
    throw new Error('the plain twin was called')
  })
  const size = blockBytes(layout)

  it('agrees with its twin on any bytes, with odd scales among them', () => {
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 700 }), fc.integer(), fc.nat({ max: 7 }), (blocks, seed, shift) => {
        const used = Math.max(4, layout.elements === 256 ? blocks >>> 3 : blocks)
        const bytes = randomBytes(used * size + shift, seed).subarray(shift)
        const wanted = new Float32Array(used * layout.elements)
        plain(bytes, wanted, used)
        const found = new Float32Array(wanted.length + 2).fill(7)
        decode(bytes, found.subarray(1, wanted.length + 1), used)
        expect(Buffer.compare(bytesOf(bits(found.slice(1, -1))), bytesOf(bits(wanted)))).toBe(0)
        expect([found[0], found.at(-1)]).toEqual([7, 7])
      }),
      { numRuns: 40, seed: 11 },
    )
  })

  it('agrees on all kinds of scales', () => {
    const count = layout.elements === 256 ? 2048 : 8192
    const step = 65_536 / count
    const bytes = randomBytes(count * size, 3)
    for (let i = 0; i < count; i++) setScale(bytes, i * size, layout, i * step + (i % step))
    const wanted = new Float32Array(count * layout.elements)
    const found = new Float32Array(wanted.length)
    plain(bytes, wanted, count)
    decode(bytes, found, count)
    expect(Buffer.compare(bytesOf(bits(found)), bytesOf(bits(wanted)))).toBe(0)
  })

  it('works in windows without a copy', () => {
    const blocks = 64
    const [source, target] = [takeWindow(blocks * size), takeWindow(4 * blocks * layout.elements)]
    source.set(randomBytes(blocks * size, 5))
    const wanted = new Float32Array(blocks * layout.elements)
    plain(source, wanted, blocks)
    const found = new Float32Array(target.buffer, target.byteOffset, wanted.length)
    decode(source, found, blocks)
    expect(Buffer.compare(bytesOf(bits(found)), bytesOf(bits(wanted)))).toBe(0)
    releaseWindow(source)
    releaseWindow(target)
  })

  it('leaves a few blocks to its twin', () => {
    expect(() => decode(new Uint8Array(size), new Float32Array(layout.elements), 1)).toThrow('plain twin')
  })
})

const encoders: readonly (readonly [CompiledEncoder, BlockLayout, EncodeBlocks])[] = [
  ['encodeQ4_0', layouts.q4_0, encodeQ4_0],
  ['encodeQ8_0', layouts.q8_0, encodeQ8_0],
]

describe.each(encoders)('%s', (name, layout, plain) => {
  const encode = compiledEncoder(name, layout, () => {
    throw new Error('the plain twin was called')
  })
  const size = blockBytes(layout)

  function expectTwins(values: Float32Array, shift = 0): void {
    const blocks = values.length / 32
    const wanted = new Uint8Array(blocks * size)
    plain(values, wanted, blocks)
    const found = new Uint8Array(wanted.length + shift + 1).fill(7)
    encode(values, found.subarray(shift), blocks)
    expect(Buffer.compare(found.subarray(shift, -1), wanted)).toBe(0)
    expect(found.at(-1)).toBe(7)
  }

  it('agrees with its twin on any finite values', () => {
    // Patterns of any exponent, those of one exponent, and whole and half numbers of steps, where rounding has ties.
    const pattern = fc.nat(0xffffffff).map(floatOf)
    const close = fc
      .tuple(fc.nat(253), fc.array(fc.nat(0xffffff), { minLength: 32, maxLength: 32 }))
      .map(([e, list]) => list.map((x) => floatOf((x & 0x7fffff) + e * 2 ** 23 + (x > 0x7fffff ? 2 ** 31 : 0))))
    const ties = fc
      .tuple(
        fc.integer({ min: -149, max: 60 }),
        fc.array(fc.integer({ min: -254, max: 254 }), { minLength: 32, maxLength: 32 }),
      )
      .map(([e, list]) => [...list.slice(1).map((x) => (x / 2) * 2 ** e), 127 * 2 ** e])
    const few = fc.array(fc.constantFrom(0, -0, 1, -1, 0.5, 8, -8), { minLength: 32, maxLength: 32 })
    const block = fc.oneof(fc.array(pattern, { minLength: 32, maxLength: 32 }), close, ties, few)
    fc.assert(
      fc.property(fc.array(block, { minLength: 4, maxLength: 12 }), fc.nat(3), (blocks, shift) =>
        expectTwins(Float32Array.from(blocks.flat()), shift),
      ),
      { numRuns: 400, seed: 11 },
    )
  })

  it('agrees on every size of the largest value, and over many tiles', () => {
    const values = new Float32Array(32 * 65_280)
    for (let i = 0; i < 65_280; i++) {
      values.fill(floatOf((i % 32_640) * 65_536), 32 * i, 32 * i + 31)
      values[32 * i + (i % 31)] = floatOf((i % 32_640) * 65_536 + (i > 32_640 ? 2 ** 31 : 0) + ((i * 40_503) % 65_536))
    }
    expectTwins(values)
  })

  it('works in windows without a copy', () => {
    const blocks = 600
    const [source, target] = [takeWindow(128 * blocks), takeWindow(blocks * size)]
    const values = new Float32Array(source.buffer, source.byteOffset, 32 * blocks)
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
    expect(() => encode(new Float32Array(32), new Uint8Array(size), 1)).toThrow('plain twin')
  })
})

/** The number with this pattern; one that is not finite becomes a large one. */
function floatOf(pattern: number): number {
  const value = new Float32Array(Uint32Array.of(pattern).buffer)[0]!
  return Number.isFinite(value) ? value : 3e38
}

const bytesOf = (words: Uint32Array): Uint8Array => new Uint8Array(words.buffer, words.byteOffset, words.byteLength)

function setScale(bytes: Uint8Array, at: number, { fields }: BlockLayout, code: number): void {
  let offset = at
  for (const { name, kind, count } of fields) {
    if (name === 'd') {
      bytes[offset] = code % 256
      bytes[offset + 1] = Math.floor(code / 256)
      return
    }
    offset += count * (kind === 'f16' ? 2 : 1)
  }
}
