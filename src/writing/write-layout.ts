// The one place that writes files. It streams slots into a sink, computes the digests that the layout asks for in the same pass,
// reports progress, and makes sure that a failure at any moment leaves nothing behind.
import {
  type ByteSink,
  type ByteSource,
  checkAborted,
  defaultWindow,
  streamRange,
  type Transfer,
} from '../bytes/index.js'
import type { Algorithm } from '../digest/index.js'
import { failWith, ioCodes, writeCodes } from '../errors/index.js'
import {
  type DigestSlot,
  type FileLayout,
  fileLength,
  type Layout,
  type PayloadSlot,
  slotLength,
  type ZerosSlot,
} from '../model/layout.js'
import type { Payload } from '../model/payload.js'
import type { WorkerPool } from '../threads/index.js'
import { DigestPass } from './digest-pass.js'
import { isLateDigest, layoutSource, type MadeFile, piecesOf } from './layout-source.js'
import { bytesOf, EarlyStart, readRange, type SlotRun, slotRuns } from './read-slots.js'

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
  /** Sees sizes and digests before the output becomes visible; an exception removes it. */
  readonly onWritten?: ((files: readonly WrittenFile[]) => void) | undefined
}

/** A file that was written. */
export interface WrittenFile {
  readonly name: string
  readonly size: number
  readonly digests: Readonly<Partial<Record<Algorithm, Uint8Array>>>
  /** Set if the output is an object of a store: what the store copied by itself, and what was uploaded. */
  readonly transfer?: Transfer | undefined
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
    const made: MadeFile[] = []
    const write = async (file: FileLayout, to: ByteSink): Promise<WrittenFile> => {
      const digests = new Map<number, Uint8Array>()
      made.push({ file, digests })
      return writeFile(file, to, options, advance, digests)
    }
    for (const file of others) {
      if (!sink.sibling)
        failWith(ioCodes['needs-folder'], {
          file: sink.name,
          message: `${layout.files.length} files are to be written`,
        })
      const sibling = await sink.sibling(file.name)
      written.push(await write(file, sibling))
      await sibling.close()
    }
    written.unshift(await write(main, sink))
    checkAborted(options.signal, sink.name)
    options.onWritten?.(written)
    if (options.beforeCommit && sink.reopen) {
      const [last, ...rest] = made.toReversed() as [MadeFile, ...MadeFile[]]
      await options.beforeCommit(await sink.reopen(() => layoutSource([last, ...rest], sink.name)))
    }
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
  found: Map<number, Uint8Array>,
): Promise<WrittenFile> {
  const digests = new DigestPass(file, options.digests ?? [], options.pool)
  try {
    await sink.expect?.(piecesOf(file, isLateDigest))
    return await writeSlots(file, sink, digests, options, advance, found)
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
  found: Map<number, Uint8Array>,
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
      if (sink.needed && canPass(run, sink, digests)) {
        for (const slot of run.slots) {
          sink.skip!(slotLength(slot))
          digests.skip(slotLength(slot))
          advance(slotLength(slot), slot.path)
        }
        index += run.slots.length
        await early.end()
        continue
      }
      const near = run.range && (await readRange(run.range, options.signal))
      for (const slot of run.slots) {
        const putting =
          slot.kind === 'bytes'
            ? put(slot.bytes, slot.path)
            : slot.kind === 'zeros'
              ? putZeros(slot, window, put)
              : slot.kind === 'digest'
                ? putDigest(slot, digests, put, (bytes) => sink.expect && found.set(sink.position, bytes))
                : near
                  ? put(bytesOf(slot.payload, run.range!, near), slot.path)
                  : sink.needed && canCut(slot.payload, digests)
                    ? putNeeded(slot, sink, digests, window, put, advance, options.signal)
                    : putPayload(slot, early.chunks(index, slot.payload), put, sink.name)
        if (putting) await putting
        for (const { offset, bytes } of digests.takeReady()) {
          if (sink.expect) found.set(offset, bytes)
          if (!sink.patchNow?.(offset, bytes)) await sink.patch(offset, bytes)
        }
        index++
      }
    }
  } finally {
    await early.end()
  }
  for (const { offset, bytes } of await digests.patches()) {
    if (sink.expect) found.set(offset, bytes)
    await sink.patch(offset, bytes)
  }
  const { transfer } = sink
  return { name: file.name, size: sink.position, digests: await digests.whole(), ...(transfer && { transfer }) }
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

function putDigest(
  slot: DigestSlot,
  digests: DigestPass,
  put: Put,
  remember: (bytes: Uint8Array) => void,
): undefined | Promise<void> {
  const digest = digests.valueFor(slot)
  if (digest instanceof Promise)
    return digest.then((bytes) => {
      remember(bytes)
      return put(bytes, slot.path)
    })
  if (digest) remember(digest)
  return put(digest ?? new Uint8Array(slot.length), slot.path)
}

/** Whether all bytes of a run are there without being written, and nothing else wants them. */
function canPass({ slots }: SlotRun, sink: ByteSink, digests: DigestPass): boolean {
  if (slots.some(({ kind }) => kind === 'digest')) return false
  const length = slots.reduce((sum, slot) => sum + slotLength(slot), 0)
  return digests.canSkip(length) && sink.needed!(sink.position, sink.position + length).length === 0
}

const canCut = ({ slices, byteLength }: Payload, digests: DigestPass): boolean =>
  slices?.unit === 1 && digests.canSkip(byteLength)

/** Writes the parts of a payload that the sink needs, and passes the others. */
async function putNeeded(
  { payload, path, ...slot }: PayloadSlot,
  sink: ByteSink,
  digests: DigestPass,
  window: number,
  put: Put,
  advance: (bytes: number, path: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const start = sink.position
  const end = start + payload.byteLength
  const pass = (to: number): void => {
    const length = to - sink.position
    digests.skip(length)
    sink.skip!(length)
    advance(length, path)
  }
  for (const [from, to] of sink.needed!(start, end)) {
    pass(from)
    const part = payload.slices!.take(from - start, to - from)
    // What lies behind it is passed.
    const isLast = to < end
    const chunks = part.origin ? streamRange(part.origin, window, signal, isLast) : part.chunks(window, signal)
    await putPayload({ ...slot, path, payload: part }, chunks, put, sink.name)
  }
  pass(end)
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
