// BLAKE3 and CRC-32: the compiled kernels where they run, otherwise their plain twins.
import type { Blake3Kernel } from './blake3.js'
import { digestsModule } from './compiled.js'
import { blake3Plain } from './plain/blake3.js'
import { crc32Plain } from './plain/crc32.js'

export const blake3Kernel = (): Blake3Kernel => digestsModule()?.blake3 ?? blake3Plain

/** A function that continues the checksum of what came before, and what it runs on. */
export function crc32Kernel(): { readonly name: string; readonly update: (bytes: Uint8Array, crc: number) => number } {
  const module = digestsModule()
  return module ? { name: 'WebAssembly', update: module.crc32 } : { name: 'plain', update: crc32Plain }
}
