// Sections of an MCF file that another container has carried.
import { type Part, readPayload } from '../../model/index.js'
import { describeModelInfo, parseModelInfo } from './model-info.js'
import { hexType } from './sections.js'

export async function restorePart(part: Part): Promise<Part | undefined> {
  if (!part.data) return undefined
  if (part.kind === 'mcf.model-info') {
    const content = parseModelInfo(await readPayload(part.data))
    if (typeof content === 'string') return { ...part, value: { opaque: true }, content: undefined }
    return { ...part, value: describeModelInfo(content.info), content }
  }
  if (part.kind !== 'mcf.section') return undefined
  const { type, version } = (part.content ?? {}) as { readonly type?: unknown; readonly version?: unknown }
  if (!isU32(type) || !isU32(version)) return undefined
  return { ...part, name: hexType(type), content: { type, version } }
}

const isU32 = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32
