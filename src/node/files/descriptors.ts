// A model can have more files than a process may hold open. Files stay open while there are descriptors; then the least recently used one
// is closed, and reopened when it is read. Files that other threads read must stay open.
import { closeSync, constants, fstatSync, openSync, read, readFileSync, readSync, type Stats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { failWith, ioCodes } from '../../errors/index.js'
import { ioError } from './io-error.js'

// Opening a pipe would wait for its other end, perhaps forever; with this flag it returns, and the pipe is refused.
const openFlags = constants.O_RDONLY + (constants.O_NONBLOCK ?? 0)

/** Files that can be closed and reopened, the most recently used last. */
const openFiles = new Set<Descriptor>()
/** How many files other threads may read. */
let pinnedCount = 0

/** A file that is open when needed. */
export class Descriptor {
  readonly #path: string
  readonly #name: string
  /** A file without a name, which cannot be reopened. */
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

  /** The state of the file when it was first opened. */
  get stats(): Stats {
    this.#use()
    return this.#stats!
  }

  /** The current state of the file. */
  statNow(): Stats {
    return fstatSync(this.#use())
  }

  /** `work` must not use the descriptor after it returns. */
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

  /** For other threads: open until the file is closed. Undefined if too many already are. */
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

  /** Whether this freed a descriptor. */
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

  /** A reopened file must be the same one. */
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

/** Opens something; if the system has no descriptor left, closes idle files first. */
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

/** Descriptors for the process itself, its threads and its outputs. */
const reserved = 64

function limits(): DescriptorLimits {
  if (known) return known
  const free = Math.max(8, systemLimit() - reserved)
  known = { open: Math.floor(free / 2), pinned: Math.floor(free / 4) }
  return known
}

/** The system's limit if known, else what every system allows. */
function systemLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? 256 : Number(soft)
  } catch {
    return 256
  }
}

// Reading from a file, synchronously or through another thread. Data in the page cache is copied at more than 10 GB/s; a round trip to a
// thread takes about as long again, and moves the bytes between the caches of two cores. Data on a disk is better awaited elsewhere. Which
// it will be is unknown beforehand, so recent reads serve as a guess.

/** Always read synchronously: even from a disk it is one access. */
const fewBytes = 64 << 10
/** Never read synchronously: this thread would be blocked for longer than a few display frames. */
const manyBytes = 8 << 20
/** Maximum milliseconds per byte, and per call, for data in the page cache. */
const byteTime = 1e-6
const callTime = 0.2
/** How many reads in a row must be slow: a single one may have been preempted on a busy machine. */
const slowReads = 2
/** After slow reads, how many go to another thread before the next is tried here. */
const patience = 32
/** After this many bytes, timers, signals and answers of other threads get their turn; a call counts as some bytes. */
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

  /** The number of bytes read, which may be fewer than requested; 0 at the end of the file. */
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

/** Whoever waits goes on after the call that brings the result: until that returns, Node holds the buffer, which would outlive its use. */
const readElsewhere = (fd: number, target: Uint8Array, start: number, length: number, at: number): Promise<number> =>
  new Promise((resolve, reject) => {
    read(fd, target, start, length, at, (error, count) => setImmediate(() => (error ? reject(error) : resolve(count))))
  })
