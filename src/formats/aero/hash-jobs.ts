// Many digests over one file. Chunks, pages and tensors cover the same bytes; they are read once for all of them, or by several threads.
import type { ByteSource } from '../../bytes/index.js'
import { type DigestOptions, digestRanges, type WantedDigest } from '../../pool/index.js'

export interface HashJob extends WantedDigest {
  /** Which of many things of a kind this is about. */
  readonly item?: number
  done(digest: Uint8Array, item: number): void
}

/** Runs all jobs. They are told in the order in which they end in the file, however the work was done. */
export async function runHashJobs(
  source: ByteSource,
  jobs: readonly HashJob[],
  options: DigestOptions = {},
): Promise<void> {
  const digest = await digestRanges(source, jobs, options)
  const order = Uint32Array.from(jobs, (_, i) => i).sort((a, b) => jobs[a]!.end - jobs[b]!.end || a - b)
  for (const i of order) {
    const { done, item = 0 } = jobs[i]!
    done(digest(i), item)
  }
}
