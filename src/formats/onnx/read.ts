// Reads a model: one protobuf message without any header, in which the weights are fields like all others. So the whole file is walked,
// stepping over the weights unread.
import type { ByteSource } from '../../bytes/index.js'
import { TareError } from '../../errors/index.js'
import { type MetaValue, type Model, type ReadContext, text } from '../../model/index.js'
import { type Noted, ProtobufReader } from '../../wire/protobuf/protobuf.js'
import { ownCodes as codes } from './codes.js'
import { Collector } from './collect.js'
import { mainDomain, opsetPrefix, prefix } from './edit-fields.js'
import { ExternalFiles } from './external.js'
import { newGraph } from './graph-draft.js'
import { TensorJudge } from './judge-tensor.js'
import { modelMessage, opsetMessage } from './messages.js'
import { newScope } from './scopes.js'
import { TensorReader } from './tensor-draft.js'
import { textForm, textHead } from './text-form.js'
import { type Text, Texts } from './texts.js'
import { GraphWalker } from './walk-graph.js'

/** With some room: versions have added fields so far, and changed none. */
const lastIrVersion = 15n

/** What checking needs beyond the model. */
export const collected = new WeakMap<Model, Collector>()

export async function readModel(source: ByteSource, context: ReadContext): Promise<Model> {
  if (source.size === 0) context.report.fail(codes.empty, { offset: 0, path: 'file', message: 'the file has no bytes' })
  await refuseText(source, context)
  const external = new ExternalFiles(source, context)
  try {
    return await new ModelReader(source, context, external).read()
  } catch (error) {
    await Promise.all(external.files.map((file) => file.close()))
    throw error
  }
}

/** The same model can be spelled as text, in several ways; none of them is this format. */
async function refuseText(source: ByteSource, { report, signal }: ReadContext): Promise<void> {
  const form = textForm(await source.read(0, Math.min(source.size, textHead), { signal }))
  if (form === undefined) return
  const message = `this is an ONNX model as ${form}; tare reads the binary form, which onnx.load and onnx.save make of it`
  report.fail(codes['text-form'], { offset: 0, path: 'file', message })
}

class ModelReader {
  readonly #source: ByteSource
  readonly #context: ReadContext
  readonly #external: ExternalFiles
  readonly #reader: ProtobufReader
  readonly #texts: Texts
  readonly #tensors: TensorReader
  readonly #collector: Collector
  readonly #graphs: GraphWalker
  readonly #graph = newGraph('graph', newScope(true), true)
  readonly #fields = new Map<string, MetaValue>()
  readonly #opsets = new Map<string, MetaValue>()
  readonly #props = new Map<string, MetaValue>()
  #hasGraph = false
  #irVersion: bigint | undefined
  #training = 0
  #functions = 0

  constructor(source: ByteSource, context: ReadContext, external: ExternalFiles) {
    const { report, extents, signal, limits } = context
    this.#source = source
    this.#context = context
    this.#external = external
    this.#reader = new ProtobufReader(source, report, { signal, extents, depth: limits.depth })
    this.#texts = new Texts(context)
    this.#tensors = new TensorReader(this.#reader, context, this.#texts)
    this.#collector = new Collector(new TensorJudge(source, context, external), context)
    this.#graphs = new GraphWalker(this.#reader, context, this.#texts, this.#tensors, this.#collector)
  }

