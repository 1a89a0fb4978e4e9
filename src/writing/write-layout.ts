// The one place that writes files. It streams slots into a sink, computes the digests that the layout asks for in the same pass,
// reports progress, and makes sure that a failure at any moment leaves nothing behind.
import { type ByteRange, type ByteSink, type ByteSource, checkAborted, defaultWindow } from '../bytes/index.js'
import type { Algorithm } from '../digest/index.js'
import { failWith, ioCodes, writeCodes } from '../errors/index.js'
import {
  type DigestSlot,
  type FileLayout,
  fileLength,
  type Layout,
  type PayloadSlot,
  type Slot,
  type ZerosSlot,
} from '../model/layout.js'
import type { Payload } from '../model/payload.js'
import type { WorkerPool } from '../threads/index.js'
import { DigestPass } from './digest-pass.js'

export interface WriteProgress {
  readonly done: number
  readonly total: number
  readonly path: string
}

export interface WriteLayoutOptions {
  readonly signal?: AbortSignal | undefined
  readonly window?: number
  /** Called as bytes are written. */
  readonly onProgress?: ((progress: WriteProgress) => void) | undefined
  /** Digests of whole files, computed while they are written. */
  readonly digests?: readonly Algorithm[]
  /** Long ranges are hashed by other threads. */
  readonly pool?: WorkerPool | undefined
  /**
   * Checks the output before it becomes visible, where the sink can read it back; an exception removes the output. It must close the source.
   */
  readonly beforeCommit?: ((written: ByteSource) => Promise<void>) | undefined
}

/** A file that was written. */
export interface WrittenFile {
  readonly name: string
  readonly size: number
  readonly digests: Readonly<Partial<Record<Algorithm, Uint8Array>>>
}

/** Writes all files of a layout. `open` makes the sink of the first file; the others are its siblings. */
export async function writeLayout(
  layout: Layout,
  open: (name: string) => Promise<ByteSink>,
  options: WriteLayoutOptions = {},
): Promise<WrittenFile[]> {
  const [main, ...others] = layout.files as readonly [FileLayout, ...FileLayout[]]
  const total = layout.files.reduce((sum, file) => sum + fileLength(file), 0)
  let done = 0
  const advance = (bytes: number, path: string): void => {
    done += bytes
    options.onProgress?.({ done, total, path })
  }
  const sink = await open(main.name)
  try {
    const written: WrittenFile[] = []
    for (const file of others) {
      if (!sink.sibling)
        failWith(ioCodes['needs-folder'], {
          file: sink.name,
          message: `${layout.files.length} files are to be written`,
        })
      const sibling = await sink.sibling(file.name)
      written.push(await writeFile(file, sibling, options, advance))
      await sibling.close()
    }
    written.unshift(await writeFile(main, sink, options, advance))
    checkAborted(options.signal, sink.name)
    if (options.beforeCommit && sink.reopen) await options.beforeCommit(await sink.reopen())
    await sink.close()
    return written
  } catch (error) {
    await sink.abort(error)
    throw error
  }
}

async function writeFile(
  file: FileLayout,
  sink: ByteSink,
  options: WriteLayoutOptions,
  advance: (bytes: number, path: string) => void,
): Promise<WrittenFile> {
  const digests = new DigestPass(file, options.digests ?? [], options.pool)
  try {
    return await writeSlots(file, sink, digests, options, advance)
  } catch (error) {
    digests.abort()
    throw error
  }
}

async function writeSlots(
  file: FileLayout,
  sink: ByteSink,
  digests: DigestPass,
  options: WriteLayoutOptions,
  advance: (bytes: number, path: string) => void,
): Promise<WrittenFile> {
  const window = options.window ?? defaultWindow
  const put: Put = (bytes, path) => {
    checkAborted(options.signal, sink.name)
    const starting = digests.prepare(bytes.byteLength)
    return starting ? starting.then(() => putPrepared(bytes, path)) : putPrepared(bytes, path)
  }
  // Most pieces of a model of many tensors are small: those are in the buffer of the sink at once, without a promise.
  const putPrepared: Put = (bytes, path) => {
    const isNow = bytes.byteLength <= smallPiece || digests.isIdle
    if (!isNow || !sink.writeNow?.(bytes)) return putLater(bytes, path)
    const working = digests.update(bytes)
    if (working) return working.then(() => advance(bytes.byteLength, path))
    advance(bytes.byteLength, path)
    return undefined
  }
  const putLater = async (bytes: Uint8Array, path: string): Promise<void> => {
    const pending = sink.write(bytes)
    pending.catch(() => {}) // awaited below, after the digests have taken the bytes
    await digests.update(bytes)
    await pending
    advance(bytes.byteLength, path)
  }
  if (digests.needsPatches && !sink.canPatch)
    failWith(ioCodes['needs-seek'], { file: sink.name, message: 'the format puts checksums before the data' })
  const early = new EarlyStart(file.slots, window, options.signal)
  try {
    let index = 0
    for (const run of slotRuns(file.slots)) {
      const near = run.range && (await readRange(run.range, options.signal))
      for (const slot of run.slots) {
        const putting =
          slot.kind === 'bytes'
            ? put(slot.bytes, slot.path)
            : slot.kind === 'zeros'
              ? putZeros(slot, window, put)
              : slot.kind === 'digest'
                ? putDigest(slot, digests, put)
                : near
                  ? put(bytesOf(slot.payload, run.range!, near), slot.path)
                  : putPayload(slot, early.chunks(index, slot.payload), put, sink.name)
        if (putting) await putting
        for (const { offset, bytes } of digests.takeReady()) {
          if (!sink.patchNow?.(offset, bytes)) await sink.patch(offset, bytes)
        }
        index++
      }
    }
  } finally {
    await early.end()
  }
  for (const patch of await digests.patches()) await sink.patch(patch.offset, patch.bytes)
  return { name: file.name, size: sink.position, digests: await digests.whole() }
}

