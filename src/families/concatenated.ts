// Several payloads, one after the other.
import { checkRange } from '../bytes/index.js'
import { lazyPayload, type Payload } from '../model/index.js'

export function concatenated(parts: readonly Payload[], name: string): Payload {
  const ends: number[] = []
  let byteLength = 0
  for (const part of parts) {
    byteLength += part.byteLength
    ends.push(byteLength)
  }
  const payload = lazyPayload(byteLength, async function* (signal) {
    for (const part of parts) yield* part.chunks(pieceBytes, signal)
  })
  if (!parts.every((part) => part.read)) return payload
  return {
    ...payload,
    async read(offset, length, signal) {
      checkRange({ name, size: byteLength }, offset, length)
      const result = new Uint8Array(length)
      let done = 0
      let place = ends.findIndex((end) => offset < end)
      while (done < length) {
        const part = parts[place]!
        const start = offset + done - (ends[place]! - part.byteLength)
        const count = Math.min(length - done, part.byteLength - start)
        if (count > 0) result.set(await part.read!(start, count, signal), done)
        done += count
        place++
      }
      return result
    },
  }
}

const pieceBytes = 1 << 20
