import { defaultWindow } from '../bytes/index.js'
import { failWith } from '../errors/index.js'
import type { Payload } from '../model/index.js'
import { decodeZstdStream, ZstdStreamError } from '../wire/zstd/decode-stream.js'
import { deltaCodes } from './codes.js'

/** Where packed bytes are, for messages. */
export interface PackedPlace {
  readonly file: string
  readonly path: string
  readonly signal?: AbortSignal | undefined
}

/** The content of a packed entry, of exactly `size` bytes. */
export async function* unpacked(
  packed: Payload,
  size: number,
  { file, path, signal }: PackedPlace,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* decodeZstdStream(packed.chunks(defaultWindow, signal), size)
  } catch (error) {
    if (!(error instanceof ZstdStreamError)) throw error
    const offset = (packed.origin?.offset ?? 0) + error.fault.at
    failWith(deltaCodes.damaged, { file, path, offset, message: error.message }, { cause: error })
  }
}
