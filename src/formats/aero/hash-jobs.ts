// Many digests over one file in one pass. Chunks, pages and tensors cover the same bytes; each byte is read once and given to every
// digest that covers it.
import { type ByteSource, streamRange } from '../../bytes/index.js'
import { type Algorithm, createHasher, type Hasher } from '../../digest/index.js'

export interface HashJob {
  readonly start: number
  readonly end: number
  /** BLAKE3 unless it says otherwise. */
  readonly algorithm?: Algorithm
  done(digest: Uint8Array): void
}

interface Running {
  readonly job: HashJob
  readonly hasher: Hasher
}

const window = 1 << 20

/** Runs all jobs. `read` is told how many bytes were looked at, as they come. */
export async function runHashJobs(
  source: ByteSource,
  jobs: readonly HashJob[],
  read: (bytes: number) => void,
  signal?: AbortSignal,
): Promise<void> {
  const inOrder = jobs.toSorted((a, b) => a.start - b.start)
  for (let i = 0; i < inOrder.length; ) {
    const first = i
    const { start } = inOrder[first]!
    let end = start
    for (; i < inOrder.length && inOrder[i]!.start <= end; i++) end = Math.max(end, inOrder[i]!.end)
    await runSpan(source, inOrder.slice(first, i), start, end, read, signal)
  }
}

/** Jobs that touch or overlap, so that one stream of bytes serves them all. */
async function runSpan(
  source: ByteSource,
  jobs: readonly HashJob[],
  start: number,
  end: number,
  read: (bytes: number) => void,
  signal?: AbortSignal,
): Promise<void> {
  let running: Running[] = []
  let next = 0
  let at = start
  const begin = async (until: number): Promise<void> => {
    for (; next < jobs.length && jobs[next]!.start < until; next++) {
      running.push({ job: jobs[next]!, hasher: await createHasher(jobs[next]!.algorithm ?? 'blake3') })
    }
  }
  for await (const bytes of streamRange({ source, offset: start, length: end - start }, window, signal)) {
    const until = at + bytes.byteLength
    await begin(until)
    let isAnyDone = false
    for (const { job, hasher } of running) {
      const from = Math.max(job.start, at) - at
      const to = Math.min(job.end, until) - at
      if (from < to) hasher.update(bytes.subarray(from, to))
      if (job.end <= until) {
        job.done(hasher.digest())
        isAnyDone = true
      }
    }
    if (isAnyDone) running = running.filter(({ job }) => job.end > until)
    at = until
    read(bytes.byteLength)
  }
  await begin(Number.POSITIVE_INFINITY)
  for (const { job, hasher } of running) job.done(hasher.digest())
}
