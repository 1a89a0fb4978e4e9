// What a file says about itself besides its content: which layout it has and how it was written. It is a derived part, so that a copy
// is written the same way, while other formats need no place for it.

import type { JsonValue, Model, OptionValues, Part } from '../../model/index.js'
import { type LinearWeights, type Orientation, orientationKind } from '../../model/orientation.js'

export type LayoutName = 'sectioned' | 'stream'

const layoutKind = 'embd.layout'
/** Metadata entries whose key had come before; they are content, so they are private and not derived. */
export const repeatedKind = 'embd.repeated-metadata'

/** The range of a file, [start, end). */
export type Range = readonly [start: number, end: number]

/** What the check of a sectioned file needs to know. */
export interface SectionedFile {
  readonly layout: 'sectioned'
  readonly aligned: boolean
  readonly checksums: boolean
  /** Absent when there is no footer. */
  readonly footer?:
    | { readonly offset: number; readonly dataChecksum: number; readonly fileChecksum: number }
    | undefined
  /** Absent when it does not lie inside the file. */
  readonly data?: Range | undefined
  /** Bytes that must be zero, ascending: where each stretch of them starts and ends. There can be one behind each tensor. */
  readonly padding: Float64Array
}

export interface StreamFile {
  readonly layout: 'stream'
}

export function layoutPart(file: SectionedFile | StreamFile): Part {
  const value: JsonValue =
    file.layout === 'stream'
      ? { layout: file.layout }
      : { layout: file.layout, aligned: file.aligned, checksums: file.checksums }
  return { kind: layoutKind, sharing: 'derived', value, content: file }
}

export function fileOf(model: Pick<Model, 'parts'>): SectionedFile | StreamFile | undefined {
  const part = model.parts.find(({ kind }) => kind === layoutKind)
  return part?.content as SectionedFile | StreamFile | undefined
}

/** Whether the model is one of a sectioned file, which states what it states; another container may have carried it since. */
export const isSectioned = (model: Pick<Model, 'parts' | 'origin'>): boolean =>
  fileOf(model)?.layout === 'sectioned' || (model.origin?.format === 'embd' && model.origin.variant === 'sectioned')

/** The layout to write: as asked, or as the source was, or sectioned. */
export function layoutToWrite(model: Pick<Model, 'parts' | 'variant'>, extra: OptionValues | undefined): LayoutName {
  const asked = extra?.layout
  if (asked === 'sectioned' || asked === 'stream') return asked
  return fileOf(model)?.layout ?? (model.variant === 'stream' ? 'stream' : 'sectioned')
}

/** Repeated metadata entries that another container has carried. */
export function restorePart(part: Part): Part | undefined {
  const { kind, value } = part
  const isPair = (pair: JsonValue): boolean =>
    Array.isArray(pair) && pair.length === 2 && pair.every((each) => typeof each === 'string')
  return kind === repeatedKind && Array.isArray(value) && value.every(isPair) ? part : undefined
}

/** How readers of a layout take linear weights: the document wants [out, in], the reference library [in, out]. */
export const orientationOf: Readonly<Record<LayoutName, Orientation>> = { sectioned: 'out-in', stream: 'in-out' }

export function orientationPart(found: LinearWeights, layout: LayoutName): Part[] {
  if (found.linear === 'none') return []
  const assumed: Record<string, JsonValue> = found.linear === 'undecidable' ? { assumed: orientationOf[layout] } : {}
  const value = { linear: found.linear, ...assumed, tensors: found.names.length }
  return [{ kind: orientationKind, sharing: 'derived', value, content: found }]
}
