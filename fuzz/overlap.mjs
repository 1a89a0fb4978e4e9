// Archives whose members lie in each other: the data of each is everything behind its header. A few bytes then ask for work without end.
import { crc32 } from 'node:zlib'
import { joined } from './joined.mjs'

const localSize = 30
const centralSize = 46
const endSize = 22

/** The archive is made around the start of the file; what is no archive stays as it is. */
export function overlapMembers(bytes, _pieces, random) {
  if (bytes.length < localSize || Buffer.from(bytes).readUInt32LE(0) !== 0x04034b50) return bytes
  const count = random.pick([2, 3, 16, 128, 256])
  const inner = bytes.subarray(0, random.pick([0, 64, 1024, 8192]))
  const ending = random.pick(['.npy', '', '/data.pkl', '.h5'])
  const nameOf = (i) => Buffer.from(`m/${String(i).padStart(3, '0')}${ending}`)
  const step = localSize + nameOf(0).length
  const all = new Uint8Array(count * step + inner.length)
  all.set(inner, count * step)
  const entries = []
  for (let i = count - 1; i >= 0; i--) {
    const data = all.subarray((i + 1) * step)
    const fields = Buffer.alloc(12)
    fields.writeUInt32LE(crc32(data), 0)
    fields.writeUInt32LE(data.length, 4)
    fields.writeUInt32LE(data.length, 8)
    const common = joined(
      Buffer.from([20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0]),
      fields,
      Buffer.from([nameOf(i).length, 0, 0, 0]),
    )
    all.set(joined(Buffer.from('PK\x03\x04'), common, nameOf(i)), i * step)
    const entry = joined(
      Buffer.from('PK\x01\x02\x14\x00'),
      common,
      Buffer.alloc(centralSize - 6 - common.length),
      nameOf(i),
    )
    Buffer.from(entry.buffer).writeUInt32LE(i * step, centralSize - 4)
    entries.unshift(entry)
  }
  const directory = joined(...entries)
  const end = Buffer.alloc(endSize)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(all.length, 16)
  return joined(all, directory, end)
}
