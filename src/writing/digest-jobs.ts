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
  const jobs: DigestJob[] = []
  // By where the first covered byte is: few digests begin at the same, so only those have a list.
  const firstAt = new Map<number, DigestJob>()
  const furtherAt = new Map<number, DigestJob[]>()
  const jobOfSlot: DigestJob[] = []
  const late: LateSlot[] = []
  let offset = 0
  for (const slot of slots) {
    const end = offset + slotLength(slot)
    if (slot.kind === 'digest') {
      const start = startOf(slot)
      const first = firstAt.get(start)
      const further = furtherAt.get(start)
      let job = first && isFor(first, slot) ? first : further?.find((other) => isFor(other, slot))
      if (!job) {
        job = jobFor(slot, jobs.length)
        jobs.push(job)
        if (!first) firstAt.set(start, job)
        else if (further) further.push(job)
        else furtherAt.set(start, [job])
      }
      jobOfSlot.push(job)
      if (job.end > offset) late.push({ offset, end, job })
    }
    offset = end
  }
  refuseCircles(late)
  return { jobs, jobOfSlot, hasLate: late.length > 0 }
}

type Wanted = Pick<DigestSlot, 'algorithm' | 'covers' | 'masked' | 'known'>

const startOf = ({ covers }: Wanted): number => covers[0]?.[0] ?? 0
const endOf = ({ covers }: Wanted): number => covers.at(-1)?.[1] ?? 0

/** Whether the job computes what a slot wants. */
function isFor(job: DigestJob, slot: Wanted): boolean {
  const { algorithm, covers, masked, known } = slot
  if (job.algorithm !== algorithm || job.end !== endOf(slot) || job.isKnown !== (known !== undefined)) return false
  if (!job.covers) return covers.length === 1 && !masked
  return isSameList(job.covers, covers) && isSameList(job.masked ?? [], masked ?? [])
}

const isSameList = (a: DigestSlot['covers'], b: DigestSlot['covers']): boolean =>
  a.length === b.length && a.every(([start, end], i) => start === b[i]![0] && end === b[i]![1])

export function jobFor(slot: Wanted, index: number): DigestJob {
  const { algorithm, masked, known } = slot
  const covers = slot.covers.length === 1 && !masked ? undefined : slot.covers
  return { index, algorithm, start: startOf(slot), end: endOf(slot), covers, masked, isKnown: known !== undefined }
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
