// Windows in shared memory. Like other windows they are WebAssembly memory, which starts on a page boundary.

const pageSize = 65_536

/** Whether threads can share memory here: pages must request it with headers. */
export const canShareMemory = (): boolean => typeof SharedArrayBuffer !== 'undefined'

/** Engines release such memory late, so windows are reused. */
const free = new Map<number, Uint8Array[]>()
const maxFree = 16

export function takeSharedWindow(size: number): Uint8Array {
  const pages = Math.max(1, Math.ceil(size / pageSize))
  const window = free.get(pages)?.pop() ?? new Uint8Array(sharedMemory(pages).buffer)
  return window.subarray(0, size)
}

const sharedMemory = (pages: number): WebAssembly.Memory =>
  new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true })

/** To be called when no thread uses the window any more. */
export function releaseSharedWindow(window: Uint8Array): void {
  const whole = new Uint8Array(window.buffer)
  const pages = whole.byteLength / pageSize
  const list = free.get(pages) ?? []
  if (list.length < maxFree) free.set(pages, [...list, whole])
}
