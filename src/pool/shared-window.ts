// Windows that all threads see. Like other windows they live in WebAssembly memory, which starts on a page boundary.

const pageSize = 65_536

/** Whether threads can share memory here: pages must ask for it with headers. */
export const canShareMemory = (): boolean => typeof SharedArrayBuffer !== 'undefined'

export function takeSharedWindow(size: number): Uint8Array {
  const pages = Math.max(1, Math.ceil(size / pageSize))
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true })
  return new Uint8Array(memory.buffer, 0, size)
}
