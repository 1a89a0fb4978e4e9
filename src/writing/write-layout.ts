// The one place that writes files. It streams slots into a sink, computes the digests that the layout asks for in the same pass,
// reports progress, and sees to it that a failure at any moment leaves nothing behind.
import { type ByteSink, type ByteSource, checkAborted, defaultWindow } from '../bytes/index.js'
import type { Algorithm } from '../digest/index.js'
import { failWith, ioCodes, writeCodes } from '../errors/index.js'
import { type FileLayout, fileLength, type Layout, type PayloadSlot } from '../model/layout.js'
import type { WorkerPool } from '../threads/index.js'
import { DigestPass } from './digest-pass.js'
import { EarlyStart } from './early-start.js'

export interface WriteProgress {
  readonly done: number
  readonly total: number
  readonly path: string
}

export interface WriteLayoutOptions {
  readonly signal?: AbortSignal | undefined
  readonly window?: number
  readonly onProgress?: ((progress: WriteProgress) => void) | undefined
  /** Digests of whole files, computed while they are written. */
  readonly digests?: readonly Algorithm[]
  /** Long ranges are hashed by other threads. */
  readonly pool?: WorkerPool | undefined
  /**
   * Looks at the output before it becomes visible, where the sink lets it be read; what it throws undoes the output. Closes the source that
   * it is given.
   */
  readonly beforeCommit?: ((written: ByteSource) => Promise<void>) | undefined
}

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
  const digests = await DigestPass.start(file, options.digests ?? [], options.pool)
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
  const put = async (bytes: Uint8Array, path: string): Promise<void> => {
    checkAborted(options.signal, sink.name)
    const beginning = digests.prepare(bytes.byteLength)
    if (beginning) await beginning
    if (digests.isIdle && sink.writeNow?.(bytes)) await digests.update(bytes)
    else {
      const pending = sink.write(bytes)
      pending.catch(() => {}) // it is looked at when the digests have the bytes
      await digests.update(bytes)
      await pending
    }
    advance(bytes.byteLength, path)
  }
  if (digests.needsPatches && !sink.canPatch)
    failWith(ioCodes['needs-seek'], { file: sink.name, message: 'the format puts checksums before the data' })
  const early = new EarlyStart(file.slots, window, options.signal)
  try {
    let place = 0
    for (const slot of file.slots) {
      if (slot.kind === 'bytes') await put(slot.bytes, slot.path)
      else if (slot.kind === 'zeros') await putZeros(slot.length, window, (bytes) => put(bytes, slot.path))
      else if (slot.kind === 'digest')
        await put((await digests.valueFor(slot)) ?? new Uint8Array(slot.length), slot.path)
      else await putPayload(slot, early.chunks(place, slot.payload), put, sink.name)
      for (const patch of digests.takeReady()) await sink.patch(patch.offset, patch.bytes)
      place++
    }
  } finally {
    await early.end()
  }
  for (const patch of await digests.patches()) await sink.patch(patch.offset, patch.bytes)
  return { name: file.name, size: sink.position, digests: await digests.whole() }
}

async function putZeros(length: number, window: number, put: (bytes: Uint8Array) => Promise<void>): Promise<void> {
  const zeros = new Uint8Array(Math.min(length, window))
  for (let left = length; left > 0; left -= zeros.byteLength)
    await put(zeros.subarray(0, Math.min(left, zeros.byteLength)))
}

async function putPayload(
  { payload, path }: PayloadSlot,
  chunks: AsyncIterable<Uint8Array>,
  put: (bytes: Uint8Array, path: string) => Promise<void>,
  file: string,
): Promise<void> {
  let given = 0
  for await (const chunk of chunks) {
    given += chunk.byteLength
    if (given > payload.byteLength) break
    await put(chunk, path)
  }
  if (given !== payload.byteLength) {
    const message = `the payload declared ${payload.byteLength} bytes and gave ${given > payload.byteLength ? 'more' : given}`
    failWith(writeCodes['layout-mismatch'], { file, path, message })
  }
}
