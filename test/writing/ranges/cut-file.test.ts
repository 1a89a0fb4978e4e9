import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemorySink, MemorySource } from '../../../src/bytes/index.js'
import {
  bytesPayload,
  type FileLayout,
  fileLength,
  lazyPayload,
  type Payload,
  rangePayload,
  type Slot,
  slotLength,
} from '../../../src/model/index.js'
import { type CutOptions, cutFile, type FilePart } from '../../../src/writing/ranges/cut-file.js'
import { finishFile } from '../../../src/writing/ranges/finish-file.js'
import { rangeOf } from '../../../src/writing/ranges/range-of.js'
import { writeLayout } from '../../../src/writing/write-layout.js'

const bytes = (length: number, seed = 1): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8) + seed * 17) % 251)
const source = new MemorySource(bytes(5000, 9), 'source')

const sizes = { partSize: 300, minPart: 100, maxPart: 1000, maxParts: 50, minCopy: 200 }

const made = (length: number): Slot => ({
  kind: 'payload',
  path: 'made',
  payload: lazyPayload(length, async function* () {
    yield bytes(length, 3)
  }),
})
const copied = (offset: number, length: number): Slot => ({
  kind: 'payload',
  path: 'copied',
  payload: rangePayload(source, offset, length),
})
/** Can be made from any multiple of 32 on. */
const sliced = (units: number): Slot => {
  const all = bytesPayload(bytes(32 * units, 5))
  const take = (from: number, length: number): Payload =>
    bytesPayload(bytes(32 * units, 5).subarray(from, from + length))
  const chunks = (window: number) => all.chunks(window)
  return {
    kind: 'payload',
    path: 'sliced',
    payload: { byteLength: all.byteLength, chunks, slices: { unit: 32, take } },
  }
}
const crc = (start: number, end: number): Slot => ({
  kind: 'digest',
  path: 'crc',
  algorithm: 'crc32',
  length: 4,
  covers: [[start, end]],
})
const hash = (start: number, end: number): Slot => ({
  kind: 'digest',
  path: 'hash',
  algorithm: 'blake3',
  length: 32,
  covers: [[start, end]],
})

const borders = (parts: readonly FilePart[]): number[] => parts.map(({ to }) => to)

