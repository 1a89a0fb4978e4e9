// Computes the digests that a layout asks for while its bytes are written. Only the digests that cover the current bytes are visited, so a
// layout can ask for one per tensor.

import { lowerBound } from '../bytes/lower-bound.js'
import { digestLengths, providerOf } from '../digest/hasher.js'
import { type Algorithm, createHasher, type DigestProvider, type Hasher } from '../digest/index.js'
import { countSlots, type DigestSlot, type FileLayout, fileLength, type Slot, slotLength } from '../model/layout.js'
import { digestStream, isWorthStream, type StreamDigests, type WorkerPool } from '../threads/index.js'

/** A digest slot that precedes some of the bytes it covers. */
interface Late {
  readonly slot: DigestSlot
  readonly offset: number
}

interface Patch {
  readonly offset: number
  readonly bytes: Uint8Array
}

/** A digest whose bytes are being written. */
interface Live {
  readonly job: DigestJob
  readonly hasher?: Hasher
  /** Replaces the hasher where another thread does the work. */
  readonly stream?: StreamDigests
  /** Index of the first covered range that has not passed yet. */
  next: number
}

export class DigestPass {
  #position = 0
  readonly #file: FileLayout
  readonly #pool: WorkerPool | undefined
  readonly #asked: DigestJobs
  /** How many digest slots have been written. */
  #slots = 0
  readonly #late = new Map<DigestJob, Late[]>()
  #ready: Patch[] = []
  /** Jobs that have not started, the next one last. */
  readonly #waiting: DigestJob[]
  readonly #live = new Set<Live>()
  readonly #providers = new Map<Algorithm, DigestProvider>()
  readonly #whole: readonly DigestJob[]
  readonly #digests: DigestStore
  /** Digests that other threads compute. */
  readonly #streamed = new Map<DigestJob, Promise<Uint8Array>>()

  constructor(file: FileLayout, whole: readonly Algorithm[], pool?: WorkerPool) {
    this.#file = file
    this.#pool = pool
    this.#asked = digestJobsOf(countSlots(file).digestSlots > 0 ? file.slots : [])
    const { jobs, hasLate } = this.#asked
    // A patch would invalidate the digest of the whole file.
    const end = fileLength(file)
    this.#whole = hasLate ? [] : whole.map((algorithm, i) => jobFor({ algorithm, covers: [[0, end]] }, jobs.length + i))
    const all = [...jobs, ...this.#whole]
    this.#digests = new DigestStore(all)
    this.#waiting = all.filter(({ isKnown }) => !isKnown).sort((a, b) => b.start - a.start)
  }

  /** Starts the digests that cover some of the next `length` bytes; undefined when there is nothing to wait for. */
  prepare(length: number): Promise<void> | undefined {
    const end = this.#position + length
    for (let job = this.#waiting.at(-1); job && job.start < end; job = this.#waiting.at(-1)) {
      const provider = this.#providers.get(job.algorithm)
      if (!provider) return this.#load(job.algorithm).then(() => this.prepare(length))
      this.#waiting.pop()
      const begun = this.#begin(job, provider)
      if (begun instanceof Promise) return begun.then(() => this.prepare(length))
    }
    return undefined
  }

  async #load(algorithm: Algorithm): Promise<void> {
    this.#providers.set(algorithm, await providerOf(algorithm))
  }

