// Digests of a stream that this thread produces and others hash, if the stream is long enough.
import { type ByteRange, checkAborted, readAhead } from '../../bytes/index.js'
import { byteCosts, threadCosts } from '../costs.js'
import type { Job, JobHandler, WorkerPool } from '../job.js'
import { readStream, type StreamPort, StreamWriter, streamWindow } from '../shared-stream.js'
import { releaseSharedWindow } from '../shared-window.js'
import { type Track, TrackHasher } from './tracks.js'

export interface StreamDigests {
  /** Takes the next bytes. The buffer may be reused once the promise, if there is one, has settled. */
  update(bytes: Uint8Array): void | Promise<void>
  /**
   * The same for bytes of a source, which are read directly into shared memory and yielded from there, like `streamRange`; this saves a
   * copy. Undefined if there is none to save.
   */
  stream?(range: ByteRange, window: number, signal?: AbortSignal): AsyncIterable<Uint8Array> | undefined
  /** The digests of each track, one slot per range. To be called after the last byte was passed in. */
  finish(): Promise<readonly Uint8Array[]>
  /** Stops the digests. */
  abort(): void
}

export interface StreamOptions {
  readonly pool?: WorkerPool | undefined
  /** The length of the stream. */
  readonly length: number
  readonly file: string
}

/** Whether a stream of this length is worth a thread. */
export function isWorthStream(pool: WorkerPool | undefined, length: number): pool is WorkerPool {
  if (!pool || length === 0 || !StreamWriter.isPossible()) return false
  return length * byteCosts.digestStream >= threadCosts.streamStarts * pool.apartCost
}

export function digestStream(tracks: readonly Track[], options: StreamOptions): StreamDigests {
  const { pool, length, file } = options
  return tracks.length > 0 && isWorthStream(pool, length) ? sharedDigests(tracks, pool, file) : ownDigests(tracks)
}

function ownDigests(tracks: readonly Track[]): StreamDigests {
  const hashers = tracks.map((track) => new TrackHasher(track))
  let position = 0
  return {
    async update(bytes) {
      for (const hasher of hashers) await hasher.update(bytes, position)
      position += bytes.byteLength
    },
    finish: () => Promise.all(hashers.map((hasher) => hasher.finish())),
    abort() {},
  }
}

interface TrackData {
  readonly track: Track
  readonly port: StreamPort
}

/** Every track has its own thread: hashing each byte once per track is what takes the time. */
function sharedDigests(tracks: readonly Track[], pool: WorkerPool, file: string): StreamDigests {
  const controller = new AbortController()
  const writer = new StreamWriter(tracks.length)
  const results = tracks.map((track, reader) => {
    const data: TrackData = { track, port: writer.port(reader) }
    const job: Job = { kind: 'track', data, window: writer.ring, file, offset: 0 }
    return pool.runApart(job, { signal: controller.signal }) as Promise<Uint8Array>
  })
  // A reader returns early only if it fails; `finish` then throws the error.
  const gone = Promise.race(results)
  gone.catch(() => {})
  void Promise.allSettled(results).then(() => releaseSharedWindow(writer.ring))
  let writing: Promise<void> | undefined
  return {
    update(bytes) {
      writing = writer.write(bytes, gone)
      return writing
    },
    stream(range, window, signal) {
      const isLarge = window === streamWindow && range.length >= window
      return isLarge && range.source.readInto ? streamThrough(writer, gone, range, signal) : undefined
    },
    async finish() {
      try {
        await writing // may wait for space
      } finally {
        writer.end()
      }
      return Promise.all(results)
    },
    abort: () => controller.abort(),
  }
}

/** Reads one window ahead, unless a thread is that far behind. */
function streamThrough(
  writer: StreamWriter,
  gone: Promise<unknown>,
  range: ByteRange,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  const { source, offset, length } = range
  return readAhead(range, streamWindow, signal, async (done) => {
    const target = await writer.reserve(length - done, gone)
    await source.readInto!(offset + done, target, { signal, ahead: length - done - target.byteLength })
    writer.commit(target.byteLength)
    return target
  })
}

/** Runs in a worker. */
export const digestTrack: JobHandler = async (data, window, { signal, advance }) => {
  const { track, port } = data as TrackData
  const hasher = new TrackHasher(track)
  const isWanted = (): boolean => {
    advance(0)
    return !signal.aborted
  }
  let position = 0
  for (const bytes of readStream(port, window!, isWanted)) {
    await hasher.update(bytes, position)
    position += bytes.byteLength
    if (!isWanted()) break
  }
  checkAborted(signal, 'stream')
  return hasher.finish()
}
