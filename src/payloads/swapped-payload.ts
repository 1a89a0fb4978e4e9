// Big-endian elements, turned to little-endian while they are read.
import { checkRange } from '../bytes/index.js'
import { lazyPayload, type Payload } from '../model/payload.js'

/** Elements per piece. */
const pieceElements = 65_536

/** `width` is the size of what is swapped as a whole: 8 for c128, whose parts are swapped one by one. */
export function swappedPayload(payload: Payload, width: number): Payload {
  if (width === 1) return payload
  async function* produce(signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    for await (const chunk of payload.chunks(width * pieceElements, signal)) yield swapped(chunk, width)
  }
  const lazy = lazyPayload(payload.byteLength, produce)
  if (!payload.read) return lazy
  return {
    ...lazy,
    async read(offset, length, signal) {
      checkRange({ name: payload.origin?.source.name ?? 'tensor', size: payload.byteLength }, offset, length)
      const start = offset - (offset % width)
      const end = Math.ceil((offset + length) / width) * width
      const bytes = await payload.read!(start, end - start, signal)
      return swapped(bytes, width).subarray(offset - start, offset - start + length)
    },
  }
}

/** A swapped copy; sources may hand out views that must not be written to. */
function swapped(bytes: Uint8Array, width: number): Uint8Array {
  const result = new Uint8Array(bytes.byteLength)
  for (let at = 0; at < bytes.byteLength; at += width) {
    for (let i = 0; i < width; i++) result[at + i] = bytes[at + width - 1 - i]!
  }
  return result
}
