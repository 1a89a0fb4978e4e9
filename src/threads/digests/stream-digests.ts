// Many digests over one source in one pass. Ranges may overlap; each byte is read once and given to every digest that covers it.
import { type ByteSource, orderOf, type Range, streamRange } from '../../bytes/index.js'
import { type Algorithm, createHasher, type Hasher } from '../../digest/index.js'
import { createSubtreeHasher } from '../../digest/subtree.js'

export interface DigestRange extends Range {
  readonly algorithm: Algorithm
  /** BLAKE3 only: the range is a part of something larger, from this chunk on, and its chaining value is wanted. */
  readonly chunk?: number | undefined
}

/** Every digest has so many bytes of the result; shorter ones have zeros behind them. */
export const digestSlot = 32

const window = 1 << 20

interface Running {
  readonly place: number
  readonly range: DigestRange
  readonly hasher: Hasher
}

/** The digests, in the order of the ranges. `read` is told how many bytes were looked at, as they come. */
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

/** Ranges that touch or overlap, so that one stream of bytes serves them all. */
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
  /** Takes in what these bytes have of a range; false when that was the last of it. */
  const take = ({ place, range, hasher }: Running, bytes: Uint8Array): boolean => {
    const from = Math.max(range.start, at) - at
    const to = Math.min(range.end - at, bytes.byteLength)
    if (from < to) hasher.update(bytes.subarray(from, to))
    if (range.end > at + bytes.byteLength) return true
    digests.set(hasher.digest(), place * digestSlot)
    return false
  }
  // Of ranges that end where they begin, in the same window, there can be a million: those are done at once, one after another.
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
