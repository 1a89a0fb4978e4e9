// How objects are cut into parts: everything is covered once, stores accept the sizes, and what is copied is what was there.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ByteSource, MemorySource, type OutputPiece } from '../../../src/bytes/index.js'
import { cutParts, maxParts, minPart, runsOf, transferOf } from '../../../src/remote/s3/parts.js'

const store = 'here'
const MiB = 2 ** 20

/** A source of any size, whose bytes are zeros unless `bytes` is given. */
function objectOf(key: string, size = 2 ** 44, bytes?: Uint8Array): ByteSource {
  const source: ByteSource = bytes
    ? new MemorySource(bytes, key)
    : { name: key, size, read: async (_, length) => new Uint8Array(length), close: async () => {} }
  return Object.assign(source, { stored: { store, bucket: 'b', key, etag: '"1"' } })
}

const sources = [objectOf('x'), objectOf('y'), Object.assign(objectOf('z'), { stored: undefined })]

const length = fc.oneof(
  fc.integer({ min: 1, max: 3000 }),
  fc.integer({ min: 1, max: 40 * MiB }),
  fc.integer({ min: 1, max: 9 * 2 ** 30 }),
)
const piece: fc.Arbitrary<OutputPiece> = fc.oneof(
  fc.record({ length }),
  fc.record({ length: fc.integer({ min: 1, max: 64 }), isZeros: fc.constant<true>(true) }),
  fc.record({ length: fc.integer({ min: 1, max: 64 }), isLate: fc.constant<true>(true) }),
  fc
    .tuple(length, fc.constantFrom(...sources), fc.integer({ min: 0, max: 2 ** 40 }))
    .map(([length, source, offset]) => ({
      length,
      origin: { source, offset, length },
    })),
)

describe('parts', () => {
  it('cover the object, have sizes that stores accept, and copy only what is unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
        const parts = cutParts(await runsOf(pieces, store))!
        let at = 0
        for (const [i, part] of parts.entries()) {
          expect([part.number, part.start]).toEqual([i + 1, at])
          const size = part.end - part.start
          expect(size).toBeGreaterThan(0)
          expect(size).toBeLessThanOrEqual(5 * 2 ** 30)
          if (i < parts.length - 1) expect(size).toBeGreaterThanOrEqual(minPart)
          at = part.end
        }
        expect(at).toBe(pieces.reduce((sum, { length }) => sum + length, 0))
        expect(parts.length).toBeLessThanOrEqual(maxParts)
        let start = 0
        for (const { length, origin, isZeros, isLate } of pieces) {
          for (const part of parts.filter((each) => each.start < start + length && each.end > start)) {
            if (isLate) expect(part.isLate).toBe(true)
            if (!part.copy || isZeros) continue
            expect(part.copy.object).toBe(origin?.source.stored)
            expect(part.copy.offset - part.start).toBe(origin!.offset - start)
          }
          start += length
        }
      }),
    )
  })

  it('join what follows each other in both files, with the zeros between', async () => {
    const bytes = new Uint8Array(64 * MiB)
    bytes[30 * MiB] = 1
    const from = objectOf('x', bytes.byteLength, bytes)
    const tensors = (gap: OutputPiece): OutputPiece[] => [
      { length: 100 },
      { length: 30 * MiB, origin: { source: from, offset: 0, length: 30 * MiB } },
      gap,
      { length: 30 * MiB, origin: { source: from, offset: 30 * MiB + gap.length, length: 30 * MiB } },
    ]
    const uploaded = async (gap: OutputPiece) => transferOf(cutParts(await runsOf(tensors(gap), store))!).uploaded
    expect(await uploaded({ length: 32, isZeros: true })).toBe(2 * minPart) // they are no zeros in the other file
    bytes[30 * MiB] = 0
    expect(await uploaded({ length: 32, isZeros: true })).toBe(minPart)
    expect(await uploaded({ length: 32 })).toBe(2 * minPart)
  })

  it('are at most ten thousand, however many ranges could be copied', async () => {
    const pieces = Array.from({ length: 14_000 }, (_, i): OutputPiece[] => [
      { length: 1000 },
      { length: 11 * MiB, origin: { source: sources[0]!, offset: i * 20 * MiB, length: 11 * MiB } },
    ]).flat()
    const parts = cutParts(await runsOf(pieces, store))!
    expect(parts.length).toBeLessThanOrEqual(maxParts)
  })

  it('of an object that is too large are none', async () => {
    expect(cutParts(await runsOf([{ length: 2 ** 46 }], store))).toBeUndefined()
  })
})
