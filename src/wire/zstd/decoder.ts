// What decodes a zstd frame: the environment, where it can, or a WASM package.

/** The content of one frame, which has been walked before. Throws, or gives fewer bytes, when it is damaged or does not fit. */
export type ZstdDecoder = (frame: Uint8Array, size: number) => Uint8Array

let registered: ZstdDecoder | undefined

/** Makes everything in this process decode with `decoder`; undefined: with the package again. */
export function registerZstdDecoder(decoder: ZstdDecoder | undefined): void {
  registered = decoder
}

export async function zstdDecoder(): Promise<ZstdDecoder> {
  if (registered) return registered
  const { ZSTDDecoder } = await import('zstddec')
  const decoder = new ZSTDDecoder()
  await awake(() => withoutFetch(() => decoder.init()))
  return (frame, size) => decoder.decode(frame, size)
}

/**
 * The package takes its own WASM out of a data address with `fetch` where there is one, and Node would load a whole HTTP client for that,
 * some 30 ms. Without `fetch` it decodes the text itself. It looks once, before anything else can run, so no other code misses it.
 */
function withoutFetch<T>(start: () => T): T {
  const isNode = (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node !== undefined
  const own = Object.getOwnPropertyDescriptor(globalThis, 'fetch')
  if (!isNode || !own?.configurable) return start()
  Object.defineProperty(globalThis, 'fetch', { value: undefined, configurable: true })
  try {
    return start()
  } finally {
    Object.defineProperty(globalThis, 'fetch', own)
  }
}

/**
 * While WASM is compiled, Node may find nothing else to wait for. It then goes on with the code that waits for the WASM, but does not come back to
 * its loop before all compiling is over, that of hot functions included: 70 ms in which files could be read. A timer is something to wait for.
 */
async function awake<T>(start: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => {}, 60_000)
  try {
    return await start()
  } finally {
    clearTimeout(timer)
  }
}
