import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { BlobSource, countingSource, coveredBytes, MemorySource, type ReadCount } from '../../../src/bytes/index.js'
import { type Algorithm, algorithms, digestOf } from '../../../src/digest/index.js'
import { registerNodeDigests } from '../../../src/node/digests.js'
import { type Costs, planDigests, subtreeSize } from '../../../src/threads/digests/digest-ranges.js'
import type { DigestRange } from '../../../src/threads/digests/stream-digests.js'
import { type Chunked, digestChunks, digestRanges } from '../../../src/threads/index.js'
import { sampleBytes } from '../../support/numbers.js'
import { fakePool } from '../fake-threads.js'

beforeAll(registerNodeDigests)

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const costs: Costs = { start: 0, read: 0.1, digest: { blake3: 0.26, sha256: 0.67, crc32: 0.25 }, subtree: 0.55 }

describe('a plan', () => {
  const ranges = fc
    .array(fc.tuple(fc.nat(3e8), fc.oneof(fc.nat(1000), fc.nat(3e8)), fc.constantFrom<Algorithm>(...algorithms)), {
      maxLength: 40,
    })
    .map((list) => list.map(([start, length, algorithm]): DigestRange => ({ start, end: start + length, algorithm })))

  it('has every range once: as a whole, or in subtrees without a gap', () => {
    const property = fc.property(ranges, fc.integer({ min: 2, max: 16 }), (list, threads) => {
      const { tasks } = planDigests(list, threads, costs)
      const parts = tasks.flatMap((task) => task.ranges)
      for (const [i, { start, end, algorithm }] of list.entries()) {
        const own = parts.filter(({ of }) => of === i).sort((a, b) => a.start - b.start)
        expect(own[0]!.start).toBe(start)
        expect(own.at(-1)!.end).toBe(end)
        for (const [k, part] of own.entries()) {
          expect(part.algorithm).toBe(algorithm)
          expect(part.chunk).toBe(own.length === 1 ? undefined : (part.start - start) / 1024)
          if (k > 0) expect(part.start).toBe(own[k - 1]!.start + subtreeSize)
        }
      }
      const taken = tasks.map((task) => task.cost)
      expect(taken).toEqual(taken.toSorted((a, b) => b - a))
    })
    fc.assert(property, { numRuns: 200 })
  })

  const size = 1e9
  const chunk: DigestRange = { start: 0, end: size, algorithm: 'blake3' }
  const tensors = Array.from({ length: 50 }, (_, i): DigestRange => {
    return { start: (i * size) / 50, end: ((i + 1) * size) / 50, algorithm: 'blake3' }
  })

  it('reads the bytes of a shard once, for the shard and its tensors, also where shards touch', () => {
    const shards = Array.from({ length: 10 }, (_, i): DigestRange => {
      return { start: (i * size) / 10, end: ((i + 1) * size) / 10, algorithm: 'blake3' }
    })
    const { tasks, isWorthIt } = planDigests([...shards, ...tensors], 2, costs)
    expect(isWorthIt).toBe(true)
    const read = tasks.map(({ ranges: own }) => coveredBytes(own)).reduce((sum, bytes) => sum + bytes, 0)
    expect(read).toBe(size)
    expect(tasks).toHaveLength(10)
  })

  it('keeps one long digest here on two threads, and cuts it up on more', () => {
    expect(planDigests([chunk], 2, costs).isWorthIt).toBe(false)
    const { tasks, isWorthIt } = planDigests([chunk], 4, costs)
    expect(isWorthIt).toBe(true)
    expect(tasks.flatMap((task) => task.ranges).length).toBe(Math.ceil(size / subtreeSize))
    // Without a native package subtrees cost nothing extra.
    expect(planDigests([chunk], 2, { ...costs, digest: { ...costs.digest, blake3: 0.55 } }).isWorthIt).toBe(true)
  })

  it('gives a long digest a thread of its own and spreads the others', () => {
    const { tasks, isWorthIt } = planDigests([chunk, ...tensors], 2, costs)
    expect(isWorthIt).toBe(true)
    expect(tasks[0]!.ranges).toEqual([{ ...chunk, of: 0 }])
    expect(tasks.length).toBeGreaterThan(4)
    expect(tasks.length).toBeLessThan(20)
  })

  it('leaves ranges over the same bytes together where there are enough of them', () => {
    const shards = Array.from({ length: 8 }, (_, i) => {
      const start = i * (size + 16)
      return [chunk, ...tensors].map((each) => ({ ...each, start: each.start + start, end: each.end + start }))
    })
    const { tasks } = planDigests(shards.flat(), 2, costs)
    expect(tasks.map((task) => task.ranges.length)).toEqual(Array(8).fill(51))
  })

  it('is not worth it for little work', () => {
    expect(
      planDigests(
        [
          { ...chunk, end: 1e6 },
          { ...chunk, start: 2e6, end: 3e6 },
        ],
        2,
        { ...costs, start: 40e6 },
      ),
    ).toMatchObject({
      isWorthIt: false,
    })
    expect(planDigests([], 2, costs)).toEqual({ tasks: [], isWorthIt: false })
  })
})

