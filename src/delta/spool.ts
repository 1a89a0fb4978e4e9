// Packed bytes have no length before they are made, and a header has to state it: they wait in a spool.
import { joinBytes } from '../bytes/index.js'
import { bytesPayload, type Payload } from '../model/index.js'

/** Where bytes wait until they are written. */
export interface Spool {
  /** Keeps the bytes of a stream, and gives them back in any order. */
  add(pieces: AsyncIterable<Uint8Array>): Promise<Payload>
  close(): Promise<void>
}

/** For hosts without files. */
export const memorySpool = (): Spool => ({
  async add(pieces) {
    const kept: Uint8Array[] = []
    for await (const piece of pieces) kept.push(Uint8Array.from(piece))
    return bytesPayload(joinBytes(kept))
  },
  async close() {},
})
