// Which digests a layout asks for. That can be two for each of a million members of an archive, so only what tells a digest from others is
// kept of its slots, and slots that want the same one share it.
import { lowerBound } from '../bytes/lower-bound.js'
import type { Algorithm } from '../digest/index.js'
import { type DigestSlot, type Slot, slotLength } from '../model/layout.js'

/** One digest to compute. */
export interface DigestJob {
  /** Its number among all of the file. */
  readonly index: number
  readonly algorithm: Algorithm
  readonly start: number
  readonly end: number
  /** Undefined: everything from `start` to `end`. */
  readonly covers: DigestSlot['covers'] | undefined
  readonly masked: DigestSlot['masked']
  /** Somebody else computes it. */
  readonly isKnown: boolean
}

export interface DigestJobs {
  readonly jobs: readonly DigestJob[]
  /** The job of each digest slot, in the order of the file. */
  readonly jobOfSlot: readonly DigestJob[]
  /** Some slot comes before bytes that it covers, so its digest is patched in later. */
  readonly hasLate: boolean
}

export function digestJobsOf(slots: Iterable<Slot>): DigestJobs {
  const byKey = new Map<string, DigestJob>()
  const jobOfSlot: DigestJob[] = []
  const late: LateSlots = { offsets: [], ends: [], jobs: [] }
  let offset = 0
  for (const slot of slots) {
    const end = offset + slotLength(slot)
    if (slot.kind === 'digest') {
      const { algorithm, covers, masked, known } = slot
      const key = `${algorithm} ${covers.flat()} ${masked?.flat()} ${known !== undefined}`
      const job = byKey.get(key) ?? jobFor(slot, byKey.size)
      byKey.set(key, job)
      jobOfSlot.push(job)
      if (job.end > offset) {
        late.offsets.push(offset)
        late.ends.push(end)
        late.jobs.push(job)
      }
    }
    offset = end
  }
  refuseCircles(late)
  return { jobs: [...byKey.values()], jobOfSlot, hasLate: late.jobs.length > 0 }
}

export function jobFor(
  { algorithm, covers, masked, known }: Pick<DigestSlot, 'algorithm' | 'covers' | 'masked' | 'known'>,
  index: number,
): DigestJob {
  const isPlain = covers.length === 1 && !masked
  const [start, end] = [covers[0]?.[0] ?? 0, covers.at(-1)?.[1] ?? 0]
  return { index, algorithm, start, end, covers: isPlain ? undefined : covers, masked, isKnown: known !== undefined }
}

/** In the order of the file. */
interface LateSlots {
  readonly offsets: number[]
  readonly ends: number[]
  readonly jobs: DigestJob[]
}

/** A digest that is patched in at the end cannot be covered by another one, unless it is masked there. */
function refuseCircles({ offsets, ends, jobs }: LateSlots): void {
  for (const { covers, start, end, masked } of new Set(jobs)) {
    for (const [from, to] of covers ?? [[start, end]]) {
      for (let i = lowerBound(ends.length, (k) => ends[k]!, from + 1); i < offsets.length && offsets[i]! < to; i++) {
        const isMasked = (masked ?? []).some(([low, high]) => low < ends[i]! && high > offsets[i]!)
        if (!isMasked) throw new Error('a late digest covers another late digest')
      }
    }
  }
}
