// Models have thousands of small tensors, mostly in the order in which they lie in their file. One read brings all that are near each other.
import type { ByteRange } from '../bytes/index.js'
import type { Slot } from '../model/layout.js'
import type { Payload } from '../model/payload.js'

/** Consecutive slots. With a range, it holds the payloads of all of them. */
export interface SlotRun {
  readonly slots: readonly Slot[]
  readonly range?: ByteRange
}

const smallPayload = 1 << 16
/** Reading this much in vain costs no more than another read. */
const near = 1 << 12
const maxRange = 1 << 20
const maxSlots = 1 << 8

/** The slots in runs: those whose payloads are small and near each other in one source, and every other slot by itself. */
export function* slotRuns(slots: Iterable<Slot>): Generator<SlotRun, void, void> {
  let run: Slot[] = []
  let range: ByteRange | undefined
  for (const slot of slots) {
    const origin = slot.kind === 'payload' ? smallRange(slot.payload) : undefined
    const joined = origin && range && joinedWith(range, origin)
    if (run.length > 0 && (slot.kind === 'payload' ? !joined : !range || run.length >= maxSlots)) {
      yield range ? { slots: run, range } : { slots: run }
      run = []
      range = undefined
    }
    run.push(slot)
    if (origin) range = joined ?? origin
  }
  if (run.length > 0) yield range ? { slots: run, range } : { slots: run }
}

function smallRange({ byteLength, origin }: Payload): ByteRange | undefined {
  return byteLength > 0 && byteLength <= smallPayload ? origin : undefined
}

/** Both ranges and what lies between them, unless they are too far apart. */
function joinedWith(range: ByteRange, { source, offset, length }: ByteRange): ByteRange | undefined {
  const end = range.offset + range.length
  const reach = offset + length - range.offset
  if (source !== range.source || offset < range.offset || offset > end + near || reach > maxRange) return undefined
  return { source, offset: range.offset, length: Math.max(range.length, reach) }
}

export const readRange = ({ source, offset, length }: ByteRange, signal?: AbortSignal): Promise<Uint8Array> =>
  source.read(offset, length, { signal })

/** The bytes of a payload in the range of its run. */
export function bytesOf(payload: Payload, range: ByteRange, bytes: Uint8Array): Uint8Array {
  const at = payload.origin!.offset - range.offset
  return bytes.subarray(at, at + payload.byteLength)
}