/** Writes a piece; undefined when that is done already. */
type Put = (bytes: Uint8Array, path: string) => undefined | Promise<void>

const smallPiece = 1 << 16
const zeros = new Uint8Array(64)

function putZeros({ length, path }: ZerosSlot, window: number, put: Put): undefined | Promise<void> {
  return length <= zeros.byteLength ? put(zeros.subarray(0, length), path) : putManyZeros(length, path, window, put)
}

async function putManyZeros(length: number, path: string, window: number, put: Put): Promise<void> {
  const many = new Uint8Array(Math.min(length, window))
  for (let left = length; left > 0; left -= many.byteLength)
    await put(many.subarray(0, Math.min(left, many.byteLength)), path)
}

function putDigest(slot: DigestSlot, digests: DigestPass, put: Put): undefined | Promise<void> {
  const digest = digests.valueFor(slot)
  if (digest instanceof Promise) return digest.then((bytes) => put(bytes, slot.path))
  return put(digest ?? new Uint8Array(slot.length), slot.path)
}

async function putPayload(
  { payload, path }: PayloadSlot,
  chunks: AsyncIterable<Uint8Array>,
  put: Put,
  file: string,
): Promise<void> {
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.byteLength
    if (length > payload.byteLength) break
    await put(chunk, path)
  }
  if (length !== payload.byteLength) {
    const message = `the payload declared ${payload.byteLength} bytes and gave ${length > payload.byteLength ? 'more' : length}`
    failWith(writeCodes['layout-mismatch'], { file, path, message })
  }
}

/** A longer payload keeps all threads busy for so long that idle threads at its end do not matter. */
const longPayload = 1 << 26

interface Started {
  /** The index of its slot. */
  readonly index: number
  readonly chunks: AsyncIterator<Uint8Array>
  readonly first: Promise<IteratorResult<Uint8Array, unknown>>
}

/**
 * Starts the next payload that other threads make while the current one is written; otherwise those threads would be idle while its last
 * pieces are made and written. `end` stops a payload that was started and is not needed after all.
 */
class EarlyStart {
  /** Runs ahead of the writer. */
  readonly #ahead: Iterator<Slot>
  #next = 0
  readonly #window: number
  readonly #signal: AbortSignal | undefined
  #started: Started | undefined

  constructor(slots: Iterable<Slot>, window: number, signal: AbortSignal | undefined) {
    this.#ahead = slots[Symbol.iterator]()
    this.#window = window
    this.#signal = signal
  }

  /** The chunks of the payload of the slot at `index`. */
  chunks(index: number, payload: Payload): AsyncIterable<Uint8Array> {
    return payload.isMadeElsewhere ? this.#made(index, payload) : payload.chunks(this.#window, this.#signal)
  }

  /** Takes the payload that was started before, or starts it now; then starts the next one. */
  async *#made(index: number, payload: Payload): AsyncGenerator<Uint8Array, void, void> {
    const { chunks, first } = this.#started?.index === index ? this.#started : this.#start(index, payload)
    try {
      this.#started = this.#startAfter(index)
      for (let next = await first; !next.done; next = await chunks.next()) yield next.value
    } finally {
      await chunks.return?.()
    }
  }

  #start(index: number, payload: Payload): Started {
    const chunks = payload.chunks(this.#window, this.#signal)[Symbol.asyncIterator]()
    const first = chunks.next()
    first.catch(() => {}) // handled when it is awaited
    return { index, chunks, first }
  }

  #startAfter(index: number): Started | undefined {
    for (let { done, value: slot } = this.#ahead.next(); !done; { done, value: slot } = this.#ahead.next()) {
      const at = this.#next++
      if (at <= index || slot.kind !== 'payload') continue
      const { payload } = slot
      return payload.isMadeElsewhere && payload.byteLength <= longPayload ? this.#start(at, payload) : undefined
    }
    return undefined
  }

  async end(): Promise<void> {
    const started = this.#started
    this.#started = undefined
    await started?.first.catch(() => {})
    await started?.chunks.return?.()
  }
}

// Models have thousands of small tensors, mostly in the order in which they lie in their file. One read brings all that are near each other.

/** Consecutive slots. With a range, it holds the payloads of all of them. */
interface SlotRun {
  readonly slots: readonly Slot[]
  readonly range?: ByteRange
}

const smallPayload = 1 << 16
/** Reading this much in vain costs no more than another read. */
const near = 1 << 12
const maxRange = 1 << 20
const maxSlots = 1 << 8

/** The slots in runs: those whose payloads are small and near each other in one source, and every other slot by itself. */
function* slotRuns(slots: Iterable<Slot>): Generator<SlotRun, void, void> {
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

const readRange = ({ source, offset, length }: ByteRange, signal?: AbortSignal): Promise<Uint8Array> =>
  source.read(offset, length, { signal })

/** The bytes of a payload in the range of its run. */
function bytesOf(payload: Payload, range: ByteRange, bytes: Uint8Array): Uint8Array {
  const at = payload.origin!.offset - range.offset
  return bytes.subarray(at, at + payload.byteLength)
}
