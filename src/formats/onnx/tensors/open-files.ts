// A model can have a file for every tensor, and so more files than a process may hold open. The first ones stay open. Of the others only a
// few are open at a time: the least recently read one is closed, and opened again when it is read.
import type { ByteSource, ReadOptions } from '../../../bytes/index.js'
import { failWith } from '../../../errors/index.js'
import { ownCodes as codes } from '../codes.js'

type Open = () => Promise<ByteSource>

export class OpenFiles {
  /** All that were opened. */
  readonly all: ByteSource[] = []
  readonly #maxPinned: number
  readonly #maxCached: number
  /** Files that are open and may be closed, the one that was read last at the end. */
  readonly #recent = new Set<CachedFile>()

  constructor(maxPinned = 64, maxCached = 32) {
    this.#maxPinned = maxPinned
    this.#maxCached = maxCached
  }

  async add(open: Open): Promise<ByteSource> {
    const source = await open()
    const file = this.all.length < this.#maxPinned ? source : new CachedFile(source, open, this)
    this.all.push(file)
    if (file instanceof CachedFile) await this.touch(file)
    return file
  }

  /** Makes room for a file that is in use now. */
  async touch(file: CachedFile): Promise<void> {
    this.#recent.delete(file)
    this.#recent.add(file)
    const idle = [...this.#recent].filter((each) => each !== file && !each.isBusy)
    const excess = Math.max(0, this.#recent.size - this.#maxCached)
    for (const each of idle.slice(0, excess)) {
      this.#recent.delete(each)
      await each.close()
    }
  }

  forget(file: CachedFile): void {
    this.#recent.delete(file)
  }
}

/** Has no handle: the file may be closed here while a thread still holds on to it. */
class CachedFile implements ByteSource {
  readonly name: string
  readonly size: number
  readonly #open: Open
  readonly #files: OpenFiles
  #source: Promise<ByteSource> | undefined
  /** The same, once it is open. */
  #current: ByteSource | undefined
  #readers = 0

  constructor(source: ByteSource, open: Open, files: OpenFiles) {
    this.name = source.name
    this.size = source.size
    this.#source = Promise.resolve(source)
    this.#current = source
    this.#open = open
    this.#files = files
  }

  get isBusy(): boolean {
    return this.#readers > 0
  }

  async read(offset: number, length: number, options?: ReadOptions): Promise<Uint8Array> {
    this.#readers++
    try {
      this.#source ??= this.#reopen()
      const source = await this.#source
      await this.#files.touch(this)
      return await source.read(offset, length, options)
    } finally {
      this.#readers--
    }
  }

  async #reopen(): Promise<ByteSource> {
    try {
      const source = await this.#open()
      if (source.size === this.size) {
        this.#current = source
        return source
      }
      await source.close()
      const message = `it had ${this.size} bytes when the model was opened, and has ${source.size} now`
      return failWith(codes['external-range'], { file: this.name, path: 'external_data', message })
    } catch (error) {
      this.#source = undefined
      throw error
    }
  }

  async close(): Promise<void> {
    this.#files.forget(this)
    const [opening, current] = [this.#source, this.#current]
    this.#source = undefined
    this.#current = undefined
    // Closed at once where that is possible: the next read must not get the same source again.
    await (current ?? (await opening))?.close()
  }
}