describe('digests of ranges', () => {
  const bytes = sampleBytes(3_000_000)
  const source = new BlobSource(new Blob([bytes]), 'sample.bin')
  const wanted = fc.array(
    fc.record({
      start: fc.nat(2_000_000),
      length: fc.oneof(fc.nat(100), fc.nat(1_000_000)),
      algorithm: fc.constantFrom<Algorithm | undefined>(undefined, ...algorithms),
    }),
    { maxLength: 12 },
  )

  it.each([1, 2, 3])('are those of the bytes on %i threads', async (threads) => {
    const pool = fakePool(threads)
    const property = fc.asyncProperty(wanted, async (list) => {
      const ranges = list.map(({ start, length, algorithm }) => ({ start, end: start + length, algorithm }))
      const digest = await digestRanges(source, [...ranges, ...ranges], { pool, costs: { start: 0, read: 0 } })
      for (const [i, { start, end, algorithm }] of [...ranges, ...ranges].entries()) {
        expect(hex(digest(i))).toBe(hex(await digestOf(algorithm ?? 'blake3', bytes.subarray(start, end))))
      }
    })
    await fc.assert(property, { numRuns: 25 })
    expect(pool.started()).toBe(threads - 1)
    await pool.close()
  })

  it('that are long are put together from subtrees', async () => {
    const length = 3 * subtreeSize - 12_345
    const long = sampleBytes(length + 10)
    const pool = fakePool(2)
    const ranges = [
      { start: 3, end: 3 + length },
      { start: 0, end: 1000 },
    ]
    const cheap: Partial<Costs> = { ...costs, subtree: 0.01 }
    const digest = await digestRanges(new BlobSource(new Blob([long])), ranges, { pool, costs: cheap })
    expect(pool.started()).toBe(1)
    for (const [i, { start, end }] of ranges.entries()) {
      expect(hex(digest(i))).toBe(hex(await digestOf('blake3', long.subarray(start, end))))
    }
    await pool.close()
  })

  it('read every byte once, however many ranges cover it', async () => {
    const count: ReadCount = { reads: 0, bytes: 0 }
    const counted = countingSource(new MemorySource(bytes), count)
    const told: number[] = []
    await digestRanges(
      counted,
      [
        { start: 0, end: 2e6 },
        { start: 1e6, end: 3e6 },
        { start: 5, end: 6 },
      ],
      {
        onRead: (read) => told.push(read),
      },
    )
    expect(count.bytes).toBe(3e6)
    expect(told.reduce((a, b) => a + b, 0)).toBe(3e6)
  })

  it.each([1, 2, 3])('tell of every byte once on %i threads', async (threads) => {
    const pool = fakePool(threads)
    const ranges = [
      { start: 0, end: 3e6 },
      { start: 0, end: 1e6 },
      { start: 1e6, end: 2e6 },
      { start: 2e6, end: 3e6 },
    ]
    let told = 0
    const onRead = (read: number): void => {
      told += read
    }
    await digestRanges(source, ranges, { pool, onRead, costs: { read: 0 } })
    expect([told, pool.started()]).toEqual([3e6, threads - 1])
    await pool.close()
  })

  it('fail where the source does, with its offset', async () => {
    const pool = fakePool(2)
    const ranges = [
      { start: 0, end: 1_000_000 },
      { start: 2_000_000, end: 3_000_001 },
    ]
    const digests = digestRanges(source, ranges, { pool, costs: { start: 0, read: 0 } })
    await expect(digests).rejects.toMatchObject({ finding: { code: 'io/out-of-range', offset: 2_000_000 } })
    await pool.close()
  })
})

describe('digests of bytes that are made on the way', () => {
  function made(bytes: Uint8Array, byteLength = bytes.byteLength): Chunked {
    return {
      byteLength,
      async *chunks(window) {
        const reused = new Uint8Array(window)
        for (let at = 0; at < bytes.byteLength; at += window) {
          const piece = bytes.subarray(at, at + window)
          reused.set(piece)
          yield reused.subarray(0, piece.byteLength)
        }
      },
    }
  }

  it.each([
    [1, (4 << 20) + 1],
    [2, 28 << 20],
    [3, (33 << 20) + 12_345],
  ])('on %i threads: %i bytes', async (threads, length) => {
    const bytes = sampleBytes(length)
    const pool = fakePool(threads)
    let told = 0
    const digest = await digestChunks(made(bytes), { pool, file: 'f', onAdvance: (count) => (told += count) })
    expect([told, hex(digest)]).toEqual([length, hex(await digestOf('blake3', bytes))])
    await pool.close()
  })

  it('fail when fewer bytes come than were promised', async () => {
    const pool = fakePool(2)
    const digest = digestChunks(made(sampleBytes(9 << 20), 10 << 20), { pool, file: 'f' })
    await expect(digest).rejects.toMatchObject({ finding: { code: 'io/short-read', file: 'f' } })
    await pool.close()
  })
})
