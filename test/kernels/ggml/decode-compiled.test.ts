// The compiled decoders and their plain twins give the same bits, wherever source and target lie.
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { releaseWindow, takeWindow } from '../../../src/bytes/index.js'
import { type CompiledDecoder, compiledDecoder, ggmlModule } from '../../../src/kernels/ggml/compiled.js'
import { type BlockLayout, blockBytes, type DecodeBlocks, layouts } from '../../../src/kernels/ggml/layouts.js'
import { decodeQ2_K, decodeQ3_K, decodeQ4_K, decodeQ5_K, decodeQ6_K } from '../../../src/kernels/ggml/plain/decode-k.js'
import { decodeQ4_0, decodeQ8_0 } from '../../../src/kernels/ggml/plain/decode-legacy.js'

const rows: readonly (readonly [CompiledDecoder, BlockLayout, DecodeBlocks])[] = [
  ['decodeQ4_0', layouts.q4_0, decodeQ4_0],
  ['decodeQ8_0', layouts.q8_0, decodeQ8_0],
  ['decodeQ2_K', layouts.q2_k, decodeQ2_K],
  ['decodeQ3_K', layouts.q3_k, decodeQ3_K],
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

test('there is WebAssembly here', () => expect(ggmlModule()).toBeDefined())

describe.each(rows)('%s', (name, layout, plain) => {
  const decode = compiledDecoder(name, layout, () => {
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
