// The data of a GGUF file begins at the first multiple of the alignment after the index, so room for a longer index must be inside it: an
// entry of zeros, under a key that other programs ignore. In the model it is a part, not metadata.
import type { Metadata, MetaValue, Model, Part } from '../../model/index.js'

export const slackKey = 'tare.slack'
export const slackOption = 'header-slack'
const slackKind = 'gguf.slack'

/** What the entry takes in addition to its zeros: length of the key, key, type, type of the items, count. */
export const fillerOverhead = 8 + slackKey.length + 4 + 4 + 8

export const filler = (length: number): MetaValue => ({
  type: 'array',
  item: 'u8',
  length,
  values: () => Array.from({ length }, () => ({ type: 'u8', value: 0 })),
})

/** The metadata without the room, and the room as a part. */
export function splitSlack(metadata: Metadata): { metadata: Metadata; parts: readonly Part[] } {
  const found = metadata.get(slackKey)
  if (found?.type !== 'array' || found.item !== 'u8') return { metadata, parts: [] }
  const rest = new Map([...metadata].filter(([key]) => key !== slackKey))
  return { metadata: rest, parts: [{ kind: slackKind, sharing: 'derived', value: { bytes: found.length } }] }
}

/** How many bytes of room the model had where it was read. */
export function slackOf({ parts }: Model): number {
  const value = parts.find(({ kind }) => kind === slackKind)?.value as { readonly bytes: number } | undefined
  return value?.bytes ?? 0
}
