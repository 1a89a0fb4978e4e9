// The bytes of a chunk as they were before its filters: those are undone in reverse order.
import { type Details, failWith } from '../../errors/index.js'
import { inflated } from '../deflate/inflate.js'
import type { Chunk } from './chunks.js'
import { hdf5Codes as codes } from './codes.js'
import type { Filter } from './layout.js'

/** Compressed bytes per step: they unfold to at most 16 MiB, should the platform not apply backpressure. */
const inputWindow = 1 << 14

export interface Packing {
  readonly filters: readonly Filter[]
  /** Bytes of a chunk before packing, and of an element. */
  readonly length: number
  readonly elementSize: number
}

type Place = Omit<Details, 'message'> & { readonly file: string }

export async function unpackChunk(
  stored: Uint8Array,
  { mask }: Pick<Chunk, 'mask'>,
  packing: Packing,
  place: Place,
): Promise<Uint8Array> {
  const { filters, length, elementSize } = packing
  const fail = (message: string): never => failWith(codes['chunk-data'], { ...place, message })
  let bytes = stored
  for (let i = filters.length - 1; i >= 0; i--) {
    if (mask & (1 << i)) continue
    const filter = filters[i]!
    if (filter === 'fletcher32') bytes = checked(bytes, fail)
    else if (filter === 'shuffle') bytes = unshuffled(bytes, elementSize)
    // A checksum may have been added before.
    else bytes = await inflate(bytes, length + 4 * filters.length, fail)
  }
  if (bytes.byteLength !== length) fail(`${bytes.byteLength} bytes came out of it, ${length} were expected`)
  return bytes
}

async function inflate(bytes: Uint8Array, max: number, fail: (message: string) => never): Promise<Uint8Array> {
  const out = new Uint8Array(max)
  let at = 0
  for await (const piece of inflated(pieces(bytes), 'deflate', fail)) {
    if (at + piece.byteLength > max) fail(`more than ${max} bytes come out of it`)
    out.set(piece, at)
    at += piece.byteLength
  }
  return out.subarray(0, at)
}

function* pieces(bytes: Uint8Array): Generator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.byteLength; at += inputWindow) yield bytes.subarray(at, at + inputWindow)
}

/** All first bytes of the elements, then all second ones, and so on; what is no whole element follows as it is. */
function unshuffled(bytes: Uint8Array, size: number): Uint8Array {
  const count = Math.floor(bytes.byteLength / size)
  if (size === 1 || count < 2) return bytes
  const out = new Uint8Array(bytes.byteLength)
  for (let plane = 0; plane < size; plane++) {
    const from = plane * count
    for (let i = 0, to = plane; i < count; i++, to += size) out[to] = bytes[from + i]!
  }
  out.set(bytes.subarray(count * size), count * size)
  return out
}

function checked(bytes: Uint8Array, fail: (message: string) => never): Uint8Array {
  const end = bytes.byteLength - 4
  if (end < 0) return fail('it is too short for a checksum')
  const stated = new DataView(bytes.buffer, bytes.byteOffset + end).getUint32(0, true)
  const content = bytes.subarray(0, end)
  const found = fletcher32(content)
  // Old libraries on other machines wrote each half the other way round, which HDF5 accepts.
  const swapped = ((found & 0x00ff00ff) << 8) | ((found >>> 8) & 0x00ff00ff)
  if (stated !== found && stated !== swapped >>> 0) fail('it does not have its checksum')
  return content
}

/** Over words of 16 bits, the upper byte first. */
export function fletcher32(bytes: Uint8Array): number {
  const fold = (sum: number): number => (sum & 0xffff) + (sum >>> 16)
  let [low, high] = [0, 0]
  const even = bytes.byteLength - (bytes.byteLength % 2)
  for (let at = 0; at < even; ) {
    const end = Math.min(even, at + 720)
    for (; at < end; at += 2) {
      low += (bytes[at]! << 8) | bytes[at + 1]!
      high += low
    }
    low = fold(low)
    high = fold(high)
  }
  if (even < bytes.byteLength) {
    low = fold(low + (bytes[even]! << 8))
    high = fold(high + low)
  }
  return ((fold(high) << 16) | fold(low)) >>> 0
}
