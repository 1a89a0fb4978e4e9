// A range of a payload. One that can be sliced is made from there; one with random access is read there; any other one is made from its start,
// and what comes before is dropped.
import { type Payload, rechunked } from './payload.js'

/** The payload of these bytes of another one, as far as that gives them. */
export function payloadRange(payload: Payload, offset: number, length: number): Payload {
  const { slices, byteLength } = payload
  const end = offset + length
  if (offset === 0 && end === byteLength) return payload
  if (slices && offset % slices.unit === 0 && (end % slices.unit === 0 || end === byteLength))
    return slices.take(offset, length)
  return {
    byteLength: length,
    chunks: (window, signal) => rechunked(trimmed(payload, offset, end, window, signal), window),
  }
}

async function* trimmed(
  payload: Payload,
  from: number,
  to: number,
  window: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  const { slices, byteLength } = payload
  if (!slices && payload.read) {
    for (let at = from; at < to; at += window) yield await payload.read(at, Math.min(window, to - at), signal)
    return
  }
  const unit = slices?.unit ?? byteLength
  const start = slices ? from - (from % unit) : 0
  const end = Math.min(byteLength, Math.ceil(to / unit) * unit)
  let at = start
  for await (const bytes of (slices ? slices.take(start, end - start) : payload).chunks(window, signal)) {
    const part = bytes.subarray(Math.max(0, from - at), Math.max(0, to - at))
    at += bytes.byteLength
    if (part.byteLength > 0) yield part
    if (at >= to) return
  }
}
