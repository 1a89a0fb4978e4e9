// Output appears completely or not at all. Bytes go to temporary files beside their targets; when the main file is closed everything is
// flushed and renamed, the main file last, since it refers to the others.
import { createWriteStream, mkdirSync, type Stats } from 'node:fs'
import { type FileHandle, open, rmdir, stat, unlink } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { type ByteSink, type ByteSource, isPathBelow } from '../../bytes/index.js'
import { failWith, ioCodes, TareError } from '../../errors/index.js'
import { forgetTemp, trackTemp } from '../unfinished.js'
import { FileSource } from './file-source.js'
import { ioError, withIoErrors } from './io-error.js'
import { replaceFiles, tidyDirectory } from './replace-files.js'
import { StreamSink } from './stream-sink.js'
import { absent, behindLinks, tempNameFor } from './temp-files.js'
import { WriteBehind } from './write-behind.js'

/** What may become of an existing file. */
export interface FileSinkOptions {
  /** False: an existing output is an error. */
  readonly overwrite?: boolean
  /** Called when all bytes are on disk, before anything becomes visible; an exception removes the output, where that is possible. */
  readonly beforeCommit?: () => Promise<void>
}

/** A file of the output, under its temporary name. */
export class FileSink implements ByteSink {
  readonly name: string
  readonly canPatch = true
  readonly target: string
  readonly temp: string
  readonly #transaction: Transaction
  readonly #handle: FileHandle
  readonly #writer: WriteBehind
  #state: 'open' | 'complete' | 'aborted' = 'open'

  private constructor(name: string, target: string, temp: string, handle: FileHandle, transaction: Transaction) {
    this.name = name
    this.target = target
    this.temp = temp
    this.#handle = handle
    this.#writer = new WriteBehind(handle)
    this.#transaction = transaction
  }

  /** Begins an output; it appears under its name when it is closed. */
  static async open(path: string, options: FileSinkOptions = {}): Promise<FileSink> {
    return FileSink.#create(path, new Transaction(options))
  }

