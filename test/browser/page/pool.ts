// Web Workers: what a page and its workers do together, told in plain data.
import { BlobSource, digestOf, openWebPool, toHex, type WorkerPool } from '../../../src/kit.js'
import { digestRanges } from '../../../src/threads/digests/digest-ranges.js'
import { digestJob } from '../../../src/threads/kinds.js'
import { sampleBytes } from '../../support/numbers.js'
import { codeOf } from './models.js'

const kept = new Map<string, WorkerPool>()

/** Pools stay open between calls, so that tests can look at the workers from outside. */
export function openPool(name: string, threads: number): boolean {
  const pool = openWebPool({ threads })
  if (pool) kept.set(name, pool)
  return pool !== undefined
}

export const poolNamed = (name: string): WorkerPool => kept.get(name)!

export async function closePool(name: string): Promise<void> {
  await kept.get(name)?.close()
  kept.delete(name)
}

/** 4 GiB that take little memory: several seconds of work. */
const longSource = (piece: Blob): BlobSource =>
  new BlobSource(new Blob(Array<Blob>(64).fill(new Blob(Array<Blob>(64).fill(piece)))), 'long.bin')

export interface PoolDigests {
  readonly onWorkers: readonly string[]
  readonly here: readonly string[]
  readonly told: number
}

/** Overlapping ranges with all algorithms, and one that is long enough to be cut into subtrees. */
export async function digestOnPool(name: string): Promise<PoolDigests> {
  const bytes = sampleBytes(34_000_000)
  const source = new BlobSource(new File([bytes], 'sample.bin'))
  const algorithms = ['blake3', 'sha256', 'crc32'] as const
  const ranges = Array.from({ length: 30 }, (_, i) => ({
    start: i * 60_000,
    end: i * 60_000 + (i % 7) * 90_000,
    algorithm: algorithms[i % 3]!,
  }))
  const wanted = [...ranges, { start: 3, end: bytes.byteLength, algorithm: 'blake3' as const }]
  let told = 0
  const onRead = (count: number): void => {
    told += count
  }
  const costs = { start: 0, read: 0 }
  const digest = await digestRanges(source, wanted, { pool: kept.get(name)!, costs, onRead })
  const here = wanted.map(({ start, end, algorithm }) => digestOf(algorithm, bytes.subarray(start, end)))
  return {
    onWorkers: wanted.map((_, i) => toHex(digest(i))),
    here: (await Promise.all(here)).map((each) => toHex(each)),
    told,
  }
}

/** A job that takes far longer than the test waits for it is cancelled; the pool then does another. */
export async function cancelOnPool(name: string): Promise<{ cancelled: string; after: string }> {
  const piece = new Blob([sampleBytes(1 << 20)])
  const long = longSource(piece)
  const pool = kept.get(name)!
  const controller = new AbortController()
  const job = digestJob(long.handle, [{ start: 0, end: long.size, algorithm: 'sha256' }])
  const running = pool.run(job, { signal: controller.signal }).then(() => 'done', codeOf)
  setTimeout(() => controller.abort(), 200)
  const cancelled = await running
  const short = digestJob(new BlobSource(piece, 'short.bin').handle, [{ start: 0, end: 1000, algorithm: 'blake3' }])
  const after = await pool.run(short).then((result) => toHex(result as Uint8Array), codeOf)
  return { cancelled, after }
}

export const digestOfShort = async (): Promise<string> =>
  toHex(await digestOf('blake3', sampleBytes(1 << 20).subarray(0, 1000)))

/** An error inside of a worker: a range beyond the end of its source. */
export async function failOnPool(name: string): Promise<string> {
  const { handle } = new BlobSource(new Blob([sampleBytes(1000)]), 'short.bin')
  const job = digestJob(handle, [{ start: 500, end: 1001, algorithm: 'blake3' }])
  return kept
    .get(name)!
    .run(job)
    .then(() => 'done', codeOf)
}

/** Workers that cannot do anything: the file is missing, it throws when it is loaded, there is no worker at all. */
export async function startBadly(how: 'missing' | 'throws' | 'none'): Promise<string> {
  const address = how === 'missing' ? '/page/missing.js' : URL.createObjectURL(new Blob(['throw new Error("no")']))
  const pool = openWebPool({
    threads: 2,
    startWorker() {
      if (how === 'none') throw new Error('workers are not allowed here')
      return new Worker(address, { type: 'module' })
    },
  })!
  const { handle } = new BlobSource(new Blob([sampleBytes(1000)]), 'short.bin')
  const job = digestJob(handle, [{ start: 96, end: 1000, algorithm: 'blake3' }])
  const answers = await Promise.all([1, 2, 3].map(() => pool.run(job).then(() => 'done', codeOf)))
  await pool.close()
  return [...new Set(answers)].join(', ')
}

/** Closing a pool while it works. */
export async function closeBusy(): Promise<string> {
  const pool = openWebPool({ threads: 2 })!
  const long = longSource(new Blob([sampleBytes(1 << 20)]))
  const job = digestJob(long.handle, [{ start: 0, end: long.size, algorithm: 'sha256' }])
  const running = [1, 2, 3].map(() => pool.run(job).then(() => 'done', codeOf))
  await new Promise((resolve) => setTimeout(resolve, 100))
  await pool.close()
  return [...new Set(await Promise.all(running))].join(', ')
}
