// Sections of an MCF file that another container has carried.
import { type Part, readPayload } from '../../model/index.js'
import { type ModelInfoContent, modelInfoKind } from './model-info/filled-info.js'
import { hasIntMark, intMarkKey } from './model-info/int-mark.js'
import { describeModelInfo, parseModelInfo } from './model-info/model-info.js'
import { hexType, isKnown, type KeptSection, sectionKind } from './sections.js'

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
  // What knows no such mark kept sections of known types only where another one came first.
  const content: KeptSection = { type, version, isSecond: typeof isSecond === 'boolean' ? isSecond : isKnown(type) }
  return { ...part, name: hexType(type), content }
}

const isU32 = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32
