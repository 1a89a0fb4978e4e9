// Descriptors are few: a model can have more files than a process may hold open. A file that was opened stays open while there is room;
// then the one that was read longest ago is closed, and opened again when it is read. What other threads read from must stay open.
import { closeSync, constants, fstatSync, openSync, read, readFileSync, readSync, type Stats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { failWith, ioCodes } from '../../errors/index.js'
import { ioError } from './io-error.js'

// Opening a pipe waits for its other end, perhaps for ever; this way it comes back and is refused.
const openFlags = constants.O_RDONLY + (constants.O_NONBLOCK ?? 0)

/** Those that can be closed and opened again, the one that was used last at the end. */
const openFiles = new Set<Descriptor>()
/** Those that threads may read from. */
let pinnedCount = 0

/** A file that is open when it is needed. */
export class Descriptor {
  readonly #path: string
  readonly #name: string
  /** A file without a name, which nobody can open again. */
  readonly #held: FileHandle | undefined
  #fd: number | undefined
  #stats: Stats | undefined
  #reads = 0
  #isPinned = false
  #isClosed = false

  constructor(path: string, name: string, held?: FileHandle) {
    this.#path = path
    this.#name = name
    this.#held = held
  }

  /** The file as it was when it was opened first. */
  get stats(): Stats {
    this.#use()
    return this.#stats!
  }

  /** The file as it is now. */
  statNow(): Stats {
    return fstatSync(this.#use())
  }

  /** What is done with the descriptor ends before `work` returns. */
  useNow<T>(work: (fd: number) => T): T {
    return work(this.#use())
  }

  async use<T>(work: (fd: number) => Promise<T>): Promise<T> {
    const fd = this.#use()
    this.#reads++
    try {
      return await work(fd)
    } finally {
      this.#reads--
      if (this.#isClosed) this.#release()
    }
  }

  /** For other threads: open until the file is closed. Undefined when too many are already. */
  pin(): number | undefined {
    if (this.#isClosed || (!this.#isPinned && pinnedCount >= limits().pinned)) return undefined
    const fd = this.#use()
    if (!this.#isPinned) pinnedCount++
    this.#isPinned = true
    return fd
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#isPinned) pinnedCount--
    this.#release()
    await this.#held?.close()
  }

  /** Whether there is one descriptor more now. */
  closeIfIdle(): boolean {
    if (this.#isPinned || this.#reads > 0) return false
    this.#release()
    return true
  }

  #use(): number {
    if (this.#isClosed) failWith(ioCodes.failed, { file: this.#name, message: 'this file was closed' })
    if (this.#held) {
      this.#stats ??= fstatSync(this.#held.fd)
      return this.#held.fd
    }
    openFiles.delete(this)
    this.#fd ??= this.#open()
    openFiles.add(this)
    return this.#fd
  }

  #release(): void {
    openFiles.delete(this)
    if (this.#fd === undefined || this.#reads > 0) return
    closeSync(this.#fd)
    this.#fd = undefined
  }

  #open(): number {
    if (openFiles.size >= limits().open) closeIdle(1)
    const fd = withRoom(() => openSync(this.#path, openFlags), this.#name)
    try {
      this.#compare(fstatSync(fd))
    } catch (error) {
      closeSync(fd)
      throw ioError(error, this.#name)
    }
    return fd
  }

  /** What is opened again must be the same file. */
  #compare(now: Stats): void {
    const before = this.#stats
    this.#stats ??= now
    if (!before || (before.dev === now.dev && before.ino === now.ino)) return
    failWith(ioCodes.changed, { file: this.#name, message: 'the file was replaced by another one while it was read' })
  }
}

function closeIdle(count: number): number {
  let closed = 0
  for (const file of [...openFiles]) {
    if (closed >= count) break
    if (file.closeIfIdle()) closed++
  }
  return closed
}

/** Opens something; when the system has no descriptor left, after closing files that are not needed now. */
export function withRoom<T>(open: () => T, name: string): T {
  for (;;) {
    try {
      return open()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if ((code !== 'EMFILE' && code !== 'ENFILE') || closeIdle(8) === 0) throw ioError(error, name)
    }
  }
}

interface DescriptorLimits {
  readonly open: number
  readonly pinned: number
}

let known: DescriptorLimits | undefined

/** What the process itself, its threads and its outputs need. */
const reserved = 64

function limits(): DescriptorLimits {
  if (known) return known
  const free = Math.max(8, systemLimit() - reserved)
  known = { open: Math.floor(free / 2), pinned: Math.floor(free / 4) }
  return known
}

/** What the system allows, where it tells; else what every system allows. */
function systemLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? 256 : Number(soft)
  } catch {
    return 256
  }
}

// Reading from a file, at once or through another thread. What the system has in its memory is copied from there at more than 10 GB/s;
// handing that to a thread and hearing back takes about as long again, and two cores pass the bytes between their caches. What has to come
// from a disk is better waited for elsewhere. Nobody tells beforehand which it will be, so the last reads are taken as a guess.

/** Always read at once: even from a disk it is one access. */
const fewBytes = 64 << 10
/** A read that takes this thread longer than a few frames of a display is never tried. */
const manyBytes = 8 << 20
/** Milliseconds that a byte takes at most, and a call besides, when the system had it in its memory. */
const byteTime = 1e-6
const callTime = 0.2
/** So many reads in a row must have been slow: a single one may have lost its turn on a busy machine, without any wait for a disk. */
const slowReads = 2
/** After reads that had to wait, so many go to another thread before the next is tried here. */
const patience = 32
/** Timers, signals and answers of other threads, which wait for their next job, have their turn after so many bytes; a call counts like some of them. */
const turnBytes = 1 << 20
const callBytes = 16 << 10

export class DescriptorReads {
  readonly #file: Descriptor
  #elsewhere = 0
  #slow = 0
  #sinceTurn = 0

  constructor(file: Descriptor) {
    this.#file = file
  }

  /** How many bytes came, perhaps fewer than asked for; none at the end of the file. */
  async read(target: Uint8Array, start: number, length: number, position: number): Promise<number> {
    if (length > manyBytes || (length > fewBytes && this.#elsewhere > 0)) {
      if (this.#elsewhere > 0) this.#elsewhere--
      return this.#file.use((fd) => readElsewhere(fd, target, start, length, position))
    }
    this.#sinceTurn += length + callBytes
    if (this.#sinceTurn >= turnBytes) await this.#takeTurn()
    const begin = performance.now()
    const got = this.#file.useNow((fd) => readSync(fd, target, start, length, position))
    this.#slow = performance.now() - begin > callTime + got * byteTime ? this.#slow + 1 : 0
    if (this.#slow >= slowReads) this.#elsewhere = patience
    return got
  }

  async #takeTurn(): Promise<void> {
    this.#sinceTurn = 0
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const readElsewhere = (fd: number, target: Uint8Array, start: number, length: number, at: number): Promise<number> =>
  new Promise((resolve, reject) => {
    read(fd, target, start, length, at, (error, count) => (error ? reject(error) : resolve(count)))
  })
