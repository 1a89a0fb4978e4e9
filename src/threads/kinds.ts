// The jobs of this room, and their handlers.
import type { SourceHandle } from '../bytes/index.js'
import { createSubtreeHasher } from '../digest/subtree.js'
import { type DigestRange, streamDigests } from './digests/stream-digests.js'
import { digestTrack } from './digests/stream-tracks.js'
import type { Job, JobHandler } from './job.js'

interface DigestData {
  readonly handle: SourceHandle
  readonly ranges: readonly DigestRange[]
}

/** Digests of ranges of a source that the worker reads itself. The result has a slot for each. */
export function digestJob(handle: SourceHandle, ranges: readonly DigestRange[]): Job {
  const data: DigestData = {
    handle,
    ranges: ranges.map(({ start, end, algorithm, chunk }) => ({ start, end, algorithm, chunk })),
  }
  return { kind: 'digest', data, file: handle.name, offset: ranges[0]?.start ?? 0 }
}

const digest: JobHandler = async (data, _, { open, advance, signal }) => {
  const { handle, ranges } = data as DigestData
  return streamDigests(open(handle), ranges, advance, signal)
}

/** The chaining value of the window, whose first byte belongs to this chunk of a larger input. */
export function subtreeJob(window: Uint8Array, chunk: number, file: string): Job {
  return { kind: 'subtree', data: chunk, window, file, offset: chunk * 1024 }
}

const subtree: JobHandler = async (data, window, { advance }) => {
  const hasher = createSubtreeHasher(data as number)
  hasher.update(window!)
  advance(window!.byteLength)
  return hasher.digest()
}

export const jobKinds: Readonly<Record<string, JobHandler>> = { digest, subtree, track: digestTrack }
