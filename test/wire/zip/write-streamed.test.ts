// The rules by which loaders of PyTorch compute where data lie, without reading headers.
import { describe, expect, it } from 'vitest'
import type { ZipPiece } from '../../../src/wire/zip/write.js'
import { layOutStreamed } from '../../../src/wire/zip/write-streamed.js'

const archive = (sizes: readonly number[], alignment = 64) =>
  layOutStreamed({ count: sizes.length, nameAt: (i) => `archive/data/${i}`, sizeAt: (i) => sizes[i]! }, alignment)

const lengthOf = (pieces: Iterable<ZipPiece>): number =>
  [...pieces].reduce((sum, piece) => sum + (piece.kind === 'crc32' ? 4 : piece.length), 0)

describe('a streamed archive', () => {
  it('starts data on multiples of the alignment, right behind their headers', () => {
    for (const alignment of [1, 16, 64, 4096]) {
      const sizes = [5, 0, 64, 1000]
      const zip = archive(sizes, alignment)
      let at = 0
      for (const [i, size] of sizes.entries()) {
        at += lengthOf([zip.head(i)])
        expect(zip.dataOffset(i)).toBe(at)
        expect(at % alignment).toBe(0)
        at += size + lengthOf(zip.foot(i))
      }
    }
  })

  it('has no descriptor behind an empty member', () => {
    const zip = archive([0, 1])
    expect([zip.foot(0), lengthOf(zip.foot(1))]).toEqual([[], 16])
  })

  it('has wide numbers where a size or a place needs them', () => {
    const zip = archive([4_300_000_000, 12, 0])
    expect([0, 1, 2].map((i) => lengthOf(zip.foot(i)))).toEqual([24, 24, 0])
    // The sizes of the first, of which the second one is not known yet, and the places of the others.
    const extra = (i: number): DataView => {
      const piece = zip.head(i)
      const bytes = piece.kind === 'bytes' ? piece.bytes : new Uint8Array()
      return new DataView(bytes.buffer, bytes.byteOffset + 30 + 'archive/data/0'.length)
    }
    expect([extra(0).getUint16(0, true), extra(0).getUint16(2, true)]).toEqual([1, 16])
    expect([extra(0).getBigUint64(4, true), extra(0).getBigUint64(12, true)]).toEqual([4_300_000_000n, 0n])
    const header = zip.dataOffset(0) + 4_300_000_000 + 24
    expect([extra(1).getUint16(2, true), extra(1).getBigUint64(4, true)]).toEqual([8, BigInt(header)])
    expect(zip.dataOffset(1) % 64).toBe(0)
  })

  it('ends with the records of zip64, whatever its size', () => {
    const paths = [...archive([3]).tail()].map(({ path }) => path)
    expect(paths.slice(-2)).toEqual(['zip64_end', 'end'])
  })
})
