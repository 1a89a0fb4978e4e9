// An object as an output. Its parts are uploaded, or copied by the store, in any order and several at once; the object appears when all of
// them are there, or not at all. Parts with bytes that are known only at the end wait for them, in memory or wherever the host keeps them.
import {
  type ByteSink,
  type ByteSource,
  checkAborted,
  isPlainFileName,
  type OutputPiece,
  type StoredObject,
  type Transfer,
} from '../../bytes/index.js'
import { failWith, ioCodes } from '../../errors/index.js'
import type { S3Client } from './client.js'
import { digestOfPlan, type UploadLedger } from './ledger.js'
import { Limiter } from './limiter.js'
import { assertSameObject, headObject } from './object.js'
import { cutParts, type Part, type PartSizes, runsOf, transferOf } from './parts.js'
import { abortUpload, completeUpload, copyPart, createUpload, listParts, putObject, uploadPart } from './upload.js'

export interface S3SinkOptions {
  /** False: an existing output is an error, as far as the store can tell. */
  readonly overwrite?: boolean | undefined
  /** Called when all bytes are there, before anything becomes visible. */
  readonly beforeCommit?: (() => Promise<void>) | undefined
  readonly signal?: AbortSignal | undefined
  readonly sizes?: PartSizes | undefined
  /** How many parts are uploaded at once, and how many are copied. Default: 4. */
  readonly parallel?: number | undefined
  readonly ledger?: UploadLedger | undefined
  /** Goes on with an upload that was interrupted, and keeps this one if it fails. */
  readonly resume?: boolean | undefined
  /** Identifies what is written, beside its layout: inputs, options, version. Without it an upload is never continued. */
  readonly identity?: string | undefined
}

/** All objects of one output; the first is the main one. */
interface Shared {
  readonly client: S3Client
  readonly options: S3SinkOptions
  readonly sinks: S3Sink[]
  readonly stop: AbortController
  isEnded: boolean
  /** Called when the output is complete or given up. */
  end: () => void
}

/** Parts that wait for their last bytes. */
const maxHeld = 256 << 20
/** Buffers that wait to be filled again. */
const maxFree = 2

export class S3Sink implements ByteSink {
  readonly name: string
  readonly canPatch = true
  position = 0
  /** Settles when the output is complete or given up. */
  readonly ended: Promise<void>
  readonly #key: string
  readonly #shared: Shared
  readonly #uploads: Limiter
  readonly #copies: Limiter
  #parts: readonly Part[] | undefined
  #upload: string | undefined
  /** By part number. */
  readonly #etags = new Map<number, string>()
  /** Full parts that may still be patched. */
  readonly #held = new Map<number, Uint8Array<ArrayBuffer>>()
  #current: { readonly part: Part; readonly bytes: Uint8Array<ArrayBuffer> } | undefined
  /** Of parts that have arrived, to be filled again. */
  readonly #free: Uint8Array<ArrayBuffer>[] = []
  #index = 0
  #isFinished = false

  private constructor(key: string, shared: Shared) {
    this.name = shared.client.nameOfKey(key)
    this.#key = key
    this.#shared = shared
    const { parallel = 4 } = shared.options
    this.#uploads = new Limiter(parallel)
    this.#copies = new Limiter(parallel)
    shared.sinks.push(this)
    this.ended = new Promise((resolve) => {
      const before = shared.end
      shared.end = () => {
        before()
        resolve()
      }
    })
  }

  static async open(client: S3Client, key: string, options: S3SinkOptions = {}): Promise<S3Sink> {
    const stop = new AbortController()
    options.signal?.addEventListener('abort', () => stop.abort(options.signal!.reason), { once: true })
    return S3Sink.#create(key, { client, options, sinks: [], stop, isEnded: false, end: () => {} })
  }

