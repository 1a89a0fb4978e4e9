// Computes the digests that a layout asks for while its bytes go by. Only those are looked at whose bytes are passing right now, and what is
// kept of the others is a few numbers each: a layout can ask for a million.

import { digestLengths } from '../digest/hasher.js'
import { type Algorithm, createHasher } from '../digest/index.js'
import { countSlots, type DigestSlot, type FileLayout, fileLength } from '../model/layout.js'
import { digestStream, isWorthStream, type StreamDigests, type WorkerPool } from '../threads/index.js'
import { feedAll, type Live } from './digest-feed.js'
import { type DigestJob, type DigestJobs, digestJobsOf, jobFor } from './digest-jobs.js'

/** A slot that went by before all of its bytes did. */
interface Late {
  readonly slot: DigestSlot
  readonly offset: number
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
  readonly #asked: DigestJobs
  /** Digest slots that went by. */
  #slots = 0
  readonly #late = new Map<DigestJob, Late[]>()
  #ready: Patch[] = []
  /** Those that have not begun, the next one last. */
  readonly #waiting: DigestJob[]
  readonly #live = new Set<Live>()
  readonly #whole: readonly DigestJob[]
  readonly #digests: DigestStore
  /** What other threads compute. */
  readonly #streamed = new Map<DigestJob, Promise<Uint8Array>>()

  private constructor(file: FileLayout, whole: readonly Algorithm[], pool: WorkerPool | undefined) {
    this.#file = file
    this.#pool = pool
    this.#asked = digestJobsOf(countSlots(file).digestSlots > 0 ? file.slots : [])
    const { jobs, hasLate } = this.#asked
    // Digests of a whole file are only right when nothing is patched afterwards.
    const end = fileLength(file)
    this.#whole = hasLate ? [] : whole.map((algorithm, i) => jobFor({ algorithm, covers: [[0, end]] }, jobs.length + i))
    const all = [...jobs, ...this.#whole]
    this.#digests = new DigestStore(all)
    this.#waiting = all.filter(({ isKnown }) => !isKnown).sort((a, b) => b.start - a.start)
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
      const { algorithm } = job
      const length = job.end - job.start
      // A checksum takes little more time than handing the bytes over.
      if (!job.covers && algorithm !== 'crc32' && isWorthStream(this.#pool, length)) {
        const track = { algorithm, starts: Float64Array.of(0), ends: Float64Array.of(length) }
        const stream = digestStream([track], { pool: this.#pool, length, file: this.#file.name })
        this.#live.add({ job, stream, next: 0 })
      } else this.#live.add({ job, hasher: await createHasher(algorithm), next: 0 })
    }
  }

  /** Nothing is done in this thread with the bytes that come now. */
  get isIdle(): boolean {
    for (const { stream } of this.#live) if (!stream) return false
    return true
  }

  /** Takes the next bytes; `prepare` was called for them. They are not needed any more when the promise, if there is one, has settled. */
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
      const digest = firstDigest(stream)
      digest.catch(() => {}) // whoever asks for it gets the error
      this.#streamed.set(job, digest)
      return
    }
    const digest = hasher!.digest()
    this.#digests.set(job, digest)
    for (const { slot, offset } of this.#late.get(job) ?? []) this.#ready.push({ offset, bytes: stored(slot, digest) })
    this.#late.delete(job)
  }

  /** Whether the file can be written only where what was written can be changed. */
  get needsPatches(): boolean {
    return this.#asked.hasLate
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

  /** What to write for the next digest slot of the file, which begins here; undefined when some of its bytes are still to come. */
  async valueFor(slot: DigestSlot): Promise<Uint8Array | undefined> {
    const job = this.#asked.jobOfSlot[this.#slots++]!
    if (job.end <= this.#position) return stored(slot, await this.#digestFor(slot, job))
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

  /** The patches that are left. To be called at the end. */
  async patches(): Promise<readonly Patch[]> {
    await this.#begin(Number.POSITIVE_INFINITY)
    for (const live of [...this.#live]) this.#finish(live)
    const rest = [...this.#late].flatMap(([job, late]) =>
      late.map(async ({ slot, offset }) => ({ offset, bytes: stored(slot, await this.#digestFor(slot, job)) })),
    )
    return [...this.takeReady(), ...(await Promise.all(rest))]
  }

  /** Of the whole file. To be called after `patches`. */
  async whole(): Promise<Partial<Record<Algorithm, Uint8Array>>> {
    const entries = this.#whole.map(
      async (job) => [job.algorithm, this.#digests.get(job) ?? (await this.#streamed.get(job))] as const,
    )
    return Object.fromEntries(await Promise.all(entries))
  }
}

/** Digests that are there, in one piece of memory: as arrays of their own they would take several times as much. */
class DigestStore {
  readonly #slot: number
  readonly #bytes: Uint8Array
  readonly #isThere: Uint8Array

  constructor(jobs: readonly DigestJob[]) {
    this.#slot = jobs.reduce((most, { algorithm }) => Math.max(most, digestLengths[algorithm]), 0)
    this.#bytes = new Uint8Array(jobs.length * this.#slot)
    this.#isThere = new Uint8Array(jobs.length)
  }

  set({ index }: DigestJob, digest: Uint8Array): void {
    this.#bytes.set(digest, index * this.#slot)
    this.#isThere[index] = 1
  }

  get({ index, algorithm }: DigestJob): Uint8Array | undefined {
    const at = index * this.#slot
    return this.#isThere[index] === 1 ? this.#bytes.slice(at, at + digestLengths[algorithm]) : undefined
  }
}

async function firstDigest(stream: StreamDigests): Promise<Uint8Array> {
  return (await stream.finish())[0]!
}

function stored(slot: DigestSlot, digest: Uint8Array): Uint8Array {
  return slot.encode ? slot.encode(digest) : digest
}
