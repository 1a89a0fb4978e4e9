// Windows are the reusable buffers that bulk data flows through. They live in WebAssembly memory because that starts on a page
// boundary: reading a file into an ordinary large buffer, which starts 16 bytes past one, is four to six times slower on common
// processors. As long as there is room, they lie side by side in one memory, the arena, where compiled kernels reach them without a copy.

export const defaultWindow = 1 << 20
const pageSize = 65_536
/** 28 MiB of addresses; the system finds memory for a page when it is first used. From 32 MiB on, engines begin to collect garbage. */
const arenaPages = 448
/** The first 2 MiB of the arena are never a window: kernels have their tables there. */
export const kernelRoom = 32 * pageSize
/** Larger windows have a memory of their own. */
const maxPages = 256
const keepPerSize = 4
const free = new Map<number, Uint8Array[]>()

interface Arena {
  readonly memory: WebAssembly.Memory
  readonly bytes: Uint8Array
  readonly isTaken: Uint8Array
  /** How many pages a window has, by its first one. */
  readonly windows: Map<number, number>
}

let arena: Arena | undefined

function openArena(): Arena {
  if (arena) return arena
  const memory = new WebAssembly.Memory({ initial: arenaPages, maximum: arenaPages })
  const isTaken = new Uint8Array(arenaPages).fill(1, 0, kernelRoom / pageSize)
  arena = { memory, bytes: new Uint8Array(memory.buffer), isTaken, windows: new Map() }
  return arena
}

/** The memory that most windows lie in. It never grows, so views of it stay valid. */
export const arenaMemory = (): WebAssembly.Memory => openArena().memory

function pagesFor(size: number): number {
  return Math.max(1, Math.ceil(size / pageSize))
}

/** A page-aligned buffer of at least `size` bytes, cut to `size`. Give it back with `releaseWindow`. */
export function takeWindow(size: number): Uint8Array {
  const pages = pagesFor(size)
  const memory = takePages(pages) ?? free.get(pages)?.pop() ?? ownMemory(pages)
  return memory.subarray(0, size)
}

/** The same from among a few sizes, powers of two, so that windows for pieces of any length are used again. */
export const takeEvenWindow = (size: number): Uint8Array =>
  takeWindow(2 ** Math.ceil(Math.log2(size))).subarray(0, size)

function ownMemory(pages: number): Uint8Array {
  return new Uint8Array(new WebAssembly.Memory({ initial: pages, maximum: pages }).buffer)
}

function takePages(count: number): Uint8Array | undefined {
  if (count > maxPages) return undefined
  const { bytes, isTaken, windows } = openArena()
  for (let first = kernelRoom / pageSize; first + count <= arenaPages; first++) {
    const lastTaken = isTaken.subarray(first, first + count).lastIndexOf(1)
    if (lastTaken >= 0) {
      first += lastTaken
      continue
    }
    isTaken.fill(1, first, first + count)
    windows.set(first, count)
    return bytes.subarray(first * pageSize, (first + count) * pageSize)
  }
  return undefined
}

export function releaseWindow(window: Uint8Array): void {
  if (window.buffer === arena?.bytes.buffer) {
    releasePages(arena, window.byteOffset / pageSize)
    return
  }
  const whole = new Uint8Array(window.buffer)
  const pages = pagesFor(whole.byteLength)
  const list = free.get(pages)
  if (!list) free.set(pages, [whole])
  else if (list.length < keepPerSize) list.push(whole)
}

function releasePages({ isTaken, windows }: Arena, first: number): void {
  const count = windows.get(first)
  if (count === undefined) return // it was given back before
  windows.delete(first)
  isTaken.fill(0, first, first + count)
}
