// The name of a tensor as bytes, if it is not text.
import { joinBytes } from '../bytes/join-bytes.js'
import type { Tensor } from './model.js'

const dot = Uint8Array.of(0x2e)
const hash = Uint8Array.of(0x23)

/** Segments of a path are joined with dots, and a statistic follows a hash sign. Undefined if the name is text. */
export function nameBytes({ path, stat, rawName }: Pick<Tensor, 'path' | 'stat' | 'rawName'>): Uint8Array | undefined {
  if (!rawName) return undefined
  const statAt = path && stat !== undefined ? path.length : -1
  return joinBytes(rawName.flatMap((bytes, i) => (i === statAt ? [hash, bytes] : i === 0 ? [bytes] : [dot, bytes])))
}
