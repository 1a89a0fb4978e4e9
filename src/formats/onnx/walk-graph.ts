// Walks a graph. Initializers are its weights; a node of type Constant gives its tensor the name of its output. Nodes such as If and
// Loop have graphs in their attributes, which have weights of their own. Every tensor is checked wherever it stands, since each
// can name a file; those that are no weights (the fill value of a node, say) are not listed.
import type { ReadContext } from '../../model/index.js'
import type { Noted, ProtobufReader } from '../../wire/protobuf/protobuf.js'
import type { Collector } from './collect.js'
import {
  type AttributeDraft,
  type GraphDraft,
  type NodeDraft,
  newAttribute,
  newGraph,
  newNode,
  newSparse,
} from './graph-draft.js'
import {
  attributeMessage,
  functionMessage,
  graphMessage,
  nodeMessage,
  sparseMessage,
  trainingMessage,
  valueInfoMessage,
} from './messages.js'
import { newScope, type Scope } from './scopes.js'
import { addSparse, type SparseDraft } from './sparse.js'
import { newDraft, readDims, type Span, type TensorReader } from './tensor-draft.js'
import { noText, type Texts } from './texts.js'

export class GraphWalker {
  readonly #reader: ProtobufReader
  readonly #context: ReadContext
  readonly #texts: Texts
  readonly #tensors: TensorReader
  readonly #collector: Collector

  constructor(reader: ProtobufReader, context: ReadContext, texts: Texts, tensors: TensorReader, collector: Collector) {
    this.#reader = reader
    this.#context = context
    this.#texts = texts
    this.#tensors = tensors
    this.#collector = collector
  }

