// Parts of an AERO file that another container has carried: whether they are what they should be.
import type { Part } from '../../model/index.js'
import type { Chunk } from './control/chunk.js'
import { chunkKind, indexKind, isObject, manifestKind } from './file.js'
import { isTagged } from './index/tagged.js'
import { setExtraKind } from './set/read-set.js'
import { knownKeys } from './set/set-json.js'
import { digestSize } from './structs.js'

/** Keys that are written from the model. A stranger's file must not replace them. */
const writtenKeys: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [manifestKind, new Set(['format', 'chunks', 'shards'])],
  [indexKind, new Set(['tensors'])],
  [setExtraKind, knownKeys],
])

export function restorePart(part: Part): Part | undefined {
  const { value } = part
  const written = writtenKeys.get(part.kind)
  if (written) {
    const isProper = isObject(value) && isTagged(value) && !Object.keys(value).some((key) => written.has(key))
    return isProper ? part : undefined
  }
  return part.kind === chunkKind && part.data && isChunk(part.content) ? part : undefined
}

/** Hashes are computed again, so chunks of hashes are never kept. */
const neverKept: readonly unknown[] = ['IHSH', 'PHSH']

/** Four bytes, whatever they are. */
const isFourcc = (value: unknown): boolean =>
  typeof value === 'string' && value.length === 4 && [...value].every((letter) => letter.charCodeAt(0) <= 0xff)

/** Whether everything is there that is needed to write a kept chunk again. */
function isChunk(content: unknown): content is Chunk {
  const { fourcc, name, flags, ulen, hash } = (content ?? {}) as Partial<Chunk>
  const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
  const isHash = hash instanceof Uint8Array && hash.byteLength === digestSize
  return (
    isFourcc(fourcc) &&
    !neverKept.includes(fourcc) &&
    typeof name === 'string' &&
    isCount(flags) &&
    isCount(ulen) &&
    isHash
  )
}
