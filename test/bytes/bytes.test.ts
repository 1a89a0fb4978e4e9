import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  alignUp,
  BlobSource,
  compareBytes,
  compareUtf8,
  countElements,
  countingSource,
  decodeUtf8,
  encodeUtf8,
  findInvalidUtf8,
  isPlainFileName,
  MemorySource,
  sliceSource,
  streamRange,
  withHead,
} from '../../src/bytes/index.js'

const numbered = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i % 251)

async function gather(chunks: AsyncIterable<Uint8Array>): Promise<{ bytes: Uint8Array; lengths: number[] }> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk.slice())
  return { bytes: new Uint8Array(Buffer.concat(parts)), lengths: parts.map((part) => part.byteLength) }
}

describe('checked arithmetic', () => {
  it('counts elements exactly or not at all', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 40 }), { maxLength: 6 }), (shape) => {
        let exact = 1n
        let overflowed = false
        for (const dim of shape) {
          exact *= BigInt(dim)
          if (exact > 2n ** 53n - 1n) overflowed = true
        }
        expect(countElements(shape)).toBe(overflowed ? undefined : Number(exact))
      }),
    )
  })

  it('refuse a dimension that no number holds exactly, beside a zero, too', () => {
    expect(
      [
        [0, 2 ** 53],
        [2 ** 53, 0],
        [0, Number.POSITIVE_INFINITY],
      ].map(countElements),
    ).toEqual([undefined, undefined, undefined])
    expect([[0, 2 ** 52, 4], [2 ** 52, 4, 0], []].map(countElements)).toEqual([0, undefined, 1])
  })

  it('aligns beyond 32 bits', () => {
    expect(alignUp(2 ** 40 + 1, 64)).toBe(2 ** 40 + 64)
    expect(alignUp(2 ** 40, 64)).toBe(2 ** 40)
    expect(alignUp(5, 3)).toBe(6)
  })
})

describe('text', () => {
  it('orders strings by their UTF-8 bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        const expected = Math.sign(compareBytes(encodeUtf8(a), encodeUtf8(b)))
        if (!a.isWellFormed() || !b.isWellFormed()) return
        expect(Math.sign(compareUtf8(a, b))).toBe(expected)
      }),
    )
    expect(compareUtf8('\uff5e', '\u{1f600}')).toBeLessThan(0)
  })

  it('finds the first byte that is not UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.uint8Array({ maxLength: 8 }), (good, tail) => {
        const start = encodeUtf8(good)
        const bytes = new Uint8Array([...start, 0xff, ...tail])
        expect(findInvalidUtf8(bytes)).toBe(start.byteLength)
        expect(decodeUtf8(bytes)).toBeUndefined()
        expect(findInvalidUtf8(start)).toBe(-1)
      }),
    )
  })

  it('finds it where a character is cut, too long, half of a pair or beyond Unicode', () => {
    const byte = fc.constantFrom(
      0,
      0x41,
      0x7f,
      0x80,
      0x8f,
      0x90,
      0x9f,
      0xa0,
      0xbf,
      0xc1,
      0xc2,
      0xdf,
      0xe0,
      0xed,
      0xef,
      0xf0,
      0xf4,
      0xf5,
    )
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 9 }), (list) => {
        const bytes = Uint8Array.from(list)
        const at = findInvalidUtf8(bytes)
        const valid = bytes.subarray(0, at < 0 ? bytes.length : at)
        expect(decodeUtf8(valid)).toBeDefined()
        for (let end = valid.length + 1; end <= bytes.length; end++)
          expect(decodeUtf8(bytes.subarray(0, end))).toBeUndefined()
      }),
      { numRuns: 2000 },
    )
  })
})

describe('file names from inside a model', () => {
  it.each(['model.bin', 'a b.safetensors', '..hidden', 'ü.gguf'])('%j may be opened', (name) =>
    expect(isPlainFileName(name)).toBe(true),
  )
  it.each(['', '.', '..', '../a', '/etc/passwd', 'a/b', 'a\\b', 'C:x', 'http://x', 'a\0b', 'x'.repeat(300)])(
    '%j may not',
    (name) => expect(isPlainFileName(name)).toBe(false),
  )
})

describe('sources', () => {
  const bytes = numbered(10_000)
  const sources = [
    ['memory', new MemorySource(bytes, 'm')],
    ['blob', new BlobSource(new Blob([bytes as Uint8Array<ArrayBuffer>]), 'b')],
    ['slice', sliceSource(new MemorySource(numbered(251 * 3 + 10_000), 'm'), 251 * 3, 10_000)],
    ['head', withHead(new MemorySource(bytes, 'm'), bytes.subarray(0, 100))],
  ] as const

  it.each(sources)('%s gives exactly the bytes asked for', async (_, source) => {
    for (const [offset, length] of [
      [0, 0],
      [0, 10_000],
      [5, 90],
      [9_999, 1],
      [10_000, 0],
    ] as const) {
      expect(Buffer.compare(await source.read(offset, length), bytes.subarray(offset, offset + length))).toBe(0)
    }
    for (const [offset, length] of [
      [0, 10_001],
      [10_000, 1],
      [-1, 1],
    ] as const) {
      await expect(source.read(offset, length)).rejects.toMatchObject({ code: 'io/out-of-range' })
    }
  })

  it('memory gives plain bytes, whose slices are copies, also of a Buffer', async () => {
    const buffer = Buffer.from('bytes')
    const copy = (await new MemorySource(buffer).read(0, 5)).slice()
    copy.fill(0)
    expect(buffer.toString()).toBe('bytes')
  })

  it.each(sources)('%s streams windows of equal size', async (_, source) => {
    for (const window of [64, 1000, 3333, 10_000, 20_000]) {
      const { bytes: all, lengths } = await gather(streamRange({ source, offset: 7, length: 9_900 }, window))
      expect(Buffer.compare(all, bytes.subarray(7, 9_907))).toBe(0)
      expect(lengths.slice(0, -1).every((length) => length === window)).toBe(true)
    }
  })

  it('stops in the middle without leaving anything behind', async () => {
    for await (const chunk of streamRange({ source: new MemorySource(bytes), offset: 0, length: 10_000 }, 64)) {
      expect(chunk.byteLength).toBe(64)
      break
    }
  })

  it('stops when it is told to', async () => {
    const abort = new AbortController()
    const stream = streamRange({ source: new MemorySource(bytes), offset: 0, length: 10_000 }, 64, abort.signal)
    await stream.next()
    abort.abort()
    await expect(stream.next()).rejects.toMatchObject({ code: 'io/aborted' })
  })

  it('counts reads', async () => {
    const count = { reads: 0, bytes: 0 }
    const source = countingSource(new MemorySource(bytes), count)
    await source.read(0, 10)
    await source.readInto!(0, new Uint8Array(20))
    expect(count).toEqual({ reads: 2, bytes: 30 })
  })
})