  async walkGraph(graph: GraphDraft, { start, end }: Span): Promise<void> {
    const reader = this.#reader
    const { path } = graph
    await reader.walk(start, end, path, graphMessage, () => {
      const place = { start: reader.start, end: reader.end }
      switch (reader.field) {
        case 1:
          return this.#walkNode(`${path}.node[${graph.nodes++}]`, place, graph.scope)
        case 2:
          return this.#texts.read(reader, `${path}.name`, (text) => {
            graph.name = text
          })
        case 5:
          return this.#walkInitializer(`${path}.initializer[${graph.initializers++}]`, place, graph.scope)
        case 10:
          return this.#texts.read(reader, `${path}.doc_string`, (text) => {
            graph.docString = text
          })
        case 11:
          return graph.isMain && this.#walkPort(`${path}.input`, place, this.#collector.inputs)
        case 12:
          return graph.isMain && this.#walkPort(`${path}.output`, place, this.#collector.outputs)
        case 15:
          return this.#walkSparseInitializer(`${path}.sparse_initializer[${graph.sparse++}]`, place, graph.scope)
        default:
          return false
      }
    })
  }

  /** The graphs of a training step: checked, not listed. */
  async walkTraining(path: string, { start, end }: Span): Promise<string> {
    const reader = this.#reader
    const graphs = [1, 2].map((field) => newGraph(`${path}.${trainingMessage.get(field)!.name}`, newScope(false)))
    await reader.walk(start, end, path, trainingMessage, () => {
      const graph = graphs[reader.field - 1]
      return graph ? this.#noted(this.walkGraph(graph, { start: reader.start, end: reader.end })) : false
    })
    return path
  }

  /** A local function: checked, not listed. */
  async walkFunction(path: string, { start, end }: Span): Promise<string> {
    const reader = this.#reader
    const scope = newScope(false)
    let nodes = 0
    let attributes = 0
    await reader.walk(start, end, path, functionMessage, () => {
      const place = { start: reader.start, end: reader.end }
      if (reader.field === 7) return this.#walkNode(`${path}.node[${nodes++}]`, place, scope)
      if (reader.field !== 11) return false
      return this.#noted(this.#walkAttribute(`${path}.attribute_proto[${attributes++}]`, place, scope))
    })
    return path
  }

  async #walkInitializer(path: string, { start, end }: Span, scope: Scope): Promise<string> {
    const draft = newDraft(path)
    await this.#tensors.read(draft, start, end)
    await this.#collector.add(draft, draft.name, scope, false)
    return path
  }

  async #walkPort(path: string, { start, end }: Span, names: string[]): Promise<true> {
    const reader = this.#reader
    await reader.walk(start, end, path, valueInfoMessage, () => {
      if (reader.field !== 1) return false
      return this.#texts.read(reader, `${path}.name`, ({ value }) => this.#collector.addPort(names, value))
    })
    return true
  }

  async #walkNode(path: string, { start, end }: Span, scope: Scope): Promise<string> {
    const reader = this.#reader
    const node = newNode()
    await reader.walk(start, end, path, nodeMessage, () => {
      switch (reader.field) {
        case 2:
          if (node.outputs.length > 0) return false
          return this.#texts.read(reader, `${path}.output`, (text) => {
            node.outputs.push(text)
          })
        case 4:
          return this.#texts.read(reader, `${path}.op_type`, ({ value }) => {
            node.operator = value
          })
        case 5:
          return this.#walkNodeAttribute(node, path, scope)
        case 7:
          return this.#texts.read(reader, `${path}.domain`, ({ value }) => {
            node.domain = value
          })
        default:
          return false
      }
    })
    if (scope.isListed) this.#collector.countNode(node.operator)
    const isConstant = node.operator === 'Constant' && (node.domain === '' || node.domain === 'ai.onnx')
    for (const draft of node.values) {
      if (isConstant) await this.#collector.add(draft, node.outputs[0] ?? noText, scope, true)
      else await this.#collector.inspect(draft)
    }
    return path
  }

  async #walkNodeAttribute(node: NodeDraft, nodePath: string, scope: Scope): Promise<string> {
    const place = { start: this.#reader.start, end: this.#reader.end }
    const path = `${nodePath}.attribute[${node.attributes++}]`
    const { name, tensor } = await this.#walkAttribute(path, place, scope)
    if (tensor && name === 'value') node.values.push(tensor)
    else if (tensor) await this.#collector.inspect(tensor)
    return path
  }

  /** Everything in it is dealt with, except the tensor `t`: whether it is a weight depends on the node. */
  async #walkAttribute(path: string, { start, end }: Span, scope: Scope): Promise<AttributeDraft> {
    const reader = this.#reader
    const attribute = newAttribute(path)
    await reader.walk(start, end, path, attributeMessage, () => {
      if (reader.field === 1) {
        return this.#texts.read(reader, `${path}.name`, ({ value }) => {
          attribute.name = value
        })
      }
      return this.#walkContent(attribute, { start: reader.start, end: reader.end }, scope)
    })
    if (attribute.sparse) await addSparse(attribute.sparse, this.#collector, this.#context)
    return attribute
  }

  #walkContent(attribute: AttributeDraft, place: Span, scope: Scope): Noted | Promise<Noted> {
    const { path } = attribute
    const below = (at: string): GraphDraft => newGraph(at, newScope(scope.isListed, at))
    switch (this.#reader.field) {
      case 5:
        attribute.tensor ??= newDraft(`${path}.t`)
        return this.#noted(this.#tensors.read(attribute.tensor, place.start, place.end))
      case 6:
        attribute.graph ??= below(`${path}.g`)
        return this.#noted(this.walkGraph(attribute.graph, place))
      case 10:
        return this.#inspect(`${path}.tensors[${attribute.tensors++}]`, place)
      case 11:
        return this.#noted(this.walkGraph(below(`${path}.graphs[${attribute.graphs++}]`), place))
      case 22:
        attribute.sparse ??= newSparse(`${path}.sparse_tensor`)
        return this.#noted(this.#readSparse(attribute.sparse, place))
      case 23:
        return this.#inspectSparse(`${path}.sparse_tensors[${attribute.sparses++}]`, place)
      default:
        return false
    }
  }

  async #inspect(path: string, { start, end }: Span): Promise<string> {
    const draft = newDraft(path)
    await this.#tensors.read(draft, start, end)
    await this.#collector.inspect(draft)
    return path
  }

  async #inspectSparse(path: string, place: Span): Promise<string> {
    const sparse = newSparse(path)
    await this.#readSparse(sparse, place)
    await addSparse(sparse, this.#collector, this.#context)
    return path
  }

  async #walkSparseInitializer(path: string, place: Span, scope: Scope): Promise<string> {
    const sparse = newSparse(path)
    await this.#readSparse(sparse, place)
    await addSparse(sparse, this.#collector, this.#context, scope.isListed)
    return path
  }

  async #readSparse(sparse: SparseDraft, { start, end }: Span): Promise<void> {
    const reader = this.#reader
    await reader.walk(start, end, sparse.path, sparseMessage, () => {
      if (reader.field === 3) return readDims(reader, sparse.dims, `${sparse.path}.dims`, this.#context)
      const draft = reader.field === 1 ? sparse.values : sparse.indices
      return this.#noted(this.#tensors.read(draft, reader.start, reader.end))
    })
  }

  async #noted(work: Promise<unknown>): Promise<true> {
    await work
    return true
  }
}
