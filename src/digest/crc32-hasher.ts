import { combineCrc32 } from './crc32-combine.js'
import type { Hasher } from './types.js'

/** A hasher around a function that goes on from the checksum of what came before. */
export function crc32Hasher(update: (bytes: Uint8Array, value: number) => number): Hasher {
  let value = 0
  return {
    update(bytes) {
      value = update(bytes, value)
    },
    digest() {
      const digest = new Uint8Array(4)
      new DataView(digest.buffer).setUint32(0, value)
      return digest
    },
    pieces: {
      sumOf: (bytes) => update(bytes, 0),
      append(sum, length) {
        value = combineCrc32(value, sum, length)
      },
    },
  }
}
