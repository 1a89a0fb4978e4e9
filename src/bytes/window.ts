// Windows are the reusable buffers that bulk data flows through. They live in WebAssembly memory because that starts on a page
// boundary: reading a file into an ordinary large buffer, which starts 16 bytes past one, is four to six times slower on common
// processors. Kernels can also work on such memory without a copy.

export const defaultWindow = 1 << 20
const pageSize = 65_536
const keepPerSize = 4
const free = new Map<number, Uint8Array[]>()

function pagesFor(size: number): number {
  return Math.max(1, Math.ceil(size / pageSize))
}

/** A page-aligned buffer of at least `size` bytes, cut to `size`. Give it back with `releaseWindow`. */
export function takeWindow(size: number): Uint8Array {
  const pages = pagesFor(size)
  const memory =
    free.get(pages)?.pop() ?? new Uint8Array(new WebAssembly.Memory({ initial: pages, maximum: pages }).buffer)
  return memory.subarray(0, size)
}

export function releaseWindow(window: Uint8Array): void {
  const whole = new Uint8Array(window.buffer)
  const pages = pagesFor(whole.byteLength)
  const list = free.get(pages)
  if (!list) free.set(pages, [whole])
  else if (list.length < keepPerSize) list.push(whole)
}
