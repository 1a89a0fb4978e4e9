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

const longIntegers = [0xffffn, 1n << 24n, (1n << 31n) - 1n, 1n << 32n, 1n << 40n, (1n << 62n) - 1n]

/** Bytes behind the opcode of an integer in a pickle; undefined for anything else. */
function widthOfInteger(opcode, next) {
  if (opcode === 0x4b) return 1 // BININT1
  if (opcode === 0x4d) return 2 // BININT2
  if (opcode === 0x4a) return 4 // BININT
  return opcode === 0x8a && next <= 8 ? 1 + next : undefined // LONG1
}

/** Pickles store integers in as many bytes as they need; this one gets eight, since a size of gigabytes does not fit into what was there. */
export function widenPickledNumber(bytes, pieces, random) {
  const { at, length } = placeIn(bytes, pieces, random)
  for (let i = at; i < at + Math.min(length, 512); i++) {
    const width = widthOfInteger(bytes[i], bytes[i + 1])
    if (width === undefined || random.once(2)) continue
    const wide = Buffer.from([0x8a, 8, ...new Uint8Array(8)]) // LONG1 of eight bytes
    wide.writeBigInt64LE(random.pick(longIntegers), 2)
    return inserted(bytes, pieces, i, wide, 1 + width)
  }
  return insertKeepingLengths(bytes, pieces, random)
}

function placeIn(bytes, pieces, random) {
  const piece = random.pick(pieces)
  const at = Math.min(bytes.length, piece.offset + random.below(piece.length))
  return { at, length: Math.max(0, Math.min(bytes.length, piece.offset + piece.length) - at) }
}

/**
 * `piece` in place of the `replaced` bytes at `at`. Fields whose number reaches from their end to the place, or beyond it within the file,
 * count what is inserted there.
 */
function inserted(bytes, pieces, at, piece, replaced = 0) {
  const longer = joined(bytes.subarray(0, at), piece, bytes.subarray(at + replaced))
  const added = piece.length - replaced
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const target = new DataView(longer.buffer)
  for (const { offset, length, kind } of pieces) {
    const end = offset + length
    if (kind !== 'field' || end > at || (length !== 8 && length !== 4)) continue
    const value = length === 8 ? Number(view.getBigUint64(offset, true)) : view.getUint32(offset, true)
    if (value < at - end || end + value > bytes.length) continue
    if (length === 8) target.setBigUint64(offset, BigInt(value + added), true)
    else target.setUint32(offset, (value + added) >>> 0, true)
  }
  return longer
}
