// Which digests a layout asks for. Slots that want the same digest share one job: an archive states the checksum of a member twice.
import { lowerBound } from '../bytes/lower-bound.js'
import type { Algorithm } from '../digest/index.js'
import { type DigestSlot, type Slot, slotLength } from '../model/layout.js'

/** One digest to compute. */
export interface DigestJob {
  /** Its index among the jobs of the file. */
  readonly index: number
  readonly algorithm: Algorithm
  readonly start: number
  readonly end: number
  /** Undefined means everything from `start` to `end`. */
  readonly covers: DigestSlot['covers'] | undefined
  readonly masked: DigestSlot['masked']
  /** The producer of the bytes computes it (`DigestSlot.known`). */
  readonly isKnown: boolean
}

export interface DigestJobs {
  readonly jobs: readonly DigestJob[]
  /** The job of each digest slot, in the order of the file. */
  readonly jobOfSlot: readonly DigestJob[]
  /** Some slot precedes bytes that it covers, so its digest is patched in later. */
  readonly hasLate: boolean
}

export function digestJobsOf(slots: Iterable<Slot>): DigestJobs {
  const byKey = new Map<string, DigestJob>()
  const jobOfSlot: DigestJob[] = []
  const late: LateSlot[] = []
  let offset = 0
  for (const slot of slots) {
    const end = offset + slotLength(slot)
    if (slot.kind === 'digest') {
      const { algorithm, covers, masked, known } = slot
      const key = `${algorithm} ${covers.flat()} ${masked?.flat()} ${known !== undefined}`
      const job = byKey.get(key) ?? jobFor(slot, byKey.size)
      byKey.set(key, job)
      jobOfSlot.push(job)
      if (job.end > offset) late.push({ offset, end, job })
    }
    offset = end
  }
  refuseCircles(late)
  return { jobs: [...byKey.values()], jobOfSlot, hasLate: late.length > 0 }
}

export function jobFor(
  { algorithm, covers, masked, known }: Pick<DigestSlot, 'algorithm' | 'covers' | 'masked' | 'known'>,
  index: number,
): DigestJob {
  const isPlain = covers.length === 1 && !masked
  const [start, end] = [covers[0]?.[0] ?? 0, covers.at(-1)?.[1] ?? 0]
  return { index, algorithm, start, end, covers: isPlain ? undefined : covers, masked, isKnown: known !== undefined }
}

interface LateSlot {
  readonly offset: number
  readonly end: number
  readonly job: DigestJob
}

/** A digest that is patched in at the end cannot be covered by another one, unless it is masked there. `late` is in file order. */
function refuseCircles(late: readonly LateSlot[]): void {
  for (const { covers, start, end, masked } of new Set(late.map(({ job }) => job))) {
    for (const [from, to] of covers ?? [[start, end]]) {
      for (let i = lowerBound(late.length, (k) => late[k]!.end, from + 1); i < late.length; i++) {
        const slot = late[i]!
        if (slot.offset >= to) break
        const isMasked = (masked ?? []).some(([low, high]) => low < slot.end && high > slot.offset)
        if (!isMasked) throw new Error('a late digest covers another late digest')
      }
    }
  }
}
