// Zip archives, taken apart and put together again with checksums and sizes that are right.
import { crc32, inflateRawSync } from 'node:zlib'
import { joined } from './joined.mjs'

export const localSignature = Buffer.from('PK\x03\x04', 'latin1')
/** What a central entry has before and behind the fields that a local header has, too. */
const centralStart = Buffer.from('PK\x01\x02\x14\x00', 'latin1')
const centralRest = 14
const centralSize = 46
const endSize = 22
const maxMember = 1 << 20

/** The members, or none where this is no archive of the plainest kind. */
export function membersOf(bytes) {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = file.lastIndexOf('PK\x05\x06', undefined, 'latin1')
  if (end < 0 || end + endSize > file.length) return []
  const members = []
  try {
    let at = file.readUInt32LE(end + 16)
    for (let i = file.readUInt16LE(end + 10); i > 0; i--) {
      const [nameLength, extraLength, noteLength] = [28, 30, 32].map((field) => file.readUInt16LE(at + field))
      const name = file.subarray(at + centralSize, at + centralSize + nameLength)
      members.push({ name, data: dataOf(file, file.readUInt32LE(at + 42), at) })
      at += centralSize + nameLength + extraLength + noteLength
    }
  } catch {
    return []
  }
  return members
}

function dataOf(file, local, central) {
  const start = local + 30 + file.readUInt16LE(local + 26) + file.readUInt16LE(local + 28)
  const stored = file.subarray(start, start + file.readUInt32LE(central + 20))
  return file.readUInt16LE(central + 10) === 8 ? inflateRawSync(stored, { maxOutputLength: maxMember }) : stored
}

/** Members one after the other, stored as they are. */
export function archiveOf(members) {
  const parts = []
  const entries = []
  let at = 0
  for (const { name, data } of members) {
    const fields = fieldsOf(name, data)
    parts.push(localSignature, fields, name, data)
    entries.push({ name, fields, at })
    at += localSignature.length + fields.length + name.length + data.length
  }
  return joined(...parts, directoryOf(entries, at))
}

/** The central directory that stands at `start`, and the end of the archive. */
export function directoryOf(entries, start) {
  const directory = entries.map(({ name, fields, at }) => {
    const rest = Buffer.alloc(centralRest)
    rest.writeUInt32LE(at, centralRest - 4)
    return joined(centralStart, fields, rest, name)
  })
  const end = Buffer.alloc(endSize)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(
    directory.reduce((sum, { length }) => sum + length, 0),
    12,
  )
  end.writeUInt32LE(start, 16)
  return joined(...directory, end)
}

/** From the version to the lengths of name and extra field, for a member that is stored as it is. */
export function fieldsOf(name, data) {
  const fields = Buffer.alloc(26)
  fields.writeUInt16LE(20, 0)
  fields.writeUInt16LE(0x21, 8) // the first day of 1980
  fields.writeUInt32LE(crc32(data), 10)
  fields.writeUInt32LE(data.length, 14)
  fields.writeUInt32LE(data.length, 18)
  fields.writeUInt16LE(name.length, 22)
  return fields
}
