import zlib from 'node:zlib'
import { registerZstdDecoder, type ZstdDecoder } from '../wire/zstd/zstd.js'

/** Since Node 22.15. */
type Decompress = (frame: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array

/** Makes this process decode zstd with Node, if it can. */
export function registerNodeZstd(): void {
  const { zstdDecompressSync } = zlib as { readonly zstdDecompressSync?: Decompress }
  if (zstdDecompressSync) registerZstdDecoder(decoderOf(zstdDecompressSync))
}

const decoderOf =
  (decompress: Decompress): ZstdDecoder =>
  (frame, size) => {
    const content = decompress(frame, { maxOutputLength: size })
    return new Uint8Array(content.buffer, content.byteOffset, content.byteLength)
  }
