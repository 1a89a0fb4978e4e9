// Stows and restores parts. Files and vocabularies are kept as text if they are text.
import { decodeUtf8, encodeUtf8, fromBase64, fromHex, toBase64, toHex } from '../bytes/index.js'
import { fileKind } from '../content/companions.js'
import {
  type SpecialIds,
  specialNames,
  tableOf,
  type Vocabulary,
  vocabularyKind,
  vocabularyPart,
} from '../content/vocabulary.js'
import { formatById } from '../formats/index.js'
import { bytesPayload, type Implementation, type JsonValue, type Part, readPayload } from '../model/index.js'
import type { StowedPart } from './document.js'
import { fromPlainData, toPlainData } from './plain-data.js'

/** Larger parts do not belong in metadata, which every reader loads into memory. Tokenizers of today take up to 35 MB. */
const maxBytes = 64 << 20

const sizesKind = 'size-variables'

/** The description, or why the part cannot be stowed. */
export async function describePart(part: Part, owner: string, signal?: AbortSignal): Promise<StowedPart | string> {
  const { kind, sharing, name, value, data } = part
  if (sharing === 'derived') return 'it is computed again'
  if ((data?.byteLength ?? 0) > maxBytes) return `it has more than ${maxBytes >> 20} MiB`
  if (kind === vocabularyKind && !part.content) return 'it has no tokens'
  if (!isCommon(kind) && !(await ownerOf(part.owner ?? owner))?.restorePart)
    return 'its own format could not take it back'
  const content = plainContent(part)
  return {
    kind,
    sharing,
    owner: part.owner ?? owner,
    ...(name !== undefined && { name }),
    value,
    ...(data && textOf(await readPayload(data, signal))),
    ...(content !== undefined && { content }),
  }
}

function textOf(bytes: Uint8Array): { text: string } | { base64: string } {
  const text = decodeUtf8(bytes)
  return text === undefined ? { base64: toBase64(bytes) } : { text }
}

function plainContent(part: Part): JsonValue | undefined {
  if (part.kind !== vocabularyKind) return part.content === undefined ? undefined : toPlainData(part.content)
  const { tokens, special } = part.content as Vocabulary
  return { tokens: tokens.map((token) => decodeUtf8(token) ?? { $bytes: toHex(token) }), special: { ...special } }
}

/** Kinds whose content is handled here; all others are for the format that owns them. */
const isCommon = (kind: string): boolean => [vocabularyKind, fileKind, sizesKind].includes(kind)

const ownerOf = async (id: string): Promise<Implementation | undefined> => formatById(id)?.load()

/** The original part; undefined if the description cannot be used. */
export async function restorePart(stowed: StowedPart): Promise<Part | undefined> {
  const { kind, sharing, owner, name, value, text, base64, content } = stowed
  const bytes = text === undefined ? (base64 === undefined ? undefined : fromBase64(base64)) : encodeUtf8(text)
  if (base64 !== undefined && !bytes) return undefined
  if (kind === vocabularyKind) return restoreVocabulary(content)
  const part: Part = {
    kind,
    sharing,
    owner,
    ...(name !== undefined && { name }),
    value,
    ...(bytes && { data: bytesPayload(bytes) }),
    ...(content !== undefined && { content: fromPlainData(content) }),
  }
  if (kind === fileKind) return part.data && name !== undefined ? { ...part, owner: undefined } : undefined
  if (kind === sizesKind) return isSizes(part.content) ? { ...part, owner: undefined } : undefined
  // Only the format that created the content can tell whether it is valid.
  return (await ownerOf(owner))?.restorePart?.(part)
}

function isSizes(content: unknown): boolean {
  const isU64 = (value: unknown): boolean => typeof value === 'bigint' && value >= 0n && value < 2n ** 64n
  return content instanceof Map && [...content].every(([name, size]) => typeof name === 'string' && isU64(size))
}

function restoreVocabulary(content: JsonValue | undefined): Part | undefined {
  const { tokens, special } = (content ?? {}) as { readonly tokens?: JsonValue; readonly special?: SpecialIds }
  if (!Array.isArray(tokens)) return undefined
  const bytes = tokens.map((token) => {
    if (typeof token === 'string') return encodeUtf8(token)
    const hex = (token as { readonly $bytes?: JsonValue } | null)?.$bytes
    return typeof hex === 'string' ? fromHex(hex) : undefined
  })
  if (bytes.includes(undefined)) return undefined
  const ids: Partial<Record<string, number>> = {}
  for (const each of specialNames) {
    const id = special?.[each]
    if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0) ids[each] = id
  }
  return vocabularyPart(tableOf(bytes as Uint8Array[]), ids as SpecialIds)
}