  async read(): Promise<Model> {
    try {
      await this.#reader.walk(0, this.#source.size, '', modelMessage, () => this.#visit())
      this.#checkComplete()
    } catch (error) {
      // What is wrong is reported. Behind a graph that is whole, the weights are worth a look all the same.
      if (this.#context.report.strict || !this.#hasGraph || !(error instanceof TareError)) throw error
    }
    this.#collector.nameApart()
    const { tensors, parts } = this.#collector
    const model: Model = {
      format: 'onnx',
      version: this.#irVersion === undefined ? undefined : String(this.#irVersion),
      metadata: this.#metadata(),
      tensors,
      parts: [this.#collector.graphPart(), ...parts],
      files: [this.#source, ...this.#external.files],
    }
    collected.set(model, this.#collector)
    return model
  }

  #visit(): Noted | Promise<Noted> {
    const reader = this.#reader
    const { name } = modelMessage.get(reader.field)!
    const place = { start: reader.start, end: reader.end }
    switch (reader.field) {
      case 1:
        this.#irVersion = reader.int64
        this.#fields.set(name, { type: 'i64', value: reader.int64 })
        return false
      case 5:
        this.#fields.set(name, { type: 'i64', value: reader.int64 })
        return false
      case 2:
      case 3:
      case 4:
      case 6:
        return this.#texts.read(reader, name, (value) => this.#fields.set(name, textValue(value)))
      case 7:
        return this.#graphs.walkGraph(this.#graph, place).then(() => {
          this.#hasGraph = true
          return true
        })
      case 8:
        return this.#readOpset()
      case 14:
        return this.#readProperty()
      case 20:
        return this.#graphs.walkTraining(`training_info[${this.#training++}]`, place)
      case 25:
        return this.#graphs.walkFunction(`functions[${this.#functions++}]`, place)
      default:
        return false
    }
  }

  async #readOpset(): Promise<string> {
    const reader = this.#reader
    const path = `opset_import[${this.#opsets.size}]`
    let domain = ''
    let version = 0n
    await reader.walk(reader.start, reader.end, path, opsetMessage, () => {
      if (reader.field === 1) {
        return this.#texts.read(reader, `${path}.domain`, ({ value }) => {
          domain = value
        })
      }
      version = reader.int64
      return false
    })
    this.#opsets.set(domain === '' ? mainDomain : domain, { type: 'i64', value: version })
    return path
  }

  async #readProperty(): Promise<string> {
    const path = `metadata_props[${this.#props.size}]`
    const { at, key, value } = await this.#tensors.readEntry(path)
    if (this.#props.has(key.value)) {
      const message = `${JSON.stringify(key.value)} was there before`
      this.#context.report.report(codes['duplicate-metadata'], { offset: at, path: `${path}.key`, message })
    }
    this.#props.set(key.value, textValue(value))
    return path
  }

  #checkComplete(): void {
    const { report } = this.#context
    const offset = this.#source.size
    if (this.#irVersion === undefined || this.#irVersion <= 0n) {
      const found = this.#irVersion === undefined ? 'there is none' : `it is ${this.#irVersion}`
      report.report(codes['no-ir-version'], { offset, path: 'ir_version', message: `a version was expected, ${found}` })
    }
    if (this.#irVersion !== undefined && this.#irVersion > lastIrVersion) {
      const message = `it is ${this.#irVersion}, ${lastIrVersion} is the last one known`
      report.report(codes['new-version'], { offset, path: 'ir_version', message })
    }
    if (!this.#hasGraph) report.report(codes['no-graph'], { offset, path: 'graph', message: 'there is no graph' })
    if (this.#opsets.size === 0 && (this.#irVersion ?? 0n) >= 3n) {
      report.report(codes['no-opset'], { offset, path: 'opset_import', message: 'there is no operator set' })
    }
  }

  #metadata(): Map<string, MetaValue> {
    const metadata = new Map<string, MetaValue>()
    for (const [key, value] of this.#fields) metadata.set(prefix + key, value)
    for (const [domain, version] of this.#opsets) metadata.set(opsetPrefix + domain, version)
    const { name, docString } = this.#graph
    if (name.value !== '') metadata.set(`${prefix}graph.name`, textValue(name))
    if (docString.value !== '') metadata.set(`${prefix}graph.doc_string`, textValue(docString))
    for (const [key, value] of this.#props) {
      if (metadata.has(key)) {
        const message = `${JSON.stringify(key)} is what tare calls a field of the model; the field is shown`
        const path = `metadata_props[${JSON.stringify(key)}]`
        this.#context.report.report(codes['duplicate-metadata'], { offset: 0, path, message })
      } else metadata.set(key, value)
    }
    return metadata
  }
}

const textValue = ({ value, bytes }: Text): MetaValue => (bytes ? { type: 'str', value, bytes } : text(value))
