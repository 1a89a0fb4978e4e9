// The file has no magic number. It is recognised by its first entry: a count, and a name of printable characters whose length is stated before it.
import { decodeUtf8 } from '../../bytes/index.js'

/** The minimum that an entry takes: two lengths, a name of one byte, the calls and one value. */
export const minEntrySize = 4 + 1 + 4 + 4 + 4

export function looksLikeEntries(head: Uint8Array, size: number | undefined): boolean {
  if (head.byteLength < 4 + minEntrySize) return false
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  const [count, length] = [view.getInt32(0, true), view.getInt32(4, true)]
  if (count < 1 || length < 1 || 8 + length + 8 > head.byteLength) return false
  if (size !== undefined && count > (size - 4) / minEntrySize) return false
  const name = decodeUtf8(head.subarray(8, 8 + length))
  if (name === undefined || !/^[\w.:/+-]+$/.test(name)) return false
  return view.getInt32(8 + length, true) >= 0 && view.getInt32(12 + length, true) !== 0
}
