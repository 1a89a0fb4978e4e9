// The compiled BLAKE3 and CRC-32. Bytes are copied into the module's window, a block at a time, which the nearest cache holds.
import { instantiate } from '../kernels/instantiate.js'
import { type Blake3Kernel, blockSize, valueSize } from './blake3-kernel.js'
import { wasmBase64 } from './digests-bytes.js'

/** Pointers are offsets into the memory. */
interface Exports {
  readonly memory: WebAssembly.Memory
  subtree(from: number, length: number, counterLow: number, counterHigh: number, isRoot: number): number
  parent(from: number, isRoot: number): number
  prepareTables(): void
  checksum(crc: number, from: number, length: number): number
}

export interface CompiledDigests {
  readonly blake3: Blake3Kernel
  /** Goes on from `crc`, 0 at the beginning. */
  crc32(bytes: Uint8Array, crc: number): number
}

const windowAt = 65_536

let loaded: CompiledDigests | null | undefined

/** Undefined where there is no WebAssembly. */
export function compiledDigests(): CompiledDigests | undefined {
  if (loaded === undefined) loaded = load() ?? null
  return loaded ?? undefined
}

function load(): CompiledDigests | undefined {
  const run = instantiate<Exports>(wasmBase64)
  if (!run) return undefined
  run.prepareTables()
  const memory = new Uint8Array(run.memory.buffer)
  const window = memory.subarray(windowAt, windowAt + blockSize)
  const valueAt = (at: number): Uint8Array => memory.slice(at, at + valueSize)
  return {
    blake3: {
      name: 'WebAssembly',
      subtree(bytes, counter, isRoot) {
        window.set(bytes)
        const high = Math.floor(counter / 2 ** 32)
        return valueAt(run.subtree(windowAt, bytes.byteLength, counter % 2 ** 32, high, Number(isRoot)))
      },
      parent(left, right, isRoot) {
        window.set(left)
        window.set(right, valueSize)
        return valueAt(run.parent(windowAt, Number(isRoot)))
      },
    },
    crc32(bytes, crc) {
      let sum = crc
      for (let at = 0; at < bytes.byteLength; at += crcStep) {
        const part = bytes.subarray(at, at + crcStep)
        window.set(part)
        sum = run.checksum(sum, windowAt, part.byteLength)
      }
      return sum >>> 0
    },
  }
}

/** Sixteen of the longest stretches that the kernel takes side by side. */
const crcStep = 16 * 4080
