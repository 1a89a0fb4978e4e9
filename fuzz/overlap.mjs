// Archives whose members lie in each other: the data of each is an array of all the bytes that follow. A small file then holds any amount of
// weights, and asks for work without end.
import { directoryOf, fieldsOf, localSignature } from './archive.mjs'
import { joined } from './joined.mjs'

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
  const placed = entries.map(({ fromEnd, ...entry }) => ({ ...entry, at: all.length - fromEnd }))
  return joined(all, directoryOf(placed, all.length))
}

/** What makes the bytes behind it an array of NumPy. */
function headOfArray(length) {
  const text = `{'descr': '|u1', 'fortran_order': False, 'shape': (${length},), }`
  return joined(Buffer.from('\x93NUMPY\x01\x00\x76\x00', 'latin1'), Buffer.from(`${text.padEnd(117)}\n`))
}