describe('cutFile', () => {
  it('cuts an unchanged payload at its own ends, and gives what lies between to a copy', () => {
    const file: FileLayout = { name: 'f', slots: [made(120), copied(40, 2500), made(80)] }
    const parts = cutFile(file, sizes)
    expect(borders(parts)).toEqual([120, 953, 1786, 2620, 2700])
    expect(parts.slice(1, 4).map(({ copyOf }) => [copyOf!.offset, copyOf!.length])).toEqual([
      [40, 833],
      [873, 833],
      [1706, 834],
    ])
    expect([parts[0]!.copyOf, parts[4]!.copyOf]).toEqual([undefined, undefined])
  })

  it('lets a part that is too short take the start of a payload', () => {
    const parts = cutFile({ name: 'f', slots: [made(30), copied(0, 500)] }, sizes)
    expect(parts.map(({ from, to, copyOf }) => [from, to, copyOf?.offset])).toEqual([
      [0, 100, undefined],
      [100, 530, 70],
    ])
  })

  it('copies nothing that a digest covers', () => {
    const parts = cutFile({ name: 'f', slots: [copied(0, 900), crc(0, 900)] }, sizes)
    expect(parts.some(({ copyOf }) => copyOf)).toBe(false)
  })

  it('keeps parts with late bytes small', () => {
    const parts = cutFile({ name: 'f', slots: [hash(32, 1632), sliced(50)] }, sizes)
    expect(parts[0]).toEqual({ from: 0, to: 128, isLate: true })
    expect(parts.slice(1).every(({ isLate }) => !isLate)).toBe(true)
  })

  it('cuts between blocks, and what has none only at its ends', () => {
    expect(borders(cutFile({ name: 'f', slots: [sliced(20)] }, sizes))).toEqual([288, 576, 640])
    expect(borders(cutFile({ name: 'f', slots: [made(110), made(900), made(50)] }, sizes))).toEqual([110, 1010, 1060])
  })

  it('cuts what takes more work in slices only where it is many parts, each with about the same work', () => {
    const costly = (length: number): Slot => ({
      kind: 'payload',
      path: 'costly',
      payload: {
        ...bytesPayload(bytes(length)),
        byteLength: length,
        slices: {
          unit: 1,
          costRanges: [
            { end: length / 4, cost: 3 },
            { end: length, cost: 1 },
          ],
          take: (from, count) => bytesPayload(bytes(length).subarray(from, from + count)),
        },
      },
    })
    expect(borders(cutFile({ name: 'f', slots: [costly(1000)] }, sizes))).toEqual([1000])
    expect(borders(cutFile({ name: 'f', slots: [made(150), costly(1600)] }, sizes))).toEqual([
      ...[150, 250, 350, 450, 550],
      ...[850, 1150, 1450, 1750],
    ])
  })

  it('leaves alone what cannot be divided, and gives nothing for nothing', () => {
    expect(cutFile({ name: 'f', slots: [sliced(100)], isIndivisible: true }, sizes)).toEqual([{ from: 0, to: 3200 }])
    expect(cutFile({ name: 'f', slots: [] })).toEqual([])
  })

  it('cuts the end into shorter parts', () => {
    const tail = { share: 1 / 4, fraction: 1 / 4 }
    const lengths = (options: CutOptions): number[] =>
      cutFile({ name: 'f', slots: [{ kind: 'zeros', path: 'z', length: 4000 }] }, options).map(
        ({ from, to }) => to - from,
      )
    const short = Array.from({ length: 8 }, () => 125)
    expect(lengths({ partSize: 500, minPart: 1, tail })).toEqual([500, 500, 500, 500, 500, 500, ...short])
    // They are as long as they have to be, so that there are not too many, and not shorter than a part may be.
    expect(lengths({ partSize: 1, minPart: 1, maxParts: 8, tail }).length).toBeLessThanOrEqual(8)
    expect(Math.min(...lengths({ partSize: 500, minPart: 400, tail }).slice(0, -1))).toBe(400)
  })

  const slot = fc.oneof(
    fc.integer({ min: 0, max: 1500 }).map(made),
    fc.integer({ min: 0, max: 60 }).map(sliced),
    fc
      .tuple(fc.integer({ min: 0, max: 1000 }), fc.integer({ min: 0, max: 3000 }))
      .map(([at, length]) => copied(at, length)),
    fc.integer({ min: 0, max: 400 }).map((length): Slot => ({ kind: 'zeros', path: 'zeros', length })),
    fc.tuple(fc.boolean(), fc.nat(), fc.nat()).map(([isCrc, a, b]): Slot => (isCrc ? crc : hash)(a, b)),
  )

  /** Digests of ranges that hold no digest themselves: here of any one other slot. */
  function settled(slots: readonly Slot[]): Slot[] {
    const ranges: [number, number][] = []
    let at = 0
    for (const each of slots) {
      if (each.kind !== 'digest') ranges.push([at, at + slotLength(each)])
      at += slotLength(each)
    }
    return slots.map((each): Slot => {
      if (each.kind !== 'digest') return each
      return { ...each, covers: ranges.length > 0 ? [ranges[each.covers[0]![0] % ranges.length]!] : [] }
    })
  }

  it('gives parts that keep the limits and, made one by one, are the file', async () => {
    const slots = fc.array(slot, { maxLength: 12 })
    const property = fc.asyncProperty(slots, fc.boolean(), async (list, hasTail) => {
      const file: FileLayout = { name: 'f', slots: settled(list) }
      const layout = { files: [file] }
      const size = fileLength(file)
      const minTail = sizes.minPart / 4
      const tail = { share: 1 / 4, fraction: 1 / 4 }
      const parts = cutFile(file, hasTail ? { ...sizes, minPart: minTail, tail } : sizes)
      expect(parts.map(({ from }) => from)).toEqual([0, ...borders(parts)].slice(0, parts.length))
      expect(borders(parts).at(-1) ?? 0).toBe(size)
      expect(parts.length).toBeLessThanOrEqual(sizes.maxParts)
      for (const { from, to } of parts.slice(0, -1))
        expect(to - from).toBeGreaterThanOrEqual(hasTail ? minTail : sizes.minPart)

      const sink = new MemorySink('f')
      await writeLayout(layout, async () => sink)
      const make = async ({ from, to }: FilePart, late?: ReadonlyMap<number, Uint8Array>) => {
        const range = rangeOf(layout, 'f', from, to, { window: 64, late })
        const chunks: Uint8Array[] = []
        for await (const chunk of range.chunks()) chunks.push(chunk.slice())
        return { sums: range.sums(), bytes: Buffer.concat(chunks) }
      }
      const first = await Promise.all(parts.map((part) => make(part)))
      const late = await finishFile(
        layout,
        'f',
        first.map(({ sums }) => sums),
      )
      const whole: Uint8Array[] = []
      for (const [i, part] of parts.entries()) {
        const { copyOf } = part
        if (copyOf) whole.push(await copyOf.source.read(copyOf.offset, copyOf.length))
        else whole.push(part.isLate ? (await make(part, late)).bytes : first[i]!.bytes)
      }
      expect(Buffer.compare(Buffer.concat(whole), sink.bytes)).toBe(0)
    })
    await fc.assert(property, { numRuns: 150 })
  })
})
