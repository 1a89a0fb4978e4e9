// Reads a file: header and directory, then the sections that make up the index. Files of a Hugging Face model and sections of unknown
// type are listed, not read.
import { type ByteSource, Cursor } from '../../bytes/index.js'
import { type Model, type Opened, type Part, type ReadContext, rangePayload } from '../../model/index.js'
import { check } from './check.js'
import { codes } from './codes.js'
import { readContainer } from './container.js'
import { judgeModelInfo, type ModelInfoContent, ownExtras } from './model-info/filled-info.js'
import { parseModelInfo } from './model-info/model-info.js'
import { type Notes, notesPart } from './notes.js'
import { readOtherFiles } from './other-files.js'
import { toPart } from './parts.js'
import { completeCutFile } from './salvage.js'
import { otherFilesType, rangeOf, type Section, sectionTypes, typeOfFile } from './sections.js'
import { modelInfoHeader } from './structs.js'
import { readTensors } from './tensor-index/read-tensors.js'
import { alignmentOf } from './write/place.js'

/** A larger ModelInfo section is not looked into. */
const maxModelInfo = 1 << 24

export async function read(given: ByteSource, context: ReadContext): Promise<Opened> {
  const source = context.onLost ? await completeCutFile(given, context) : given
  const { header, sections, directory, gaps } = await readContainer(source, context)
  // Of each type, readers take the section that the directory lists first.
  const firsts = new Map<number, Section>()
  for (const section of sections) if (!firsts.has(section.type)) firsts.set(section.type, section)

  const info = await readModelInfo(source, firsts, context)
  const parts: Part[] = []
  for (const section of sections.toSorted((a, b) => a.offset - b.offset || a.index - b.index)) {
    const isFirst = firsts.get(section.type) === section
    if (isFirst && holdsTensors(section.type)) continue
    const files = isFirst && section.type === otherFilesType && (await readOtherFiles(source, section, context))
    for (const each of files || [toPart(source, section, isFirst, info, context)]) parts.push(each)
  }
  const tensors = await readTensors(source, { header, directory }, firsts, context)

  const dataSection = firsts.get(sectionTypes.tensorData)
  const data = dataSection && rangeOf(dataSection)
  const notes: Notes = {
    minor: header.minor,
    flags: header.flags,
    directory: sections.map(({ type }) => type),
    versions: new Map(sections.filter(({ version }) => version !== 1).map(({ type, version }) => [type, version])),
    hasQuantInfo: firsts.has(sectionTypes.quantInfo),
    alignment: () => data && alignmentOf(tensors, data),
  }
  const model: Model = {
    format: 'mcf',
    version: `${header.major}.${header.minor}`,
    metadata: info ? ownExtras(info) : new Map(),
    tensors,
    parts: [...parts, notesPart(notes, sections)],
    files: [source],
  }
  return { model, check: (checking) => check(model, { gaps, data }, checking) }
}

const holdsTensors = (type: number): boolean =>
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
