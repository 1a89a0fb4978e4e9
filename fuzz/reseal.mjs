// Checksums keep changed inputs from getting any further than the check. Where a digest of a range stands in the file, it is computed again
// after the change, so that what lies behind the check is reached as well.
import { crc32 } from 'node:zlib'
import { createBLAKE3 } from 'hash-wasm'

const blake3 = await createBLAKE3()
const digests = {
  crc32(bytes) {
    const sum = Buffer.alloc(4)
    sum.writeUInt32LE(crc32(bytes))
    return sum
  },
  blake3: (bytes) => blake3.init().update(bytes).digest('binary'),
}
const maxPieces = 400

/** The ranges of a file whose digests stand elsewhere in it. */
export function sealsOf(bytes, pieces) {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const seals = []
  for (const { start, end } of rangesOf(bytes, pieces)) {
    if (end <= start || end > bytes.length) continue
    for (const [name, digest] of Object.entries(digests)) {
      const sum = digest(bytes.subarray(start, end))
      for (let at = file.indexOf(sum); at >= 0; at = file.indexOf(sum, at + 1))
        if (at + sum.length <= start || at >= end) seals.push({ start, end, at, name })
    }
  }
  return seals
}

/** Pieces, members of archives, chunks, and what is before a checksum. */
function* rangesOf(bytes, pieces) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (const { offset, length, path = '', kind } of pieces.slice(0, maxPieces)) {
    if (kind !== 'field' || length > 16) yield { start: offset, end: offset + length }
    if (/checksum|crc/.test(path)) yield { start: 0, end: offset }
    if (/\]\.crc32$/.test(path) && offset >= 14 && view.getUint32(offset - 14, true) === 0x04034b50) {
      const start = offset + 16 + view.getUint16(offset + 12, true) + view.getUint16(offset + 14, true)
      yield { start, end: start + view.getUint32(offset + 4, true) }
    }
    if (path.endsWith('.chunk_offset')) {
      const start = Number(view.getBigUint64(offset, true))
      yield { start, end: start + Number(view.getBigUint64(offset + 8, true)) }
    }
  }
}

/** In place. Twice, since what holds a digest may have a digest itself. */
export function reseal(bytes, seals) {
  for (let round = 0; round < 2; round++)
    for (const { start, end, at, name } of seals) bytes.set(digests[name](bytes.subarray(start, end)), at)
}

/** Fields that say how long the file is. An input of another length goes no further than these, if they are left. */
export function sizeFieldsOf(bytes, pieces) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return pieces.filter(
    ({ offset, length, kind }) =>
      kind === 'field' &&
      ((length === 8 && view.getBigUint64(offset, true) === BigInt(bytes.length)) ||
        (length === 4 && view.getUint32(offset, true) === bytes.length)),
  )
}

/** In place: the length that the file has now. Headers are where they were. */
export function restate(bytes, sizeFields) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (const { offset, length } of sizeFields) {
    if (offset + length > bytes.length) continue
    if (length === 8) view.setBigUint64(offset, BigInt(bytes.length), true)
    else view.setUint32(offset, bytes.length, true)
  }
}
