// Sections as parts of a model: files of a Hugging Face model, ModelInfo, and sections that only MCF knows, kept as they are.
import type { ByteSource } from '../../bytes/index.js'
import { filePart } from '../../content/companions.js'
import { type Part, type ReadContext, rangePayload, readPayload } from '../../model/index.js'
import { describeContent, type ModelInfoContent, modelInfoKind } from './model-info/filled-info.js'
import { hasIntMark, intMarkKey } from './model-info/int-mark.js'
import { describeModelInfo, parseModelInfo } from './model-info/model-info.js'
import { fileNameOf, hexType, isKnown, type Section, sectionName, sectionTypes } from './sections.js'

export const sectionKind = 'mcf.section'

/** What a part of this kind holds: a section of unknown type, or one that readers skip because another of its type comes first. */
export interface KeptSection {
  readonly type: number
  readonly version: number
  readonly isSecond: boolean
}

/** `isFirst`: of its type. A second one means nothing to readers; it is kept like one of unknown type. */
export function toPart(
  source: ByteSource,
  { type, version, offset, size }: Section,
  isFirst: boolean,
  info: ModelInfoContent | undefined,
  { extents }: ReadContext,
): Part {
  const data = rangePayload(source, offset, size)
  if (type === sectionTypes.modelInfo && isFirst) {
    const value = info ? describeContent(info) : { opaque: true }
    const sharing = info?.isDerived ? 'derived' : 'private'
    return { kind: modelInfoKind, sharing, value, data, ...(info && { content: info }) }
  }
  extents?.add({ file: source.name, offset, length: size, path: sectionName(type), kind: 'field' })
  const name = fileNameOf(type)
  if (name !== undefined && isFirst) return filePart(name, data)
  const value = { type: hexType(type), version, bytes: size }
  const content: KeptSection = { type, version, isSecond: !isFirst }
  return { kind: sectionKind, sharing: 'private', name: hexType(type), value, data, content }
}

/** A part that another container has carried. */
export async function restorePart(part: Part): Promise<Part | undefined> {
  if (!part.data) return undefined
  if (part.kind === modelInfoKind) {
    const parsed = parseModelInfo(await readPayload(part.data))
    if (typeof parsed === 'string') return { ...part, value: { opaque: true }, content: undefined }
    const filled = hasIntMark(parsed.extras) ? new Set([intMarkKey]) : undefined
    const content: ModelInfoContent = { ...parsed, isDerived: false, filled }
    return { ...part, value: describeModelInfo(parsed.info), content }
  }
  if (part.kind !== sectionKind) return undefined
  const { type, version, isSecond } = (part.content ?? {}) as { readonly [key in keyof KeptSection]: unknown }
  if (!isU32(type) || !isU32(version)) return undefined
  // Files from before `isSecond` was stored held sections of known types only where another one came first.
  const content: KeptSection = { type, version, isSecond: typeof isSecond === 'boolean' ? isSecond : isKnown(type) }
  return { ...part, name: hexType(type), content }
}

const isU32 = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32
