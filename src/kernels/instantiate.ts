// Modules are small, so they are compiled on first use and without waiting. Where that is not allowed (a page whose policy forbids
// WebAssembly, a host with the other byte order) there is none, and the plain twins do the work.

/** The exports of a module, or undefined where it cannot run. */
export function instantiate<Exports>(base64: string, memory?: WebAssembly.Memory): Exports | undefined {
  if (new Uint8Array(Uint16Array.of(1).buffer)[0] !== 1) return undefined
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
    const imports = memory && { env: { memory } }
    return new WebAssembly.Instance(new WebAssembly.Module(bytes), imports).exports as unknown as Exports
  } catch {
    return undefined
  }
}
