// Computes the digests that a layout asks for while its bytes go by. A layout can ask for thousands, one per member of an archive, so only
// those are looked at whose bytes are passing right now, and slots that want the same digest share it.
import { type Algorithm, createHasher, type Hasher } from '../digest/index.js'
import { digestStream, isWorthStream, type StreamDigests, type WorkerPool } from '../pool/index.js'
import { type DigestSlot, type FileLayout, fileLength, type Slot, slotLength } from './layout.js'

type Ranges = DigestSlot['covers']

/** One digest to compute. */
interface Job {
  readonly algorithm: Algorithm
  readonly covers: Ranges
  readonly masked: DigestSlot['masked']
  /** Somebody else computes it. */
  readonly known?: DigestSlot['known']
  readonly start: number
  readonly end: number
  /** The first range that is not behind us. */
  next: number
  hasher?: Hasher
  /** In place of the hasher, where another thread does the work. */
  stream?: StreamDigests
  digest?: Uint8Array | Promise<Uint8Array>
}

interface Place {
  readonly slot: DigestSlot
  readonly offset: number
  readonly job: Job
  /** Some of its bytes come after it, so it is patched in at the end. */
  readonly isLate: boolean
}

/** Bytes to write over others. */
interface Patch {
  readonly offset: number
  readonly bytes: Uint8Array
}

export class DigestPass {
  #position = 0
  readonly #file: FileLayout
  readonly #pool: WorkerPool | undefined
  readonly #places: ReadonlyMap<DigestSlot, Place>
  /** Slots that come before some of their bytes, by what they wait for. */
  readonly #late = new Map<Job, Place[]>()
  #ready: Patch[] = []
  /** Those that have not begun, the next one last. */
  readonly #waiting: Job[]
  readonly #live = new Set<Job>()
  readonly #whole: readonly Job[]

