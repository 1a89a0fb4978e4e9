import { existsSync, type Stats } from 'node:fs'
import { type FileHandle, realpath } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import {
  type ByteSource,
  checkAborted,
  checkRange,
  isPathBelow,
  isPlainFileName,
  type ReadOptions,
  type SourceFolder,
  type SourceHandle,
} from '../../bytes/index.js'
import { failWith, ioCodes } from '../../errors/index.js'
import { Descriptor, DescriptorReads } from './descriptors.js'
import { ioError, withIoErrors } from './io-error.js'
import { assertNotEdited, behindLinks, setJournalFor } from './temp-files.js'

/** The maximum of one system call, so that cancelling a read of a huge range takes effect soon. */
const pieceBytes = 16 << 20

/** Smaller buffers are not aligned. */
const largeBytes = 64 << 10

/**
 * A regular file. It stays open while there are descriptors to spare, and is reopened on the next read otherwise. Its size and time are
 * remembered, so that `assertUnchanged` can tell whether all bytes belong to one state of the file.
 */
export class FileSource implements ByteSource {
  readonly name: string
  readonly path: string
  readonly size: number
  /** Set if the file was opened as part of a directory. */
  folder?: SourceFolder
  readonly #file: Descriptor
  readonly #reads: DescriptorReads
  readonly #opened: Stats
  /** Paths of siblings that do not have their final name yet. */
  readonly #paths: ReadonlyMap<string, string>
  readonly #siblings = new Map<string, Promise<FileSource>>()
  #closed: Promise<void> | undefined

  private constructor(name: string, path: string, file: Descriptor, paths: ReadonlyMap<string, string>) {
    this.name = name
    this.path = path
    this.size = file.stats.size
    this.#file = file
    this.#reads = new DescriptorReads(file)
    this.#opened = file.stats
    this.#paths = paths
  }

  /** Opens `path`; `name` is used in messages. `paths` says where siblings are that do not have their final name yet. */
  static async open(path: string, name = path, paths: ReadonlyMap<string, string> = new Map()): Promise<FileSource> {
    const target = await behindLinks(path).catch(() => path)
    await finishReplacing(target)
    const source = await FileSource.#from(new Descriptor(path, name), path, name, paths)
    try {
      assertNotEdited(target, name)
      return source
    } catch (error) {
      await source.close()
      throw error
    }
  }

  /** Takes ownership of a handle, and closes it if it is not a regular file. */
  static fromHandle(handle: FileHandle, path: string, name = path): Promise<FileSource> {
    return FileSource.#from(new Descriptor(path, name, handle), path, name, new Map())
  }

