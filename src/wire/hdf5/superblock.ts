// The beginning of a file: how wide addresses are, how long the file is, and where the root group is.
import { hdf5Codes as codes } from './codes.js'
import type { Hdf5File } from './file.js'

export const signature: readonly number[] = [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a]

export const startsLikeHdf5 = (head: Uint8Array, at = 0): boolean => signature.every((byte, i) => head[at + i] === byte)

const maxUserBlock = 1 << 15

/** A file may begin with bytes of another program. The superblock then is at 512 or a doubling of it. Undefined where there is none. */
function userBlockOf(head: Uint8Array): number | undefined {
  for (let at = 512; at <= maxUserBlock; at *= 2) if (startsLikeHdf5(head, at)) return at
  return undefined
}

export interface Superblock {
  readonly version: number
  readonly root: number
}

const path = 'superblock'
/** What every version has room for. */
const headSize = 16

export async function readSuperblock(file: Hdf5File): Promise<Superblock> {
  const { report, base } = file
  const head = file.size < headSize ? new Uint8Array() : await file.bytes(0, headSize, path)
  if (!startsLikeHdf5(head)) await refuseStart(file)
  const version = head[8]!
  if (version > 3) {
    const details = { offset: base + 8, length: 1, path: `${path}.version` }
    report.fail(codes.version, { ...details, message: `version ${version}, known are 0 to 3` })
  }
  const isOld = version < 2
  const [offsetSize, lengthSize] = isOld ? [head[13]!, head[14]!] : [head[9]!, head[10]!]
  if (![offsetSize, lengthSize].every((width) => width === 4 || width === 8)) {
    const details = { offset: base + (isOld ? 13 : 9), length: 2, path: `${path}.sizes` }
    report.fail(codes.sizes, { ...details, message: `${offsetSize} and ${lengthSize} bytes` })
  }
  file.offsetSize = offsetSize
  file.lengthSize = lengthSize
  return isOld ? readOld(file, version) : readNew(file, version)
}

async function refuseStart(file: Hdf5File): Promise<never> {
  const { report, base } = file
  const block = userBlockOf(await file.bytes(0, Math.min(file.size, maxUserBlock + signature.length), path))
  const details = { offset: base, path }
  if (block === undefined) return report.fail(codes.magic, { ...details, message: 'there is no signature of HDF5' })
  const message = `the file begins with a user block of ${block} bytes; take it out with h5unjam`
  return report.fail(codes.unsupported, { ...details, length: block, message })
}

async function readOld(file: Hdf5File, version: number): Promise<Superblock> {
  const { offsetSize } = file
  const entry = 2 * offsetSize + 24
  const cursor = await file.cursor(0, (version === 1 ? 28 : 24) + 4 * offsetSize + entry, path)
  cursor.raw(8, 'signature')
  for (const field of ['version', 'free_space_version', 'root_version', 'reserved', 'message_version']) cursor.u8(field)
  for (const field of ['size_of_offsets', 'size_of_lengths', 'reserved']) cursor.u8(field)
  cursor.u16('group_leaf_k')
  cursor.u16('group_internal_k')
  cursor.u32('flags')
  if (version === 1) cursor.raw(4, 'chunk_k')
  checkBase(file, cursor.offset, file.address(cursor, 'base_address'))
  file.address(cursor, 'free_space_address')
  checkEnd(file, cursor.offset, file.neededAddress(cursor, 'end_of_file'))
  file.address(cursor, 'driver_address')
  cursor.enter('root')
  file.length(cursor, 'name_offset', offsetSize)
  const root = file.neededAddress(cursor, 'address')
  cursor.u32('cache_type')
  cursor.raw(4, 'reserved')
  cursor.raw(16, 'scratch')
  return { version, root }
}

async function readNew(file: Hdf5File, version: number): Promise<Superblock> {
  const cursor = await file.cursor(0, 12 + 4 * file.offsetSize + 4, path)
  cursor.raw(8, 'signature')
  for (const field of ['version', 'size_of_offsets', 'size_of_lengths', 'flags']) cursor.u8(field)
  checkBase(file, cursor.offset, file.address(cursor, 'base_address'))
  file.address(cursor, 'extension_address')
  checkEnd(file, cursor.offset, file.neededAddress(cursor, 'end_of_file'))
  const root = file.neededAddress(cursor, 'root_address')
  file.checksum(cursor)
  return { version, root }
}

function checkBase({ report }: Hdf5File, offset: number, address: number | undefined): void {
  if (address === 0) return
  report.fail(codes.unsupported, { offset, path: `${path}.base_address`, message: 'the file has a user block' })
}

function checkEnd({ report, size, base, context }: Hdf5File, offset: number, end: number): void {
  const details = { offset, path: `${path}.end_of_file` }
  if (end > size) {
    const message = `the file should have ${end} bytes, ${size} are there`
    const found = { ...details, message, ...(context.within ? {} : { needs: end }) }
    if (context.onLost) report.report(codes.truncated, found)
    else report.fail(codes.truncated, found)
  } else if (end < size) {
    const message = `${size - end} bytes come after the end that is stated`
    report.report(codes['trailing-bytes'], { ...details, offset: base + end, length: size - end, message })
  }
}