  private constructor(file: FileLayout, whole: readonly Algorithm[], pool: WorkerPool | undefined) {
    this.#file = file
    this.#pool = pool
    this.#places = placesOf(file.slots)
    const late = [...this.#places.values()].filter((place) => place.isLate)
    refuseCircles(late)
    for (const place of late) {
      const others = this.#late.get(place.job)
      if (others) others.push(place)
      else this.#late.set(place.job, [place])
    }
    // Digests of a whole file are only right when nothing is patched afterwards.
    const end = fileLength(file)
    this.#whole = late.length > 0 ? [] : whole.map((algorithm) => jobFor({ algorithm, covers: [[0, end]] }))
    const jobs = new Set([...this.#places.values()].flatMap(({ job }) => (job.known ? [] : [job])))
    this.#waiting = [...jobs, ...this.#whole].sort((a, b) => b.start - a.start)
  }

  static async start(file: FileLayout, whole: readonly Algorithm[], pool?: WorkerPool): Promise<DigestPass> {
    return new DigestPass(file, whole, pool)
  }

  /** Begins the digests that the next `length` bytes have a part in; undefined when there is nothing to wait for. */
  prepare(length: number): Promise<void> | undefined {
    return this.#begins(this.#position + length) ? this.#begin(this.#position + length) : undefined
  }

  #begins(end: number): boolean {
    const next = this.#waiting.at(-1)
    return next !== undefined && next.start < end
  }

  async #begin(end: number): Promise<void> {
    while (this.#begins(end)) {
      const job = this.#waiting.pop()!
      const length = job.end - job.start
      // A checksum takes little more time than handing the bytes over.
      const isAlone = job.covers.length === 1 && !job.masked && job.algorithm !== 'crc32'
      if (isAlone && isWorthStream(this.#pool, length)) {
        const track = { algorithm: job.algorithm, starts: Float64Array.of(0), ends: Float64Array.of(length) }
        job.stream = digestStream([track], { pool: this.#pool, length, file: this.#file.name })
      } else job.hasher = await createHasher(job.algorithm)
      this.#live.add(job)
    }
  }

  /** Nothing is done in this thread with the bytes that come now. */
  get isIdle(): boolean {
    for (const job of this.#live) if (!job.stream) return false
    return true
  }

  /** Takes the next bytes; `prepare` was called for them. They are not needed any more when the promise, if there is one, has settled. */
  update(bytes: Uint8Array): void | Promise<void> {
    const start = this.#position
    const end = start + bytes.byteLength
    this.#position = end
    const waiting: Promise<void>[] = []
    for (const job of this.#live) {
      const working = feed(job, bytes, start, end)
      if (working) waiting.push(working)
      if (job.end <= end) this.#finish(job)
    }
    return waiting.length === 0 ? undefined : Promise.all(waiting).then(() => {})
  }

  #finish(job: Job): void {
    this.#live.delete(job)
    if (job.stream) {
      job.digest = firstDigest(job.stream)
      return
    }
    const digest = job.hasher!.digest()
    job.digest = digest
    for (const { slot, offset } of this.#late.get(job) ?? []) this.#ready.push({ offset, bytes: stored(slot, digest) })
    this.#late.delete(job)
  }

  /** Whether the file can be written only where what was written can be changed. */
  get needsPatches(): boolean {
    return this.#late.size > 0
  }

  /** What can be written by now over slots that came before their bytes; each is given once. */
  takeReady(): readonly Patch[] {
    const ready = this.#ready
    if (ready.length > 0) this.#ready = []
    return ready
  }

  /** Nobody wants the digests any more. */
  abort(): void {
    for (const { stream } of this.#live) stream?.abort()
  }

  /** The stored form, when all covered bytes have gone by. */
  async valueFor(slot: DigestSlot): Promise<Uint8Array | undefined> {
    const place = this.#places.get(slot)!
    if (place.isLate) return undefined
    return stored(slot, await digestOfJob(place.job))
  }

  /** The patches that are left. To be called at the end. */
  async patches(): Promise<readonly Patch[]> {
    await this.#begin(Number.POSITIVE_INFINITY)
    for (const job of [...this.#live]) this.#finish(job)
    const late = [...this.#late.values()].flat()
    const rest = late.map(async ({ slot, offset, job }) => ({ offset, bytes: stored(slot, await digestOfJob(job)) }))
    return [...this.takeReady(), ...(await Promise.all(rest))]
  }

  /** Of the whole file. To be called after `patches`. */
  async whole(): Promise<Partial<Record<Algorithm, Uint8Array>>> {
    const entries = this.#whole.map(async ({ algorithm, digest }) => [algorithm, await digest] as const)
    return Object.fromEntries(await Promise.all(entries))
  }
}

async function firstDigest(stream: StreamDigests): Promise<Uint8Array> {
  return (await stream.finish())[0]!
}

function jobFor(asked: Pick<DigestSlot, 'algorithm' | 'covers' | 'masked' | 'known'>): Job {
  const { algorithm, covers, masked } = asked
  const known = asked.known?.bind(asked)
  return { algorithm, covers, masked, known, start: covers[0]?.[0] ?? 0, end: covers.at(-1)?.[1] ?? 0, next: 0 }
}

function placesOf(slots: readonly Slot[]): Map<DigestSlot, Place> {
  const places = new Map<DigestSlot, Place>()
  const jobs = new Map<string, Job>()
  let offset = 0
  for (const slot of slots) {
    if (slot.kind === 'digest') {
      const { algorithm, covers, masked } = slot
      const key = `${algorithm} ${covers.flat()} ${masked?.flat()}`
      const job = jobs.get(key) ?? jobFor(slot)
      jobs.set(key, job)
      places.set(slot, { slot, offset, job, isLate: job.end > offset })
    }
    offset += slotLength(slot)
  }
  return places
}

async function digestOfJob({ known, digest, algorithm }: Job): Promise<Uint8Array> {
  if (known) return known()
  return (await digest) ?? (await createHasher(algorithm)).digest() // of nothing
}

function stored(slot: DigestSlot, digest: Uint8Array): Uint8Array {
  return slot.encode ? slot.encode(digest) : digest
}

function feed(job: Job, bytes: Uint8Array, start: number, end: number): void | Promise<void> {
  const { covers, masked, hasher, stream } = job
  if (stream) return stream.update(bytes.subarray(Math.max(0, job.start - start), Math.max(0, job.end - start)))
  while (job.next < covers.length && covers[job.next]![1] <= start) job.next++
  for (let i = job.next; i < covers.length && covers[i]![0] < end; i++) {
    const low = Math.max(start, covers[i]![0])
    const high = Math.min(end, covers[i]![1])
    if (low < high) hasher!.update(withMask(bytes.subarray(low - start, high - start), low, masked))
  }
}

function withMask(bytes: Uint8Array, offset: number, ranges: DigestSlot['masked']): Uint8Array {
  const hit = ranges?.filter(([from, to]) => from < offset + bytes.byteLength && to > offset)
  if (!hit?.length) return bytes
  const copy = bytes.slice()
  for (const [from, to] of hit) copy.fill(0, Math.max(0, from - offset), Math.max(0, to - offset))
  return copy
}

/** A digest that is patched in at the end cannot be covered by another one, unless it is masked there. */
function refuseCircles(late: readonly Place[]): void {
  for (const job of new Set(late.map((place) => place.job))) {
    for (const [from, to] of job.covers) {
      for (let i = firstAfter(late, from); i < late.length && late[i]!.offset < to; i++) {
        const { offset, slot } = late[i]!
        const isMasked = (job.masked ?? []).some(([low, high]) => low < offset + slot.length && high > offset)
        if (!isMasked) throw new Error('a late digest covers another late digest')
      }
    }
  }
}

/** The index of the first place that ends after `offset`; places are in order. */
function firstAfter(places: readonly Place[], offset: number): number {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const { offset: at, slot } = places[middle]!
    if (at + slot.length > offset) high = middle
    else low = middle + 1
  }
  return low
}
