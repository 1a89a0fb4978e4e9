// The compiled BLAKE3 and CRC-32 (assembly/digests). Bytes are copied to the window of the module, a block at a time, which the nearest cache
// holds.
import { instantiate, lazyModule } from '../load.js'
import { digestsMap as at } from '../memory-map.js'
import { type Blake3Kernel, blockSize, valueSize } from './blake3.js'
import { wasmBase64 } from './wasm-bytes.js'

/** Pointers are offsets into the memory. */
interface Exports {
  readonly memory: WebAssembly.Memory
  subtree(from: number, length: number, counterLow: number, counterHigh: number, isRoot: number): number
  parent(from: number, isRoot: number): number
  prepareTables(): void
  checksum(crc: number, from: number, length: number): number
}

export interface DigestsModule {
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
