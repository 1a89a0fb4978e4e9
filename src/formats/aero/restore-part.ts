// What an AERO file holds beyond tensors and metadata, after another container has carried it.
import { toHex } from '../../bytes/index.js'
import type { Part } from '../../model/index.js'
import type { Chunk } from './chunk.js'
import { chunkKind, indexKind, manifestKind } from './file.js'
import { setExtraKind } from './read-set.js'

const valueKinds: readonly string[] = [manifestKind, indexKind, setExtraKind]

export function restorePart(part: Part): Part | undefined {
  const { value } = part
  if (valueKinds.includes(part.kind))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? part : undefined
  return part.kind === chunkKind && part.data && isChunk(part.content) ? part : undefined
}

/** What writing a kept chunk again needs to know of it. */
function isChunk(content: unknown): content is Chunk {
  const { fourcc, name, flags, ulen, hash } = (content ?? {}) as Partial<Chunk>
  const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
  const isHash = hash instanceof Uint8Array && toHex(hash).length === 64
  return /^[ -~]{4}$/.test(String(fourcc)) && typeof name === 'string' && isCount(flags) && isCount(ulen) && isHash
}
