// Archives whose members lie in each other: the data of each is an array of all the bytes that follow. A small file then holds any amount of
// weights, and asks for work without end.
import { crc32 } from 'node:zlib'
import { joined } from './joined.mjs'

const localSignature = Buffer.from('PK\x03\x04', 'latin1')
/** What a central entry has before and behind the fields that a local header has, too. */
const centralStart = Buffer.from('PK\x01\x02\x14\x00', 'latin1')
const centralRest = 14
const endSize = 22

/** The archive is made around the start of the file; what is no archive stays as it is. */
export function overlapMembers(bytes, _pieces, random) {
  if (bytes.length < localSignature.length || localSignature.compare(bytes, 0, 4) !== 0) return bytes
  const count = random.pick([2, 3, 16, 64])
  const ending = random.pick(['.npy', '.npy', '', '/data.pkl', '.h5'])
  const entries = []
  let all = bytes.slice(0, random.pick([0, 64, 1024, 8192]))
  for (let i = count - 1; i >= 0; i--) {
    const name = Buffer.from(`m/${i}${ending}`)
    const data = ending === '.npy' ? joined(headOfArray(all.length), all) : all
    const fields = fieldsOf(name, data)
    const header = joined(localSignature, fields, name)
    all = joined(header, data)
    entries.unshift({ name, fields, fromEnd: all.length })
  }
  const directory = entries.map(({ name, fields, fromEnd }) => {
    const rest = Buffer.alloc(centralRest)
    rest.writeUInt32LE(all.length - fromEnd, centralRest - 4)
    return joined(centralStart, fields, rest, name)
  })
  const end = Buffer.alloc(endSize)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(
    directory.reduce((sum, { length }) => sum + length, 0),
    12,
  )
  end.writeUInt32LE(all.length, 16)
  return joined(all, ...directory, end)
}

/** From the version to the lengths of name and extra field, for a member that is stored as it is. */
function fieldsOf(name, data) {
  const fields = Buffer.alloc(26)
  fields.writeUInt16LE(20, 0)
  fields.writeUInt16LE(0x21, 8) // the first day of 1980
  fields.writeUInt32LE(crc32(data), 10)
  fields.writeUInt32LE(data.length, 14)
  fields.writeUInt32LE(data.length, 18)
  fields.writeUInt16LE(name.length, 22)
  return fields
}

/** What makes the bytes behind it an array of NumPy. */
function headOfArray(length) {
  const text = `{'descr': '|u1', 'fortran_order': False, 'shape': (${length},), }`
  return joined(Buffer.from('\x93NUMPY\x01\x00\x76\x00', 'latin1'), Buffer.from(`${text.padEnd(117)}\n`))
}