  /** `below` is where a file in a folder below waits: that folder is made when everything becomes visible. */
  static async #create(name: string, transaction: Transaction, below?: string): Promise<FileSink> {
    try {
      // A link is kept; the file it points to is replaced.
      const target = await behindLinks(name)
      if (below === undefined) transaction.tidy(dirname(target))
      const replaced = await stat(target).catch(absent)
      if (replaced?.isDirectory()) failWith(ioCodes['not-a-file'], { file: name, message: 'this is a directory' })
      if (replaced && !transaction.options.overwrite)
        failWith(ioCodes.exists, { file: name, message: 'it already exists' })
      const temp = tempNameFor(below ?? target)
      const handle = await open(temp, 'wx', 0o666)
      trackTemp(temp)
      const sink = new FileSink(name, target, temp, handle, transaction)
      transaction.add(sink)
      if (replaced) await sink.#takeOver(replaced)
      return sink
    } catch (error) {
      throw ioError(error, name)
    }
  }

  /** The new file gets the permissions of the old one. */
  async #takeOver(old: Stats): Promise<void> {
    const own = await this.#handle.stat()
    if (own.uid !== old.uid || own.gid !== old.gid) await this.#handle.chown(old.uid, old.gid).catch(() => {})
    await this.#handle.chmod(old.mode % 0o1000).catch(() => {})
  }

  get position(): number {
    return this.#writer.position
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#assertOpen()
    await withIoErrors(this.name, () => this.#writer.write(bytes))
  }

  writeNow(bytes: Uint8Array): boolean {
    this.#assertOpen()
    try {
      return this.#writer.writeNow(bytes)
    } catch (error) {
      throw ioError(error, this.name)
    }
  }

  patchNow(offset: number, bytes: Uint8Array): boolean {
    this.#assertPatch(offset, bytes)
    return this.#writer.patchNow(offset, bytes)
  }

  /** Overwrites bytes that were written before. */
  async patch(offset: number, bytes: Uint8Array): Promise<void> {
    this.#assertPatch(offset, bytes)
    await withIoErrors(this.name, () => this.#writer.patch(offset, bytes))
  }

  #assertPatch(offset: number, bytes: Uint8Array): void {
    this.#assertOpen()
    if (offset < 0 || offset + bytes.byteLength > this.position) {
      const message = `a patch of ${bytes.byteLength} bytes lies outside the ${this.position} that were written`
      failWith(ioCodes['out-of-range'], { file: this.name, offset, length: bytes.byteLength, message })
    }
  }

  async sibling(name: string): Promise<FileSink> {
    this.#assertOpen()
    if (!isPathBelow(name))
      failWith(ioCodes['unsafe-path'], { file: this.name, message: `${JSON.stringify(name)} is not a plain file name` })
    const path = join(dirname(this.name), name)
    if (this.#transaction.sinks.some((sink) => resolve(sink.name) === resolve(path))) {
      failWith(ioCodes.exists, { file: path, message: 'two files of the output have this name' })
    }
    const isBelow = name.includes('/')
    const waiting = join(dirname(this.target), name.replaceAll('/', '-'))
    return FileSink.#create(path, this.#transaction, isBelow ? waiting : undefined)
  }

  /** Closing the main file makes everything visible; a sibling is then complete and waits for it. */
  async close(): Promise<void> {
    if (this === this.#transaction.main) {
      if (this.#state !== 'complete') this.#assertOpen()
      await this.#transaction.commit()
    } else {
      this.#assertOpen()
      await this.complete()
    }
  }

  /** Flushes all bytes and closes the file. */
  async complete(): Promise<void> {
    if (this.#state !== 'open') return
    await withIoErrors(this.name, async () => {
      await this.#writer.flush()
      await this.#handle.sync()
      await this.#handle.close()
    })
    this.#state = 'complete'
    this.#writer.release()
  }

  async reopen(): Promise<ByteSource> {
    await this.#transaction.complete()
    const { sinks } = this.#transaction
    const folder = dirname(this.name)
    const paths = new Map(sinks.map((sink) => [relative(folder, sink.name).replaceAll('\\', '/'), sink.temp]))
    return FileSource.open(this.temp, this.name, paths)
  }

  abort(): Promise<void> {
    return this.#transaction.abort()
  }

  /** Removes the temporary file; called by the transaction for all of its files. */
  async discard(): Promise<void> {
    if (this.#state === 'open') {
      await this.#writer.flush().catch(() => {})
      await this.#handle.close().catch(() => {})
      this.#writer.release()
    }
    this.#state = 'aborted'
    await unlink(this.temp).catch(() => {})
    forgetTemp(this.temp)
  }

  #assertOpen(): void {
    if (this.#state === 'aborted') failWith(ioCodes.aborted, { file: this.name, message: 'this output was given up' })
    if (this.#state !== 'open') failWith(ioCodes.failed, { file: this.name, message: 'this output is closed already' })
  }
}

/** All files of one output. */
class Transaction {
  readonly options: FileSinkOptions
  readonly sinks: FileSink[] = []
  readonly #tidied = new Set<string>()
  #ended = false

  constructor(options: FileSinkOptions) {
    this.options = { overwrite: true, ...options }
  }

  get main(): FileSink {
    return this.sinks[0]!
  }

  add(sink: FileSink): void {
    this.sinks.push(sink)
  }

  /** Removes leftovers of killed processes before writing to a directory. */
  tidy(directory: string): void {
    if (!this.#tidied.has(directory)) tidyDirectory(directory)
    this.#tidied.add(directory)
  }

  async complete(): Promise<void> {
    for (const sink of this.sinks) await sink.complete()
  }

  async commit(): Promise<void> {
    if (this.#ended) failWith(ioCodes.failed, { file: this.main.name, message: 'this output is closed already' })
    await this.complete()
    await this.options.beforeCommit?.()
    this.#ended = true
    const made: string[] = []
    try {
      for (const { target } of this.sinks) {
        const first = mkdirSync(dirname(target), { recursive: true })
        if (first !== undefined) made.push(first)
      }
      replaceFiles(this.sinks)
    } catch (error) {
      for (const folder of made.toReversed()) await rmdir(folder).catch(() => {})
      const isInterrupted = error instanceof TareError && error.code === ioCodes.interrupted.code
      if (!isInterrupted) await this.#discard()
      throw ioError(error, this.main.name)
    }
  }

  async abort(): Promise<void> {
    if (this.#ended) return
    this.#ended = true
    await this.#discard()
  }

  async #discard(): Promise<void> {
    for (const sink of this.sinks) await sink.discard()
  }
}

/** Opens an output on this machine: a file, `-` for standard output, or a pipe or device such as /dev/null. */
export async function openLocalOutput(output: string, options?: FileSinkOptions): Promise<ByteSink> {
  if (output === '-') return new StreamSink(process.stdout, '-', false, options?.beforeCommit)
  const stats = await stat(output).catch(() => undefined)
  // A device must not be replaced by a file.
  if (!stats || stats.isFile() || stats.isDirectory()) return FileSink.open(output, options)
  if (stats.isFIFO()) {
    const { writePipe } = await import('./named-pipe.js')
    const pipe = await withIoErrors(output, () => writePipe(output))
    return new StreamSink(pipe, output, true, options?.beforeCommit)
  }
  const stream = createWriteStream(output)
  await new Promise<void>((resolve, reject) => {
    stream.once('open', () => resolve())
    stream.once('error', (error) => reject(ioError(error, output)))
  })
  return new StreamSink(stream, output, true, options?.beforeCommit)
}
