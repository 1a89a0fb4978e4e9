// The sections beside the tensors: files of a Hugging Face model, ModelInfo, and sections of unknown types that an MCF file held.
import { findFile } from '../../../content/companions.js'
import { callerWord, failWith, writeCodes } from '../../../errors/index.js'
import {
  type Metadata,
  type MetaValue,
  type Model,
  type Part,
  type Payload,
  readPayload,
  type WriteOptions,
} from '../../../model/index.js'
import { encodeModelInfo } from '../model-info/encode.js'
import { configExtras, type ModelInfoContent, maxConfig, modelInfoOf } from '../model-info/filled-info.js'
import { modelInfoFromConfig } from '../model-info/from-config.js'
import { modelInfoFromMetadata } from '../model-info/from-metadata.js'
import { intMarkFor } from '../model-info/int-mark.js'
import { emptyModelInfo } from '../model-info/model-info.js'
import type { Notes } from '../notes.js'
import { encodeOtherFiles, isOtherFile } from '../other-files.js'
import { type KeptSection, sectionKind } from '../parts.js'
import { otherFilesType, packOrder, sectionTypes, typeOfFile } from '../sections.js'

export interface SectionContent {
  readonly type: number
  /** Absent for sections whose version is known. */
  readonly version?: number
  /** Readers do not look at it: another one of its type comes first in the directory. */
  readonly isSecond?: boolean
  readonly data: Payload | Uint8Array | readonly (Payload | Uint8Array)[]
}

/** In the order of the file that the model comes from; for other models in the order of the reference's pack command. */
export async function collectSections(
  model: Model,
  notes: Notes | undefined,
  options: WriteOptions,
): Promise<SectionContent[]> {
  const infoPart = modelInfoOf(model.parts)
  const info = await modelInfoData(model, infoPart, notes, options.signal)
  const sections: SectionContent[] = []
  const used = new Set<number>()
  const others = model.parts.filter(isOtherFile)
  for (const part of model.parts) {
    if (part === infoPart && info) sections.push({ type: sectionTypes.modelInfo, data: info })
    else if (part.kind === sectionKind && part.data) {
      const { type, version, isSecond } = part.content as KeptSection
      sections.push({ type, version, isSecond, data: part.data })
    } else if (isOtherFile(part)) {
      if (!used.has(otherFilesType)) sections.push({ type: otherFilesType, data: encodeOtherFiles(others) })
      used.add(otherFilesType)
    } else if (part.kind === 'file' && part.data) {
      const type = typeOfFile(part.name ?? '')
      if (type !== undefined && !used.has(type)) sections.push({ type, data: part.data })
      if (type !== undefined) used.add(type)
    }
  }
  if (!notes) sections.sort((a, b) => packOrder(a.type) - packOrder(b.type))
  if (!infoPart && info) sections.push({ type: sectionTypes.modelInfo, data: info })
  if (options.likeReference) sections.sort(byDirectory(notes))
  // A file has at least one section.
  if (sections.length + model.tensors.length === 0)
    sections.push({ type: sectionTypes.modelInfo, data: encodeModelInfo(emptyModelInfo, new Map()) })
  return sections
}

/**
 * The reference's quantize command copies sections in the order of the directory that it finds. Its pack command, which comes before for
 * other models, leaves one that ascends by type.
 */
function byDirectory(notes: Notes | undefined): (a: SectionContent, b: SectionContent) => number {
  if (!notes) return (a, b) => a.type - b.type
  const placeOf = ({ type }: SectionContent): number => {
    const place = notes.directory.indexOf(type)
    return place < 0 ? notes.directory.length : place
  }
  return (a, b) => placeOf(a) - placeOf(b)
}

/** The bytes of ModelInfo; those of the file when nothing has changed. Undefined when there should be none. */
async function modelInfoData(
  model: Model,
  part: Part | undefined,
  notes: Notes | undefined,
  signal: AbortSignal | undefined,
): Promise<Payload | Uint8Array | undefined> {
  const config = findFile(model.parts, 'config.json')?.data
  // Written beside what the model has: readers take it for the writer's own.
  const metadata: Metadata = new Map([...model.metadata, ...intMarkFor(model.tensors)])
  if (part) {
    const content = part.content as ModelInfoContent | undefined
    const known = content ? [...configExtras(content)] : []
    const isOutdated = content?.config && config && config !== content.config
    if (isOutdated) return fillModelInfo(await readConfig(config, signal), content.info.modelName, metadata)
    if (part.data && sameMetadata(content?.extras, new Map([...known, ...metadata]))) return part.data
    if (content) {
      const all = new Map([...known, ...metadata])
      const { info, isDerived } = content
      const isFromMetadata = isDerived && !content.config
      return encodeModelInfo(isFromMetadata ? modelInfoFromMetadata(all, info.modelName) : info, all, content.flags)
    }
    const message = `the ModelInfo section cannot be understood, so nothing can be added to it; leave it out with ${callerWord(`--without ${part.kind}`, `without: ['${part.kind}']`)}`
    failWith(writeCodes['not-writable'], { file: '', path: 'model_info', message })
  }
  // An MCF file without ModelInfo stays without, unless there is metadata to hold.
  if (notes) return metadata.size === 0 ? undefined : encodeModelInfo(modelInfoFromMetadata(metadata, ''), metadata)
  const [main] = model.files
  const name = main?.folder?.name ?? modelName(main?.name ?? '')
  return fillModelInfo(config && (await readConfig(config, signal)), name, metadata)
}

const readConfig = async (config: Payload, signal: AbortSignal | undefined): Promise<Uint8Array | undefined> =>
  config.byteLength <= maxConfig ? readPayload(config, signal) : undefined

function fillModelInfo(config: Uint8Array | undefined, name: string, metadata: Metadata): Uint8Array {
  const { info, extras } = config
    ? modelInfoFromConfig(config, name)
    : { info: modelInfoFromMetadata(metadata, name), extras: [] }
  return encodeModelInfo(info, new Map([...extras, ...metadata]))
}

/** As the reference: the directory that the model lies in. For a bare file name, the name without its extensions. */
export function modelName(path: string): string {
  const segments = path.split(/[/\\]/).filter((segment) => segment !== '' && segment !== '.')
  const directory = segments.at(-2)
  if (directory !== undefined && directory !== '..') return directory
  return (segments.at(-1) ?? '').replace(/(\.[^.]+)?(\.index)?\.json$|\.[^.]*$/, '')
}

function sameMetadata(a: Metadata | undefined, b: Metadata): boolean {
  if (a === b) return true
  if ((a?.size ?? 0) !== b.size) return false
  return [...b].every(([key, value]) => sameValue(a?.get(key), value))
}

function sameValue(a: MetaValue | undefined, b: MetaValue): boolean {
  if (a?.type === 'str' && b.type === 'str')
    return a.value === b.value && (a.bytes === b.bytes || String(a.bytes) === String(b.bytes))
  const isNumber = a?.type === 'u32' || a?.type === 'f32'
  return isNumber && a.type === b.type && Object.is(a.value, (b as typeof a).value)
}
