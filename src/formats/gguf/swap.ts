// Payloads of big-endian files, turned to little-endian while they are read. Plain elements are swapped as a whole. In a block only the
// numbers of more than one byte are swapped; codes are single bytes.
import { checkRange } from '../../bytes/index.js'
import { type GgmlType, wideNumbers } from '../../dtypes/ggml/index.js'
import { lazyPayload, type Payload } from '../../model/index.js'

/** Elements or blocks per piece. */
const pieceUnits = 4096

interface Unit {
  readonly size: number
  readonly numbers: readonly { readonly offset: number; readonly width: number }[]
}

function unitOf({ dtype, layout }: GgmlType): Unit {
  const size = dtype.group.bytes
  if (layout) return { size, numbers: wideNumbers(layout) }
  return { size, numbers: size > 1 ? [{ offset: 0, width: size }] : [] }
}

/** The block types whose big-endian form other programs agree on. */
const agreed = new Set(['Q1_0', 'Q4_0', 'Q8_0', 'Q4_K', 'Q6_K', 'TQ2_0', 'MXFP4', 'NVFP4'])

export const isOrderAgreed = (type: GgmlType): boolean => type.layout === undefined || agreed.has(type.name)

export function toLittleEndian(payload: Payload, type: GgmlType): Payload {
  const unit = unitOf(type)
  if (unit.numbers.length === 0) return payload
  async function* produce(signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    for await (const chunk of payload.chunks(unit.size * pieceUnits, signal)) yield swapped(chunk, unit)
  }
  return {
    ...lazyPayload(payload.byteLength, produce),
    async read(offset, length, signal) {
      checkRange({ name: payload.origin?.source.name ?? 'tensor', size: payload.byteLength }, offset, length)
      const start = offset - (offset % unit.size)
      const end = Math.ceil((offset + length) / unit.size) * unit.size
      const bytes = await payload.read!(start, end - start, signal)
      return swapped(bytes, unit).subarray(offset - start, offset - start + length)
    },
  }
}

/** A swapped copy; sources may hand out views that must not be written to. */
function swapped(bytes: Uint8Array, { size, numbers }: Unit): Uint8Array {
  const copy = bytes.slice()
  for (let at = 0; at < copy.byteLength; at += size) {
    for (const { offset, width } of numbers) {
      for (let low = at + offset, high = low + width - 1; low < high; low++, high--) {
        const kept = copy[low]!
        copy[low] = copy[high]!
        copy[high] = kept
      }
    }
  }
  return copy
}
