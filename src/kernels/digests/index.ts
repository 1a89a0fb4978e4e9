// BLAKE3 and CRC-32: the compiled kernels where they run, otherwise their plain twins.

import { instantiate, lazyModule } from '../load.js'
import { digestsMap as at } from '../memory-map.js'
import { type Blake3Kernel, blockSize, valueSize } from './blake3.js'
import { blake3Plain } from './plain/blake3.js'
import { crc32Plain } from './plain/crc32.js'
import { wasmBase64 } from './wasm-bytes.js'

export const blake3Kernel = (): Blake3Kernel => digestsModule()?.blake3 ?? blake3Plain

/** A function that continues the checksum of what came before, and what it runs on. */
export function crc32Kernel(): { readonly name: string; readonly update: (bytes: Uint8Array, crc: number) => number } {
  const module = digestsModule()
  return module ? { name: 'WebAssembly', update: module.crc32 } : { name: 'plain', update: crc32Plain }
}

// The compiled BLAKE3 and CRC-32 (assembly/digests). Bytes are copied to the window of the module, a block at a time, which the nearest cache
// holds.

/** Pointers are offsets into the memory. */
interface Exports {
  readonly memory: WebAssembly.Memory
  subtree(from: number, length: number, counterLow: number, counterHigh: number, isRoot: number): number
  parent(from: number, isRoot: number): number
  prepareTables(): void
  checksum(crc: number, from: number, length: number): number
}

interface DigestsModule {
  readonly blake3: Blake3Kernel
  /** Continues the checksum `crc`, 0 at the start. */
  crc32(bytes: Uint8Array, crc: number): number
}

/** Sixteen of the longest slices that the kernel processes side by side. */
const crcStep = 16 * 4080

/** Undefined where there is no WebAssembly. */
export const digestsModule = lazyModule((): DigestsModule | undefined => {
  const run = instantiate<Exports>(wasmBase64())
  if (!run) return undefined
  run.prepareTables()
  const memory = new Uint8Array(run.memory.buffer)
  const window = memory.subarray(at.window, at.window + blockSize)
  const valueAt = (address: number): Uint8Array => memory.slice(address, address + valueSize)
  return {
    blake3: {
      name: 'WebAssembly',
      subtree(bytes, counter, isRoot) {
        window.set(bytes)
        const high = Math.floor(counter / 2 ** 32)
        return valueAt(run.subtree(at.window, bytes.byteLength, counter % 2 ** 32, high, Number(isRoot)))
      },
      parent(left, right, isRoot) {
        window.set(left)
        window.set(right, valueSize)
        return valueAt(run.parent(at.window, Number(isRoot)))
      },
    },
    crc32(bytes, crc) {
      let sum = crc
      for (let start = 0; start < bytes.byteLength; start += crcStep) {
        const part = bytes.subarray(start, start + crcStep)
        window.set(part)
        sum = run.checksum(sum, at.window, part.byteLength)
      }
      return sum >>> 0
    },
  }
})
