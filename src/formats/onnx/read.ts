// Reads a model: one protobuf message without any header, in which the weights are fields like all others. So the whole file is walked,
// stepping over the weights unread.
import type { ByteSource } from '../../bytes/index.js'
import { TareError } from '../../errors/index.js'
import { type MetaValue, type Model, type ReadContext, text } from '../../model/index.js'
import { ownCodes as codes } from './codes.js'
import { textForm, textHead } from './detect.js'
import { Found } from './graph/found.js'
import { newScope } from './graph/names.js'
import { type GraphDraft, GraphWalker, newGraph } from './graph/walk-graph.js'
import { modelMessage, opsetMessage } from './messages.js'
import { OnnxReader, type Text } from './reader.js'
import { type ExternalData, ExternalFiles } from './tensors/external.js'
import { mainDomain, mainGraph, opsetPrefix, prefix } from './words.js'

/** Newer than any version yet: versions have added fields so far, and changed none. */
const maxIrVersion = 15n

/** The model, and what checking and editing need beyond it. */
export interface Reading {
  readonly model: Model
  readonly found: Found
}

export async function readModel(
  source: ByteSource,
  context: ReadContext,
  external: ExternalData = new ExternalFiles(source, context),
): Promise<Reading> {
  const { report } = context
  if (source.size === 0) report.fail(codes.empty, { offset: 0, path: 'file', message: 'the file has no bytes' })
  await refuseText(source, context)
  try {
    const reader = new OnnxReader(source, context)
    const found = new Found(reader, external)
    const header = newHeader()
    try {
      await walkModel(header, reader, new GraphWalker(reader, found))
      checkComplete(header, source.size, context)
    } catch (error) {
      // The error is reported. If the graph was read in full, the weights are worth a look all the same.
      if (report.strict || !header.hasGraph || !(error instanceof TareError)) throw error
    }
    found.makeNamesDistinct()
    const model: Model = {
      format: 'onnx',
      version: header.irVersion === undefined ? undefined : String(header.irVersion),
      metadata: metadataOf(header, context),
      tensors: found.tensors,
      parts: found.parts,
      files: [source, ...external.files],
    }
    const graph = found.graphPart()
    // Writing the model needs the graph as it stands in the file.
    const parts = graph ? [{ ...graph, content: model }, ...found.parts] : found.parts
    return { model: { ...model, parts }, found }
  } catch (error) {
    await Promise.all(external.files.map((file) => file.close()))
    throw error
  }
}

async function refuseText(source: ByteSource, { report, signal }: ReadContext): Promise<void> {
  const form = textForm(await source.read(0, Math.min(source.size, textHead), { signal }))
  if (form === undefined) return
  const message = `this is an ONNX model as ${form}; tare reads the binary form, which onnx.load and onnx.save make of it`
  report.fail(codes['text-form'], { offset: 0, path: 'file', message })
}

/** What a model has beside its tensors. */
interface ModelHeader {
  irVersion: bigint | undefined
  readonly graph: GraphDraft
  hasGraph: boolean
  readonly fields: Map<string, MetaValue>
  readonly opsets: Map<string, MetaValue>
  readonly properties: Map<string, MetaValue>
}

const newHeader = (): ModelHeader => ({
  irVersion: undefined,
  graph: newGraph(mainGraph, newScope(true), true),
  hasGraph: false,
  fields: new Map(),
  opsets: new Map(),
  properties: new Map(),
})

async function walkModel(header: ModelHeader, reader: OnnxReader, graphs: GraphWalker): Promise<void> {
  let training = 0
  let functions = 0
  await reader.walk({ start: 0, end: reader.source.size }, '', modelMessage, () => {
    const { name } = modelMessage.get(reader.field)!
    switch (reader.field) {
      case 1:
      case 5:
        if (reader.field === 1) header.irVersion = reader.int64
        header.fields.set(name, { type: 'i64', value: reader.int64 })
        return false
      case 2:
      case 3:
      case 4:
      case 6:
        return reader.text(name, (value) => header.fields.set(name, textValue(value)))
      case 7:
        return graphs.walkGraph(header.graph, reader.content).then(() => {
          header.hasGraph = true
          return true
        })
      case 8:
        return readOpset(header, reader)
      case 14:
        return readProperty(header, reader)
      case 20:
        return graphs.walkTraining(`training_info[${training++}]`)
      case 25:
        return graphs.walkFunction(`functions[${functions++}]`)
      default:
        return false
    }
  })
}

async function readOpset({ opsets }: ModelHeader, reader: OnnxReader): Promise<string> {
  const path = `opset_import[${opsets.size}]`
  let domain = ''
  let version = 0n
  await reader.walk(reader.content, path, opsetMessage, () => {
    if (reader.field === 1) {
      return reader.text(`${path}.domain`, ({ value }) => {
        domain = value
      })
    }
    version = reader.int64
    return false
  })
  opsets.set(domain === '' ? mainDomain : domain, { type: 'i64', value: version })
  return path
}

async function readProperty({ properties }: ModelHeader, reader: OnnxReader): Promise<string> {
  const path = `metadata_props[${properties.size}]`
  const { at, key, value } = await reader.entry(path)
  if (properties.has(key.value)) {
    const message = `${JSON.stringify(key.value)} was there before`
    reader.context.report.report(codes['duplicate-metadata'], { offset: at, path: `${path}.key`, message })
  }
  properties.set(key.value, textValue(value))
  return path
}

function checkComplete({ irVersion, hasGraph, opsets }: ModelHeader, offset: number, { report }: ReadContext): void {
  if (irVersion === undefined || irVersion <= 0n) {
    const found = irVersion === undefined ? 'there is none' : `it is ${irVersion}`
    report.report(codes['no-ir-version'], { offset, path: 'ir_version', message: `a version was expected, ${found}` })
  }
  if (irVersion !== undefined && irVersion > maxIrVersion) {
    const message = `it is ${irVersion}, ${maxIrVersion} is the last one known`
    report.report(codes['new-version'], { offset, path: 'ir_version', message })
  }
  if (!hasGraph) report.report(codes['no-graph'], { offset, path: 'graph', message: 'there is no graph' })
  if (opsets.size === 0 && (irVersion ?? 0n) >= 3n) {
    report.report(codes['no-opset'], { offset, path: 'opset_import', message: 'there is no operator set' })
  }
}

function metadataOf({ fields, opsets, graph, properties }: ModelHeader, context: ReadContext): Map<string, MetaValue> {
  const metadata = new Map<string, MetaValue>()
  for (const [key, value] of fields) metadata.set(prefix + key, value)
  for (const [domain, version] of opsets) metadata.set(opsetPrefix + domain, version)
  if (graph.name.value !== '') metadata.set(`${prefix}graph.name`, textValue(graph.name))
  if (graph.docString.value !== '') metadata.set(`${prefix}graph.doc_string`, textValue(graph.docString))
  for (const [key, value] of properties) {
    if (metadata.has(key)) {
      const message = `${JSON.stringify(key)} is what tare calls a field of the model; the field is shown`
      const path = `metadata_props[${JSON.stringify(key)}]`
      context.report.report(codes['duplicate-metadata'], { offset: 0, path, message })
    } else metadata.set(key, value)
  }
  return metadata
}

const textValue = ({ value, bytes }: Text): MetaValue => (bytes ? { type: 'str', value, bytes } : text(value))
