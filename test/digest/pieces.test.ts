import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Algorithm, digestOf } from '../../src/digest/index.js'
import { createPieceHasher, type DigestPiece, joinPieces } from '../../src/digest/pieces.js'

const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8) * 7) % 251)

async function pieceOf(algorithm: Algorithm, all: Uint8Array, from: number, to: number): Promise<DigestPiece> {
  const hasher = (await createPieceHasher(algorithm, all.byteLength, from, to))!
  for (let at = from; at < to; at += 7000) hasher.update(all.subarray(at, Math.min(at + 7000, to)))
  return hasher.finish()
}

async function inPieces(algorithm: Algorithm, all: Uint8Array, cuts: readonly number[]): Promise<DigestPiece[]> {
  const borders = [0, ...cuts.toSorted((a, b) => a - b), all.byteLength]
  return Promise.all(borders.slice(1).map((to, i) => pieceOf(algorithm, all, borders[i]!, to)))
}

describe.each(['blake3', 'crc32'] as const)('%s of pieces', (algorithm) => {
  it('is the digest of the whole, wherever the cuts are', async () => {
    const lengths = fc.oneof(fc.integer({ min: 0, max: 5000 }), fc.integer({ min: 0, max: 400_000 }))
    const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 })
    const property = fc.asyncProperty(lengths, cuts, async (length, places) => {
      const all = bytesOf(length)
      const pieces = await inPieces(
        algorithm,
        all,
        places.map((place) => Math.floor(place * length)),
      )
      expect(await joinPieces(algorithm, length, pieces)).toEqual(await digestOf(algorithm, all))
    })
    await fc.assert(property, { numRuns: 60 })
  })

  it.each([1023, 1024, 1025, 2048, 65_536, 65_537, 131_072, 262_144, 300_000])(
    'holds at borders: %i bytes',
    async (length) => {
      const all = bytesOf(length)
      const cuts = [1, 1024, 1025, 2048, 65_536, 131_072].filter((cut) => cut < length)
      const digest = await digestOf(algorithm, all)
      for (const cut of cuts)
        expect(await joinPieces(algorithm, length, await inPieces(algorithm, all, [cut]))).toEqual(digest)
      expect(await joinPieces(algorithm, length, await inPieces(algorithm, all, cuts))).toEqual(digest)
    },
  )

  it('takes a piece that is there twice once, and gives nothing when one is missing', async () => {
    const all = bytesOf(10_000)
    const pieces = await inPieces(algorithm, all, [2500, 5000])
    expect(await joinPieces(algorithm, 10_000, [...pieces, pieces[1]!])).toEqual(await digestOf(algorithm, all))
    expect(await joinPieces(algorithm, 10_000, [pieces[0]!, pieces[2]!])).toBeUndefined()
    expect(await joinPieces(algorithm, 10_000, pieces.slice(0, 2))).toBeUndefined()
  })
})

describe('the sums of pieces', () => {
  it('are small under BLAKE3', async () => {
    const { nodes } = await pieceOf('blake3', bytesOf(1 << 20), 1000, (1 << 20) - 1000)
    expect(nodes!.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)).toBeLessThan(3000)
  })

  it('do not exist under SHA-256', async () => {
    expect(await createPieceHasher('sha256', 10, 0, 5)).toBeUndefined()
    const all = bytesOf(10)
    expect(await joinPieces('sha256', 10, [await pieceOf('sha256', all, 0, 10)])).toEqual(await digestOf('sha256', all))
  })
})
