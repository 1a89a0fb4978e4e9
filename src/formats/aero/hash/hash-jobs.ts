// Many digests over one file. Chunks, pages and tensors cover the same bytes; they are read once for all of them, or by several threads.
// Of tensors there can be a million. Then they are done some at a time, so that they are never all there as objects. That is done shard by
// shard, where it can be; only of a shard that has many small tensors bytes are read again, which takes less than hashing them.
import type { ByteSource } from '../../../bytes/index.js'
import { type DigestOptions, digestRanges, type WantedDigest } from '../../../threads/index.js'

export interface HashJob extends WantedDigest {
  isRight(digest: Uint8Array): boolean
  /** Called when the digest was wrong. */
  complain(): void
}

/** Jobs that are made when they are asked for. */
export interface ManyJobs {
  /** By where they begin in the file. */
  readonly numbers: Iterable<number>
  at(number: number): HashJob
}

export interface HashWork {
  readonly first: readonly HashJob[]
  readonly many: ManyJobs
  readonly last?: readonly HashJob[]
}

/** So many are done at a time, or half as many where the next one lies behind all of them. */
const together = 1 << 12
/** Behind the places of all others. */
const lastPlace = 2 ** 40

/** Runs all jobs. They complain in the order in which they end in the file, or else as they are given, however the work was done. */
export async function runHashJobs(source: ByteSource, work: HashWork, options: DigestOptions = {}): Promise<void> {
  const jobs = new PlacedJobs(work)
  const wrong: number[] = []
  let places: number[] = []
  let batch: HashJob[] = []
  const run = async (): Promise<void> => {
    const digest = await digestRanges(source, batch, options)
    for (const [i, job] of batch.entries()) if (!job.isRight(digest(i))) wrong.push(places[i]!)
    places = []
    batch = []
  }
  let reached = 0
  for (const place of jobs.inOrder()) {
    const job = jobs.at(place)
    if (batch.length >= together || (2 * batch.length >= together && job.start >= reached)) await run()
    places.push(place)
    batch.push(job)
    reached = Math.max(reached, job.end)
  }
  await run()
  const ends = Float64Array.from(wrong, (place) => jobs.at(place).end)
  const order = Uint32Array.from(wrong.keys()).sort((a, b) => ends[a]! - ends[b]! || wrong[a]! - wrong[b]!)
  for (const i of order) jobs.at(wrong[i]!).complain()
}

/** All jobs in one row, in which each has its place. */
class PlacedJobs {
  readonly #work: HashWork

  constructor(work: HashWork) {
    this.#work = work
  }

  at(place: number): HashJob {
    const { first, many, last } = this.#work
    if (place < first.length) return first[place]!
    return place < lastPlace ? many.at(place - first.length) : last![place - lastPlace]!
  }

  /** The places by where the jobs begin in the file. */
  *inOrder(): Generator<number, void, void> {
    const { first, many, last = [] } = this.#work
    const few = [...first.keys(), ...Array.from(last, (_, i) => lastPlace + i)]
    few.sort((a, b) => this.at(a).start - this.at(b).start)
    let next = 0
    for (const number of many.numbers) {
      while (next < few.length && this.at(few[next]!).start <= many.at(number).start) yield few[next++]!
      yield first.length + number
    }
    yield* few.slice(next)
  }
}