  static async #create(key: string, shared: Shared): Promise<S3Sink> {
    const sink = new S3Sink(key, shared)
    if (shared.options.overwrite === false) await sink.#assertAbsent()
    return sink
  }

  /** What goes through this machine and what does not; known after `expect`. */
  get transfer(): Transfer {
    return transferOf(this.#parts ?? [])
  }

  get #signal(): AbortSignal {
    return this.#shared.stop.signal
  }

  async #assertAbsent(): Promise<void> {
    if (await headObject(this.#shared.client, this.#key, this.#signal)) this.#failExists()
  }

  #failExists(): never {
    return failWith(ioCodes.exists, { file: this.name, message: 'it is there already' })
  }

  async expect(pieces: Iterable<OutputPiece>): Promise<void> {
    const { client, options } = this.#shared
    const all = [...pieces]
    const parts = cutParts(await runsOf(all, client.store), options.sizes)
    if (!parts) failWith(ioCodes.failed, { file: this.name, message: 'it is larger than an object can be' })
    this.#parts = parts
    // An object of one part is put there with one request.
    if (parts.length <= 1 && !parts[0]?.copy) return
    await this.#begin(await digestOfPlan(all, parts, options.identity))
    for (const part of parts) if (part.copy && !this.#etags.has(part.number)) this.#copy(part)
  }

  /** Starts an upload, or goes on with one that was interrupted. */
  async #begin(plan: string | undefined): Promise<void> {
    const { client, options } = this.#shared
    const { ledger } = options
    const known = plan === undefined ? undefined : await ledger?.find(this.name, plan)
    if (known?.isSame && options.resume) {
      const there = await listParts(client, this.#key, known.upload, this.#signal)
      if (there) this.#upload = known.upload
      for (const { number, size, etag } of there ?? []) {
        const part = this.#parts![number - 1]
        if (part && size === part.end - part.start && !part.isLate) this.#etags.set(number, etag)
      }
    } else if (known) await abortUpload(client, this.#key, known.upload, this.#signal).catch(() => {})
    if (this.#upload !== undefined) return
    this.#upload = await createUpload(client, this.#key, this.#signal)
    if (plan !== undefined) await ledger?.remember(this.name, this.#upload, plan)
  }

  needed(start: number, end: number): (readonly [number, number])[] {
    const found: [number, number][] = []
    for (let at = start; at < end; ) {
      const part = this.#partAt(at)
      const to = Math.min(part.end, end)
      const last = found.at(-1)
      if (this.#isMissing(part)) {
        if (last?.[1] === at) last[1] = to
        else found.push([at, to])
      }
      at = to
    }
    return found
  }

  skip(length: number): void {
    this.position += length
  }

  /** Bytes that are not needed are dropped. The promise waits while too many parts are on their way. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#assertOpen()
    this.#copies.check()
    for (let done = 0; done < bytes.byteLength; ) {
      const part = this.#partAt(this.position)
      const count = Math.min(bytes.byteLength - done, part.end - this.position)
      if (this.#isMissing(part)) await this.#fill(part, bytes.subarray(done, done + count))
      else this.position += count
      done += count
    }
  }

  async #fill(part: Part, bytes: Uint8Array): Promise<void> {
    if (this.#current?.part !== part) this.#current = { part, bytes: this.#takeBuffer(part.end - part.start) }
    this.#current.bytes.set(bytes, this.position - part.start)
    this.position += bytes.byteLength
    if (this.position < part.end) return
    const full = this.#current.bytes
    this.#current = undefined
    if (part.isLate || this.#isOnePart) this.#hold(part, full)
    else await this.#put(part, full)
  }

  /** All of it is written before it is sent. */
  #takeBuffer(length: number): Uint8Array<ArrayBuffer> {
    const fit = this.#free.findIndex((each) => each.byteLength === length)
    return fit < 0 ? new Uint8Array(length) : this.#free.splice(fit, 1)[0]!
  }

  #hold(part: Part, bytes: Uint8Array<ArrayBuffer>): void {
    this.#held.set(part.number, bytes)
    const size = [...this.#held.values()].reduce((sum, each) => sum + each.byteLength, 0)
    if (size > maxHeld && !this.#isOnePart)
      failWith(ioCodes['needs-seek'], {
        file: this.name,
        message: `checksums lie before the data in too many places to hold all of them back (${this.#held.size} parts); write a file and upload that`,
      })
  }

  /** Waits until fewer parts are on their way. */
  async #put(part: Part, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const { client } = this.#shared
    this.#upload ??= await createUpload(client, this.#key, this.#signal)
    await this.#uploads.run(async () => {
      const etag = await uploadPart(client, this.#key, this.#upload!, part.number, bytes, this.#signal)
      this.#etags.set(part.number, etag)
      if (this.#free.length < maxFree) this.#free.push(bytes)
    })
  }

  #copy(part: Part): void {
    const { client } = this.#shared
    this.#copies.queue(async () => {
      const length = part.end - part.start
      const etag = await copyPart(client, this.#key, this.#upload!, part.number, part.copy!, length, this.#signal)
      this.#etags.set(part.number, etag)
    })
  }

  get #isOnePart(): boolean {
    return this.#parts?.length === 1 && this.#upload === undefined
  }

  #isMissing({ number, copy }: Part): boolean {
    return !copy && !this.#etags.has(number)
  }

  /** Without a plan, parts of one size. */
  #partAt(offset: number): Part {
    const parts = this.#parts
    if (!parts) {
      const size = this.#shared.options.sizes?.upload ?? 8 << 20
      const start = offset - (offset % size)
      if (this.#current?.part.start === start) return this.#current.part
      return { number: start / size + 1, start, end: start + size }
    }
    if (offset < parts[this.#index]!.start) this.#index = 0
    while (parts[this.#index]!.end <= offset && this.#index < parts.length - 1) this.#index++
    return parts[this.#index]!
  }

  async patch(offset: number, bytes: Uint8Array): Promise<void> {
    this.#assertOpen()
    for (let done = 0; done < bytes.byteLength; ) {
      const part = this.#partAt(offset + done)
      const target = this.#current?.part === part ? this.#current.bytes : this.#held.get(part.number)
      if (!target) {
        const message = `bytes at ${offset + done} are to be changed, and their part is uploaded already`
        return failWith(ioCodes['needs-seek'], { file: this.name, offset: offset + done, message })
      }
      const count = Math.min(bytes.byteLength - done, part.end - offset - done)
      target.set(bytes.subarray(done, done + count), offset + done - part.start)
      done += count
    }
  }

  async sibling(name: string): Promise<S3Sink> {
    this.#assertOpen()
    if (!isPlainFileName(name))
      failWith(ioCodes['unsafe-path'], { file: this.name, message: `${JSON.stringify(name)} is not a plain file name` })
    const key = this.#key.slice(0, this.#key.lastIndexOf('/') + 1) + name
    if (this.#shared.sinks.some((sink) => sink.#key === key))
      failWith(ioCodes.exists, { file: this.name, message: `two files of the output are called ${name}` })
    return S3Sink.#create(key, this.#shared)
  }

  async reopen(made: () => ByteSource): Promise<ByteSource> {
    return made()
  }

  /** A sibling is then complete and waits for the main object, which makes all of them visible. */
  async close(): Promise<void> {
    const { sinks, options } = this.#shared
    await this.#finish()
    if (this !== sinks[0]) return
    for (const sink of sinks) await sink.#assertSourcesUnchanged()
    await options.beforeCommit?.()
    for (const sink of [...sinks.slice(1), this]) await sink.#complete()
    this.#shared.isEnded = true
    this.#shared.end()
  }

  /** All parts are in the store, or will be with the last request. */
  async #finish(): Promise<void> {
    if (this.#isFinished) return
    this.#assertOpen()
    if (this.#current) {
      const { part, bytes } = this.#current
      this.#current = undefined
      const rest = { ...part, end: this.position }
      if (part.number === 1 && this.#upload === undefined) this.#held.set(1, bytes.slice(0, rest.end - rest.start))
      else await this.#put(rest, bytes.slice(0, rest.end - rest.start))
    }
    if (this.#upload !== undefined) {
      for (const [number, bytes] of this.#held) await this.#put(this.#partNumbered(number), bytes)
      this.#held.clear()
    }
    await Promise.all([this.#uploads.drain(), this.#copies.drain()])
    this.#free.length = 0
    this.#isFinished = true
  }

  #partNumbered(number: number): Part {
    return this.#parts?.[number - 1] ?? { number, start: 0, end: 0 }
  }

  async #assertSourcesUnchanged(): Promise<void> {
    const objects = new Set<StoredObject>()
    for (const { copy } of this.#parts ?? []) if (copy) objects.add(copy.object)
    for (const object of objects) {
      await assertSameObject(this.#shared.client.forBucket(object.bucket), object, this.#signal)
    }
  }

  async #complete(): Promise<void> {
    const { client, options } = this.#shared
    const isNew = options.overwrite === false
    checkAborted(this.#signal, this.name)
    if (isNew) await this.#assertAbsent()
    if (this.#upload === undefined) {
      const body = this.#held.get(1) ?? new Uint8Array()
      if (!(await putObject(client, this.#key, body, isNew, this.#signal))) this.#failExists()
      this.#held.clear()
      return
    }
    const etags = [...this.#etags].sort(([a], [b]) => a - b).map(([, etag]) => etag)
    const completion = { etags, size: this.position, isNew }
    if (!(await completeUpload(client, this.#key, this.#upload, completion, this.#signal))) this.#failExists()
    this.#upload = undefined
    await options.ledger?.forget(this.name)
  }

  /** Leaves no upload behind, unless it is to be continued. */
  async abort(): Promise<void> {
    if (this.#shared.isEnded) return
    this.#shared.isEnded = true
    this.#shared.stop.abort()
    for (const sink of this.#shared.sinks) await sink.#discard()
    this.#shared.end()
  }

  async #discard(): Promise<void> {
    const { client, options } = this.#shared
    await Promise.all([this.#uploads.drain(), this.#copies.drain()]).catch(() => {})
    this.#held.clear()
    this.#free.length = 0
    this.#current = undefined
    if (this.#upload === undefined || options.resume) return
    await abortUpload(client, this.#key, this.#upload, AbortSignal.timeout(10_000)).catch(() => {})
    await options.ledger?.forget(this.name)
  }

  #assertOpen(): void {
    if (this.#shared.isEnded) failWith(ioCodes.aborted, { file: this.name, message: 'this output was given up' })
  }
}
