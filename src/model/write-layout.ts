// The one place that writes files. It streams slots into a sink, computes the digests that the layout asks for in the same pass,
// reports progress, and sees to it that a failure at any moment leaves nothing behind.
import { type ByteSink, checkAborted, defaultWindow } from '../bytes/index.js'
import { type Algorithm, createHasher, type Hasher } from '../digest/index.js'
import { failWith, ioCodes, writeCodes } from '../errors/index.js'
import { type DigestSlot, type FileLayout, fileLength, type Layout, type Slot, slotLength } from './layout.js'
import type { Payload } from './payload.js'

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
  const window = options.window ?? defaultWindow
  const digests = await DigestPass.start(file, options.digests ?? [])
  const put = async (bytes: Uint8Array, path: string): Promise<void> => {
    checkAborted(options.signal, sink.name)
    const pending = sink.write(bytes)
    digests.update(bytes)
    await pending
    advance(bytes.byteLength, path)
  }
  for (const slot of file.slots) {
    if (slot.kind === 'bytes') await put(slot.bytes, slot.path)
    else if (slot.kind === 'zeros') await putZeros(slot.length, window, (bytes) => put(bytes, slot.path))
    else if (slot.kind === 'digest') await put(digests.valueFor(slot) ?? new Uint8Array(slot.length), slot.path)
    else await putPayload(slot.payload, slot.path, window, put, sink.name, options.signal)
  }
  const patches = digests.patches()
  if (patches.length > 0 && !sink.canPatch) {
    failWith(ioCodes['needs-seek'], { file: sink.name, message: 'the format puts checksums before the data' })
  }
  for (const patch of patches) await sink.patch(patch.offset, patch.bytes)
  return { name: file.name, size: sink.position, digests: digests.whole() }
}

async function putZeros(length: number, window: number, put: (bytes: Uint8Array) => Promise<void>): Promise<void> {
  const zeros = new Uint8Array(Math.min(length, window))
  for (let left = length; left > 0; left -= zeros.byteLength)
    await put(zeros.subarray(0, Math.min(left, zeros.byteLength)))
}

async function putPayload(
  payload: Payload,
  path: string,
  window: number,
  put: (bytes: Uint8Array, path: string) => Promise<void>,
  file: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  let given = 0
  for await (const chunk of payload.chunks(window, signal)) {
    given += chunk.byteLength
    if (given > payload.byteLength) break
    await put(chunk, path)
  }
  if (given !== payload.byteLength) {
    const message = `the payload declared ${payload.byteLength} bytes and gave ${given > payload.byteLength ? 'more' : given}`
    failWith(writeCodes['layout-mismatch'], { file, path, message })
  }
}

interface ActiveDigest {
  readonly slot: DigestSlot
  readonly offset: number
  readonly hasher: Hasher
}

/** Feeds the bytes that go by to every digest that covers them. */
class DigestPass {
  #position = 0
  readonly #active: ActiveDigest[] = []
  readonly #late: ActiveDigest[] = []
  readonly #whole = new Map<Algorithm, Hasher>()

  static async start(file: FileLayout, whole: readonly Algorithm[]): Promise<DigestPass> {
    const pass = new DigestPass()
    let offset = 0
    for (const slot of file.slots) {
      if (slot.kind === 'digest') pass.#active.push({ slot, offset, hasher: await createHasher(slot.algorithm) })
      offset += slotLength(slot)
    }
    for (const active of pass.#active) {
      const end = active.slot.covers.at(-1)?.[1] ?? 0
      if (end > active.offset) pass.#late.push(active)
    }
    if (pass.#late.some((late) => coversAnother(late, file.slots)))
      throw new Error('a late digest covers another late digest')
    for (const algorithm of whole) pass.#whole.set(algorithm, await createHasher(algorithm))
    return pass
  }

  update(bytes: Uint8Array): void {
    const start = this.#position
    const end = start + bytes.byteLength
    this.#position = end
    for (const hasher of this.#whole.values()) hasher.update(bytes)
    for (const { slot, hasher } of this.#active) {
      for (const [from, to] of slot.covers) {
        const low = Math.max(start, from)
        const high = Math.min(end, to)
        if (low < high) hasher.update(masked(bytes.subarray(low - start, high - start), low, slot.masked))
      }
    }
  }

  /** The stored form, when all covered bytes have gone by. */
  valueFor(slot: DigestSlot): Uint8Array | undefined {
    const active = this.#active.find((each) => each.slot === slot)!
    return this.#late.includes(active) ? undefined : stored(active)
  }

  patches(): { offset: number; bytes: Uint8Array }[] {
    return this.#late.map((active) => ({ offset: active.offset, bytes: stored(active) }))
  }

  /** Whole-file digests are only right when nothing is patched afterwards. */
  whole(): Partial<Record<Algorithm, Uint8Array>> {
    if (this.#late.length > 0) return {}
    return Object.fromEntries([...this.#whole].map(([algorithm, hasher]) => [algorithm, hasher.digest()]))
  }
}

function stored(active: ActiveDigest): Uint8Array {
  const digest = active.hasher.digest()
  return active.slot.encode ? active.slot.encode(digest) : digest
}

function coversAnother(late: ActiveDigest, slots: readonly Slot[]): boolean {
  let offset = 0
  for (const slot of slots) {
    const end = offset + slotLength(slot)
    const isLateDigest = slot.kind === 'digest' && (slot.covers.at(-1)?.[1] ?? 0) > offset
    if (isLateDigest && touches(late.slot.covers, offset, end) && !touches(late.slot.masked ?? [], offset, end))
      return true
    offset = end
  }
  return false
}

const touches = (ranges: readonly (readonly [number, number])[], start: number, end: number): boolean =>
  ranges.some(([from, to]) => from < end && to > start)

function masked(bytes: Uint8Array, offset: number, ranges: DigestSlot['masked']): Uint8Array {
  const hit = ranges?.filter(([from, to]) => from < offset + bytes.byteLength && to > offset)
  if (!hit?.length) return bytes
  const copy = bytes.slice()
  for (const [from, to] of hit) copy.fill(0, Math.max(0, from - offset), Math.max(0, to - offset))
  return copy
}