  static async #from(
    file: Descriptor,
    path: string,
    name: string,
    paths: ReadonlyMap<string, string>,
  ): Promise<FileSource> {
    try {
      if (file.stats.isFile()) return new FileSource(name, path, file, paths)
      failWith(ioCodes['not-a-file'], { file: name, message: `this is ${kindOf(file.stats)}` })
    } catch (error) {
      await file.close()
      throw ioError(error, name)
    }
  }

  /** Descriptors belong to the process, so all of its threads can read from them. */
  get handle(): SourceHandle | undefined {
    const descriptor = this.#file.pin()
    return descriptor === undefined ? undefined : { kind: 'descriptor', name: this.name, size: this.size, descriptor }
  }

  /** To the millisecond: file systems that machines share differ in what they keep beyond it. */
  get version(): string {
    return new Date(Math.floor(this.#opened.mtimeMs)).toISOString()
  }

  async read(offset: number, length: number, options?: ReadOptions): Promise<Uint8Array> {
    checkRange(this, offset, length)
    const target = length <= largeBytes ? new Uint8Array(length) : alignedBytes(length)
    await this.#fill(offset, target, options?.signal)
    return target
  }

  async readInto(offset: number, target: Uint8Array, options?: ReadOptions): Promise<void> {
    checkRange(this, offset, target.byteLength)
    await this.#fill(offset, target, options?.signal)
  }

  /** The system may return less than requested; only the end of the file makes that final. */
  async #fill(offset: number, target: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
    const length = target.byteLength
    for (let done = 0; done < length; ) {
      checkAborted(signal, this.name)
      const got = await this.#readSome(offset + done, target, done, Math.min(length - done, pieceBytes))
      if (got === 0) {
        const message = `${length} bytes were requested, but the file now ends after ${done} of them; it had ${this.size} bytes when it was opened`
        failWith(ioCodes['short-read'], { file: this.name, offset, length, message })
      }
      done += got
    }
  }

  async #readSome(position: number, target: Uint8Array, start: number, length: number): Promise<number> {
    try {
      return await this.#reads.read(target, start, length, position)
    } catch (error) {
      throw ioError(error, this.name)
    }
  }

  /** Opened once, and closed together with this file. */
  async sibling(name: string): Promise<ByteSource> {
    if (!isPlainFileName(name))
      failWith(ioCodes['unsafe-path'], { file: this.name, message: `${JSON.stringify(name)} is not a plain file name` })
    return this.below(name)
  }

  async below(path: string): Promise<ByteSource> {
    const known = this.#siblings.get(path)
    if (known && !(await known).isClosed) return known
    const opening = this.#openBelow(path)
    this.#siblings.set(path, opening)
    opening.catch(() => this.#siblings.delete(path))
    return opening
  }

  async #openBelow(name: string): Promise<FileSource> {
    if (!isPathBelow(name))
      failWith(ioCodes['unsafe-path'], { file: this.name, message: `${JSON.stringify(name)} leads elsewhere` })
    const path = this.#paths.get(name) ?? join(dirname(this.path), name)
    const shown = join(dirname(this.name), name)
    await assertContained(this.path, path, shown)
    return FileSource.open(path, shown, this.#paths)
  }

  /** The paths of this file and of all opened siblings. */
  async openPaths(): Promise<string[]> {
    const siblings = await this.#openSiblings()
    return [this.path, ...siblings.map((each) => each.path)]
  }

  /** Throws if this file, or an opened sibling, has changed since it was opened. */
  async assertUnchanged(): Promise<void> {
    const now = await withIoErrors(this.name, async () => this.#file.statNow())
    const { size, mtimeMs } = this.#opened
    if (now.size !== size || now.mtimeMs !== mtimeMs) {
      const what = now.size !== size ? `it had ${size} bytes and now has ${now.size}` : 'it was written to'
      failWith(ioCodes.changed, { file: this.name, message: `the file changed while it was read: ${what}` })
    }
    for (const sibling of await this.#openSiblings()) if (!sibling.isClosed) await sibling.assertUnchanged()
  }

  async #openSiblings(): Promise<FileSource[]> {
    const settled = await Promise.allSettled(this.#siblings.values())
    return settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  }

  /** A closed sibling is opened again on request. */
  get isClosed(): boolean {
    return this.#closed !== undefined
  }

  /** Closes the file. Later reads fail. */
  close(): Promise<void> {
    this.#closed ??= (async () => {
      for (const sibling of await this.#openSiblings()) await sibling.close()
      await withIoErrors(this.name, () => this.#file.close())
    })()
    return this.#closed
  }
}

/**
 * Memory for results. Large buffers start 16 bytes after a page boundary, where the system copies into them at a fraction of its speed; 48
 * bytes further is the start of a cache line.
 */
function alignedBytes(length: number): Uint8Array {
  return new Uint8Array(new ArrayBuffer(length + 64), 48, length)
}

/**
 * A symbolic link among the files of a model must not lead to arbitrary files. It must stay in the directory of the model: that of the main
 * file as named or, since download caches keep whole models as links into one store, that of the link's target.
 */
async function assertContained(main: string, sibling: string, shown: string): Promise<void> {
  const target = await withIoErrors(shown, () => realpath(sibling))
  const homes = await withIoErrors(shown, async () => [await realpath(dirname(main)), dirname(await realpath(main))])
  if (homes.some((home) => target.startsWith(home.endsWith(sep) ? home : home + sep))) return
  const message = `${basename(sibling)} is a link that leads out of the model's directory, to ${target}`
  failWith(ioCodes['unsafe-path'], { file: shown, message })
}

export function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a directory'
  if (stats.isFIFO()) return 'a pipe'
  if (stats.isSocket()) return 'a socket'
  return stats.isCharacterDevice() || stats.isBlockDevice() ? 'a device' : 'not a regular file'
}

/** Completes an interrupted replacement of the set with this main file. */
export async function finishReplacing(main: string): Promise<void> {
  const journal = setJournalFor(main)
  if (existsSync(journal)) (await import('./replace-files.js')).recover(journal)
}