  #begin(job: DigestJob, provider: DigestProvider): void | Promise<void> {
    const { algorithm } = job
    const length = job.end - job.start
    // Computing a CRC takes about as long as handing the bytes to another thread.
    if (job.covers || algorithm === 'crc32' || !isWorthStream(this.#pool, length)) {
      const hasher = provider.create()
      if (hasher instanceof Promise) return hasher.then((made) => void this.#live.add({ job, hasher: made, next: 0 }))
      this.#live.add({ job, hasher, next: 0 })
      return undefined
    }
    const track = { algorithm, starts: Float64Array.of(0), ends: Float64Array.of(length) }
    const stream = digestStream([track], { pool: this.#pool, length, file: this.#file.name })
    this.#live.add({ job, stream, next: 0 })
    return undefined
  }

  /**
   * No digest of the current bytes is worth computing while another thread writes them. A CRC takes less time than a thread needs to take
   * bytes out of this one's cache.
   */
  get isIdle(): boolean {
    for (const { job, stream } of this.#live) if (!stream && job.algorithm !== 'crc32') return false
    return true
  }

  /** Whether no digest needs the next bytes. */
  canSkip(length: number): boolean {
    const next = this.#waiting.at(-1)?.start ?? Number.POSITIVE_INFINITY
    // Their producer computes some digests when it makes the bytes.
    return this.#live.size === 0 && next >= this.#position + length && !this.#asked.jobs.some(({ isKnown }) => isKnown)
  }

  /** Passes the next bytes, which `canSkip` allows. */
  skip(length: number): void {
    this.#position += length
  }

  /** Takes the next bytes, after `prepare` for them. The buffer is free once the promise, if there is one, has settled. */
  update(bytes: Uint8Array): void | Promise<void> {
    const start = this.#position
    const end = start + bytes.byteLength
    this.#position = end
    const working = feedAll(this.#live, bytes, start)
    for (const live of this.#live) if (live.job.end <= end) this.#finish(live)
    return working
  }

  #finish(live: Live): void {
    const { job, stream, hasher } = live
    this.#live.delete(live)
    if (stream) {
      const digest = stream.finish().then(([first]) => first!)
      digest.catch(() => {}) // reported to the caller that awaits the digest
      this.#streamed.set(job, digest)
      return
    }
    const digest = hasher!.digest()
    this.#digests.set(job, digest)
    for (const { slot, offset } of this.#late.get(job) ?? []) this.#ready.push({ offset, bytes: stored(slot, digest) })
    this.#late.delete(job)
  }

  /** Whether the sink must support patching earlier bytes. */
  get needsPatches(): boolean {
    return this.#asked.hasLate
  }

  /** Patches for late slots whose digests are complete; each is returned once. */
  takeReady(): readonly Patch[] {
    const ready = this.#ready
    if (ready.length > 0) this.#ready = []
    return ready
  }

  /** Stops the digests on other threads. */
  abort(): void {
    for (const { stream } of this.#live) stream?.abort()
  }

  /** The content of the next digest slot; undefined when some of the bytes it covers have yet to come. */
  valueFor(slot: DigestSlot): Uint8Array | undefined | Promise<Uint8Array> {
    const job = this.#asked.jobOfSlot[this.#slots++]!
    if (job.end <= this.#position) {
      const digest = slot.known ? undefined : this.#digests.get(job)
      return digest ? stored(slot, digest) : this.#digestFor(slot, job).then((found) => stored(slot, found))
    }
    const late = { slot, offset: this.#position }
    const others = this.#late.get(job)
    if (others) others.push(late)
    else this.#late.set(job, [late])
    return undefined
  }

  async #digestFor(slot: DigestSlot, job: DigestJob): Promise<Uint8Array> {
    if (slot.known) return slot.known()
    const digest = this.#digests.get(job) ?? (await this.#streamed.get(job))
    return digest ?? (await createHasher(job.algorithm)).digest() // of nothing
  }

  /** The remaining patches. To be called at the end. */
  async patches(): Promise<readonly Patch[]> {
    await this.prepare(Number.POSITIVE_INFINITY)
    for (const live of [...this.#live]) this.#finish(live)
    const rest = [...this.#late].flatMap(([job, late]) =>
      late.map(async ({ slot, offset }) => ({ offset, bytes: stored(slot, await this.#digestFor(slot, job)) })),
    )
    return [...this.takeReady(), ...(await Promise.all(rest))]
  }

  /** Digests of the whole file. To be called after `patches`. */
  async whole(): Promise<Partial<Record<Algorithm, Uint8Array>>> {
    const entries = this.#whole.map(
      async (job) => [job.algorithm, this.#digests.get(job) ?? (await this.#streamed.get(job))] as const,
    )
    return Object.fromEntries(await Promise.all(entries))
  }
}

/** Finished digests in one buffer: a `Uint8Array` for each of half a million would take several times the memory. */
class DigestStore {
  readonly #slot: number
  readonly #bytes: Uint8Array
  readonly #isSet: Uint8Array

  constructor(jobs: readonly DigestJob[]) {
    this.#slot = jobs.reduce((max, { algorithm }) => Math.max(max, digestLengths[algorithm]), 0)
    this.#bytes = new Uint8Array(jobs.length * this.#slot)
    this.#isSet = new Uint8Array(jobs.length)
  }

  set({ index }: DigestJob, digest: Uint8Array): void {
    this.#bytes.set(digest, index * this.#slot)
    this.#isSet[index] = 1
  }

  get({ index, algorithm }: DigestJob): Uint8Array | undefined {
    const at = index * this.#slot
    return this.#isSet[index] === 1 ? this.#bytes.slice(at, at + digestLengths[algorithm]) : undefined
  }
}

function stored(slot: DigestSlot, digest: Uint8Array): Uint8Array {
  return slot.encode ? slot.encode(digest) : digest
}

/** Feeds each digest the part of `bytes`, at file offset `start`, that it covers. The buffer is free once the promise has settled. */
function feedAll(all: ReadonlySet<Live>, bytes: Uint8Array, start: number): Promise<void> | undefined {
  const served = feedShared(all, bytes, start)
  const waiting: Promise<void>[] = []
  for (const live of all) {
    const working = served.has(live) ? undefined : feed(live, bytes, start)
    if (working) waiting.push(working)
  }
  return waiting.length === 0 ? undefined : Promise.all(waiting).then(() => {})
}

const noneServed: ReadonlySet<Live> = new Set()
/** Below this, hashing the bytes twice is faster than combining checksums. */
const minShared = 1 << 14

/** A section and the whole file can each have a checksum: bytes that both cover are summed once and the sums combined. */
function feedShared(all: ReadonlySet<Live>, bytes: Uint8Array, start: number): ReadonlySet<Live> {
  if (all.size < 2 || bytes.byteLength < minShared) return noneServed
  const end = start + bytes.byteLength
  const sharers = [...all].flatMap((live) => {
    const pieces = coversAll(live, start, end) ? live.hasher?.pieces : undefined
    return pieces ? [{ live, pieces }] : []
  })
  if (sharers.length < 2) return noneServed
  const sum = sharers[0]!.pieces.sumOf(bytes)
  for (const { pieces } of sharers) pieces.append(sum, bytes.byteLength)
  return new Set(sharers.map(({ live }) => live))
}

/** Whether the digest covers all of these bytes, with none masked. */
function coversAll(live: Live, start: number, end: number): boolean {
  const { covers, masked } = live.job
  if (!covers) return live.job.start <= start && end <= live.job.end
  skipRanges(live, start)
  const range = covers[live.next]
  return range !== undefined && range[0] <= start && end <= range[1] && !masked?.some(touches(start, end))
}

const touches =
  (start: number, end: number) =>
  ([from, to]: readonly [number, number]): boolean =>
    from < end && to > start

function skipRanges(live: Live, start: number): void {
  const { covers } = live.job
  while (covers && live.next < covers.length && covers[live.next]![1] <= start) live.next++
}

function feed(live: Live, bytes: Uint8Array, start: number): Promise<void> | undefined {
  const { job, hasher, stream } = live
  const { covers, masked } = job
  const end = start + bytes.byteLength
  if (!covers) {
    const part = bytes.subarray(Math.max(0, job.start - start), Math.max(0, job.end - start))
    if (stream) return stream.update(part) ?? undefined
    if (part.byteLength > 0) hasher!.update(part)
    return undefined
  }
  skipRanges(live, start)
  for (let i = live.next; i < covers.length && covers[i]![0] < end; i++) {
    const low = Math.max(start, covers[i]![0])
    const high = Math.min(end, covers[i]![1])
    if (low < high) hasher!.update(withMask(bytes.subarray(low - start, high - start), low, masked))
  }
  return undefined
}

function withMask(bytes: Uint8Array, offset: number, ranges: DigestSlot['masked']): Uint8Array {
  const hit = ranges?.filter(touches(offset, offset + bytes.byteLength))
  if (!hit?.length) return bytes
  const copy = bytes.slice()
  for (const [from, to] of hit) copy.fill(0, Math.max(0, from - offset), Math.max(0, to - offset))
  return copy
}

// Which digests a layout asks for. Slots that want the same digest share one job: an archive states the checksum of a member twice.

/** One digest to compute. */
interface DigestJob {
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

interface DigestJobs {
  readonly jobs: readonly DigestJob[]
  /** The job of each digest slot, in the order of the file. */
  readonly jobOfSlot: readonly DigestJob[]
  /** Some slot precedes bytes that it covers, so its digest is patched in later. */
  readonly hasLate: boolean
}

function digestJobsOf(slots: Iterable<Slot>): DigestJobs {
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

function jobFor(slot: Wanted, index: number): DigestJob {
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
