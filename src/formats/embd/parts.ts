// What a file says about itself besides its content: which layout it has and how it was written. It is a derived part, so that a copy
// is written the same way, while other formats need no place for it.
import type { JsonValue, Model, OptionValues, Part } from '../../model/index.js'

export type LayoutName = 'sectioned' | 'stream'

type FileManner =
  | { readonly layout: 'stream' }
  | { readonly layout: 'sectioned'; readonly aligned: boolean; readonly checksums: boolean }

const layoutKind = 'embd.layout'
/** Metadata entries whose key had come before; they are content, so they are private and not derived. */
export const repeatedKind = 'embd.repeated-metadata'

export const layoutPart = (manner: FileManner): Part => ({
  kind: layoutKind,
  sharing: 'derived',
  value: manner,
  content: manner,
})

export function mannerOf(model: Pick<Model, 'parts'>): FileManner | undefined {
  return model.parts.find(({ kind }) => kind === layoutKind)?.content as FileManner | undefined
}

/** Whether the model is one of a sectioned file, which states what it states; another container may have carried it since. */
export const isSectioned = (model: Pick<Model, 'parts' | 'origin'>): boolean =>
  mannerOf(model)?.layout === 'sectioned' || (model.origin?.format === 'embd' && model.origin.variant === 'sectioned')

/** The layout to write: as asked, or as the source was, or sectioned. */
export function layoutToWrite(model: Pick<Model, 'parts' | 'variant'>, extra: OptionValues | undefined): LayoutName {
  const asked = extra?.layout
  if (asked === 'sectioned' || asked === 'stream') return asked
  return mannerOf(model)?.layout ?? (model.variant === 'stream' ? 'stream' : 'sectioned')
}

/** Repeated metadata entries that another container has carried. */
export function restorePart(part: Part): Part | undefined {
  const { kind, value } = part
  const isPair = (pair: JsonValue): boolean =>
    Array.isArray(pair) && pair.length === 2 && pair.every((each) => typeof each === 'string')
  return kind === repeatedKind && Array.isArray(value) && value.every(isPair) ? part : undefined
}
