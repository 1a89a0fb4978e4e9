// The one place that compiles and starts the WebAssembly modules of assembly/. They are small, so that happens at the first use and without
// waiting. Where a module cannot run (a page whose policy forbids WebAssembly, a big-endian host), its plain twin does the work.
import { littleEndianHost } from '../bytes/views.js'

let isOff = false

/** A function that gives what `start` made when it was first called, or undefined where WebAssembly cannot run. */
export function lazyModule<Module>(start: () => Module | undefined): () => Module | undefined {
  let loaded: Module | null | undefined
  return () => {
    if (isOff) return undefined
    if (loaded === undefined) loaded = start() ?? null
    return loaded ?? undefined
  }
}

/** The exports of a compiled module, or undefined where it cannot run. Without `memory` the module has its own. */
export function instantiate<Exports>(base64: string, memory?: WebAssembly.Memory): Exports | undefined {
  if (!littleEndianHost) return undefined
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
    const imports = memory && { env: { memory } }
    return new WebAssembly.Instance(new WebAssembly.Module(bytes), imports).exports as unknown as Exports
  } catch {
    return undefined
  }
}

/** Runs `work` as on a host without WebAssembly, to compare the plain twins with the compiled kernels. */
export function withoutKernels<T>(work: () => T): T {
  const before = isOff
  isOff = true
  try {
    return work()
  } finally {
    isOff = before
  }
}
