// Changes that make something longer and leave the file sound as far as that goes: numbers before it that look like its length grow with it.
import { joined } from './joined.mjs'

/** Names that get long, lists with many items, nesting that gets deep. */
export function growText(bytes, pieces, random) {
  const { at, length } = placeIn(bytes, pieces, random)
  const unit = bytes.subarray(at, at + Math.min(length, 1 + random.below(24)))
  if (unit.length === 0) return bytes
  const times = 1 << random.below(13)
  const room = Math.max(1, Math.floor((16 << 10) / unit.length))
  return inserted(bytes, pieces, at, joined(...Array(Math.min(times, room)).fill(unit)))
}

export function insertKeepingLengths(bytes, pieces, random) {
  const { at } = placeIn(bytes, pieces, random)
  const length = 1 + random.below(32)
  const from = random.below(Math.max(1, bytes.length - length))
  const piece = random.once(2) ? bytes.subarray(from, from + length) : new Uint8Array(length).fill(random.below(256))
  return inserted(bytes, pieces, at, piece)
}

function placeIn(bytes, pieces, random) {
  const piece = random.pick(pieces)
  const at = Math.min(bytes.length, piece.offset + random.below(piece.length))
  return { at, length: Math.max(0, Math.min(bytes.length, piece.offset + piece.length) - at) }
}

/** Fields whose number reaches from their end to the place, or beyond it within the file, count what is inserted there. */
function inserted(bytes, pieces, at, piece) {
  const longer = joined(bytes.subarray(0, at), piece, bytes.subarray(at))
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const target = new DataView(longer.buffer)
  for (const { offset, length, kind } of pieces) {
    const end = offset + length
    if (kind !== 'field' || end > at || (length !== 8 && length !== 4)) continue
    const value = length === 8 ? Number(view.getBigUint64(offset, true)) : view.getUint32(offset, true)
    if (value < at - end || end + value > bytes.length) continue
    if (length === 8) target.setBigUint64(offset, BigInt(value + piece.length), true)
    else target.setUint32(offset, (value + piece.length) >>> 0, true)
  }
  return longer
}
