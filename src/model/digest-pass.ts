// Computes the digests that a layout asks for while its bytes go by. A layout can ask for thousands, one per member of an archive, so only
// those are looked at whose bytes are passing right now, and slots that want the same digest share it.
import { type Algorithm, createHasher, type Hasher } from '../digest/index.js'
import { type DigestSlot, type FileLayout, type Slot, slotLength } from './layout.js'

type Ranges = DigestSlot['covers']

/** One digest to compute. */
interface Job {
  readonly algorithm: Algorithm
  readonly covers: Ranges
  readonly masked: DigestSlot['masked']
  readonly start: number
  readonly end: number
  /** The first range that is not behind us. */
  next: number
  hasher?: Hasher
  digest?: Uint8Array
}

interface Place {
  readonly slot: DigestSlot
  readonly offset: number
  readonly job: Job
  /** Some of its bytes come after it, so it is patched in at the end. */
  readonly isLate: boolean
}

export class DigestPass {
  #position = 0
  readonly #places: ReadonlyMap<DigestSlot, Place>
  /** Those that have not begun, the next one last. */
  readonly #waiting: Job[]
  readonly #live = new Set<Job>()
  readonly #whole = new Map<Algorithm, Hasher>()

  private constructor(places: ReadonlyMap<DigestSlot, Place>) {
    this.#places = places
    const jobs = new Set([...places.values()].map(({ job }) => job))
    this.#waiting = [...jobs].sort((a, b) => b.start - a.start)
  }

  static async start(file: FileLayout, whole: readonly Algorithm[]): Promise<DigestPass> {
    const places = placesOf(file.slots)
    refuseCircles([...places.values()].filter((place) => place.isLate))
    const pass = new DigestPass(places)
    for (const algorithm of whole) pass.#whole.set(algorithm, await createHasher(algorithm))
    return pass
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
      job.hasher = await createHasher(job.algorithm)
      this.#live.add(job)
    }
  }

  /** No digest wants the bytes that come now. */
  get isIdle(): boolean {
    return this.#live.size + this.#whole.size === 0
  }

  /** Takes the next bytes; `prepare` was called for them. */
  update(bytes: Uint8Array): void {
    const start = this.#position
    const end = start + bytes.byteLength
    this.#position = end
    for (const hasher of this.#whole.values()) hasher.update(bytes)
    for (const job of this.#live) {
      feed(job, bytes, start, end)
      if (job.end <= end) this.#finish(job)
    }
  }

  #finish(job: Job): void {
    job.digest = job.hasher!.digest()
    this.#live.delete(job)
  }

  /** The stored form, when all covered bytes have gone by. */
  async valueFor(slot: DigestSlot): Promise<Uint8Array | undefined> {
    const place = this.#places.get(slot)!
    if (place.isLate) return undefined
    return stored(slot, place.job.digest ?? (await digestOfNothing(place.job)))
  }

  /** What to write over the slots that came before their bytes. To be called at the end. */
  async patches(): Promise<{ offset: number; bytes: Uint8Array }[]> {
    await this.#begin(Number.POSITIVE_INFINITY)
    for (const job of [...this.#live]) this.#finish(job)
    return [...this.#places.values()]
      .filter((place) => place.isLate)
      .map(({ slot, offset, job }) => ({ offset, bytes: stored(slot, job.digest!) }))
  }

  /** Whole-file digests are only right when nothing is patched afterwards. */
  whole(): Partial<Record<Algorithm, Uint8Array>> {
    if ([...this.#places.values()].some((place) => place.isLate)) return {}
    return Object.fromEntries([...this.#whole].map(([algorithm, hasher]) => [algorithm, hasher.digest()]))
  }
}

function placesOf(slots: readonly Slot[]): Map<DigestSlot, Place> {
  const places = new Map<DigestSlot, Place>()
  const jobs = new Map<string, Job>()
  let offset = 0
  for (const slot of slots) {
    if (slot.kind === 'digest') {
      const { algorithm, covers, masked } = slot
      const key = `${algorithm} ${covers.flat()} ${masked?.flat()}`
      const [start, end] = [covers[0]?.[0] ?? 0, covers.at(-1)?.[1] ?? 0]
      const job = jobs.get(key) ?? { algorithm, covers, masked, start, end, next: 0 }
      jobs.set(key, job)
      places.set(slot, { slot, offset, job, isLate: end > offset })
    }
    offset += slotLength(slot)
  }
  return places
}

async function digestOfNothing(job: Job): Promise<Uint8Array> {
  return (await createHasher(job.algorithm)).digest()
}

function stored(slot: DigestSlot, digest: Uint8Array): Uint8Array {
  return slot.encode ? slot.encode(digest) : digest
}

function feed(job: Job, bytes: Uint8Array, start: number, end: number): void {
  const { covers, masked, hasher } = job
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
