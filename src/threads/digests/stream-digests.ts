// Many digests over one source in one pass. Ranges may overlap; each byte is read once and passed to every digest that covers it.
import { type ByteSource, orderOf, type Range, streamRange } from '../../bytes/index.js'
import { type Algorithm, createHasher, type Hasher } from '../../digest/index.js'
import { createSubtreeHasher } from '../../digest/subtree.js'

export interface DigestRange extends Range {
  readonly algorithm: Algorithm
  /** BLAKE3 only: the range is a part of a larger input, starting at this chunk, and its chaining value is computed. */
  readonly chunk?: number | undefined
}

/** Each digest takes this many bytes of the result; shorter ones are padded with zeros. */
export const digestSlot = 32

const window = 1 << 20

interface Running {
  readonly place: number
  readonly range: DigestRange
  readonly hasher: Hasher
}

/** The digests, in the order of the ranges. `read` is called with the number of bytes read. */
export async function streamDigests(
  source: ByteSource,
  ranges: readonly DigestRange[],
  read: (bytes: number) => void,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const digests = new Uint8Array(ranges.length * digestSlot)
  const places = orderOf(ranges)
  for (let i = 0; i < places.length; ) {
    const first = i
    let end = ranges[places[i]!]!.start
    for (; i < places.length && ranges[places[i]!]!.start <= end; i++) end = Math.max(end, ranges[places[i]!]!.end)
    await streamSpan(source, ranges, places.subarray(first, i), end, digests, read, signal)
  }
  return digests
}

/** Touching or overlapping ranges, served by one stream. */
async function streamSpan(
  source: ByteSource,
  ranges: readonly DigestRange[],
  places: Uint32Array,
  end: number,
  digests: Uint8Array,
  read: (bytes: number) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const start = ranges[places[0]!]!.start
  let running: Running[] = []
  let next = 0
  let at = start
  /** Feeds the bytes to a range; false when the range is complete. */
  const take = ({ place, range, hasher }: Running, bytes: Uint8Array): boolean => {
    const from = Math.max(range.start, at) - at
    const to = Math.min(range.end - at, bytes.byteLength)
    if (from < to) hasher.update(bytes.subarray(from, to))
    if (range.end > at + bytes.byteLength) return true
    digests.set(hasher.digest(), place * digestSlot)
    return false
  }
  // Many small ranges can start and end in the same window: those are finished at once, one after another.
  const begin = async (bytes: Uint8Array, until: number): Promise<void> => {
    for (; next < places.length && ranges[places[next]!]!.start < until; next++) {
      const range = ranges[places[next]!]!
      const each = { place: places[next]!, range, hasher: await hasherFor(range) }
      if (take(each, bytes)) running.push(each)
    }
  }
  for await (const bytes of streamRange({ source, offset: start, length: end - start }, window, signal)) {
    const until = at + bytes.byteLength
    running = running.filter((each) => take(each, bytes))
    await begin(bytes, until)
    at = until
    read(bytes.byteLength)
  }
  await begin(new Uint8Array(0), Number.POSITIVE_INFINITY) // empty ranges at the very end
}

function hasherFor({ algorithm, chunk }: DigestRange): Hasher | Promise<Hasher> {
  return chunk === undefined ? createHasher(algorithm) : createSubtreeHasher(chunk)
}
