// Reads a file: header and directory, then the sections that make up the index. Files of a Hugging Face model and sections of unknown
// type are listed, not read.
import { type ByteSource, Cursor } from '../../bytes/index.js'
import { filePart } from '../../content/companions.js'
import { type Model, type Part, type ReadContext, rangePayload } from '../../model/index.js'
import { codes } from './codes.js'
import { readContainer } from './container.js'
import {
  describeContent,
  judgeModelInfo,
  type ModelInfoContent,
  modelInfoKind,
  ownExtras,
} from './model-info/filled-info.js'
import { parseModelInfo } from './model-info/model-info.js'
import { notesPart } from './notes.js'
import { readOtherFiles } from './other-files.js'
import {
  fileNameOf,
  hexType,
  type KeptSection,
  otherFilesType,
  type Section,
  sectionKind,
  sectionName,
  sectionTypes,
  typeOfFile,
} from './sections.js'
import { modelInfoHeader } from './structs.js'
import { alignmentOf, readStore } from './tensor-index/read-tensors.js'

/** A larger ModelInfo section is not looked into. */
const maxModelInfo = 1 << 24

export async function read(source: ByteSource, context: ReadContext): Promise<Model> {
  const container = await readContainer(source, context)
  const firsts = firstOfType(container.sections)
  const parsed = await readModelInfo(source, firsts, context)
  const parts: Part[] = []
  for (const section of container.sections.toSorted((a, b) => a.offset - b.offset || a.index - b.index)) {
    const isFirst = firsts.get(section.type) === section
    if (isFirst && isStore(section.type)) continue
    const files = isFirst && section.type === otherFilesType && (await readOtherFiles(source, section, context))
    parts.push(...(files || [toPart(source, section, isFirst, parsed, context)]))
  }
  const tensors = await readStore(source, container, firsts, context)
  const { header: head, sections } = container
  const data = firsts.get(sectionTypes.tensorData)
  const notes = {
    minor: head.minor,
    flags: head.flags,
    directory: sections.map(({ type }) => type),
    versions: new Map(sections.filter(({ version }) => version !== 1).map(({ type, version }) => [type, version])),
    gaps: container.gaps,
    data: data && { start: data.offset, end: data.offset + data.size },
    hasQuantInfo: firsts.has(sectionTypes.quantInfo),
    alignment: () => (data ? alignmentOf(tensors, data) : undefined),
  }
  return {
    format: 'mcf',
    version: `${head.major}.${head.minor}`,
    metadata: parsed ? ownExtras(parsed) : new Map(),
    tensors,
    parts: [...parts, notesPart(notes, sections)],
    files: [source],
  }
}

function firstOfType(sections: readonly Section[]): Map<number, Section> {
  const firsts = new Map<number, Section>()
  for (const section of sections) if (!firsts.has(section.type)) firsts.set(section.type, section)
  return firsts
}

const isStore = (type: number): boolean =>
  type === sectionTypes.tensorIndex || type === sectionTypes.tensorData || type === sectionTypes.quantInfo

async function readModelInfo(
  source: ByteSource,
  sections: ReadonlyMap<number, Section>,
  context: ReadContext,
): Promise<ModelInfoContent | undefined> {
  const { offset = 0, size = 0 } = sections.get(sectionTypes.modelInfo) ?? {}
  if (size === 0) return undefined
  const { report, extents, signal } = context
  const whole = { offset, length: size, path: 'model_info' }
  const bytes = size <= maxModelInfo ? await source.read(offset, size, { signal }) : undefined
  const parsed = bytes ? parseModelInfo(bytes) : `${size} bytes, at most ${maxModelInfo} are read`
  if (typeof parsed === 'string') {
    report.report(codes['model-info-opaque'], { ...whole, message: parsed })
    extents?.add({ file: source.name, ...whole, kind: 'field' })
    return undefined
  }
  if (parsed.flags !== 0) {
    const place = { offset: offset + modelInfoHeader.offsetOf('flags'), length: 4, path: 'model_info.flags' }
    report.report(codes['model-info-flags'], { ...place, message: `the flags are ${parsed.flags}` })
  }
  if (extents) {
    modelInfoHeader.read(new Cursor(bytes!, report, { base: offset, extents, path: ['model_info'] }))
    const rest = { offset: offset + modelInfoHeader.size, length: size - modelInfoHeader.size }
    extents.add({ file: source.name, ...rest, path: 'model_info.values', kind: 'field' })
  }
  const config = sections.get(typeOfFile('config.json')!)
  return judgeModelInfo(parsed, bytes!, config && rangePayload(source, config.offset, config.size), signal)
}

/** The second section of a type means nothing to readers; it is kept like one of unknown type. */
function toPart(
  source: ByteSource,
  { type, version, offset, size }: Section,
  isFirst: boolean,
  parsed: ModelInfoContent | undefined,
  { extents }: ReadContext,
): Part {
  const data = rangePayload(source, offset, size)
  const name = fileNameOf(type)
  if (type === sectionTypes.modelInfo && isFirst) {
    const value = parsed ? describeContent(parsed) : { opaque: true }
    const sharing = parsed?.isDerived ? 'derived' : 'private'
    return { kind: modelInfoKind, sharing, value, data, ...(parsed && { content: parsed }) }
  }
  extents?.add({ file: source.name, offset, length: size, path: sectionName(type), kind: 'field' })
  if (name !== undefined && isFirst) return filePart(name, data)
  const value = { type: hexType(type), version, bytes: size }
  const content: KeptSection = { type, version, isSecond: !isFirst }
  return { kind: sectionKind, sharing: 'private', name: hexType(type), value, data, content }
}
