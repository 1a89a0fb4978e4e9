// Walks a graph. Initializers are its weights; a node of type Constant gives its tensor the name of its output. Nodes such as If and
// Loop have graphs in their attributes, which have weights of their own. Every tensor is checked wherever it stands, since each
// can name a file; those that are no weights (the fill value of a node, say) are not listed.
//
// Fields come in any order, so what a node is may be known only at its end: graphs, nodes and attributes are gathered as drafts.
import type { Range } from '../../../bytes/ranges.js'
import { after, type Noted } from '../../../wire/protobuf/protobuf.js'
import {
  attributeMessage,
  functionMessage,
  graphMessage,
  nodeMessage,
  trainingMessage,
  valueInfoMessage,
} from '../messages.js'
import { noText, type OnnxReader, type Text } from '../reader.js'
import { addSparse, newSparse, readSparse, type SparseDraft } from '../tensors/sparse.js'
import { newDraft, readTensor, type TensorDraft } from '../tensors/tensor-draft.js'
import type { Found } from './found.js'
import { newScope, type Scope } from './names.js'

/** A graph that may come in several pieces: protobuf merges them. */
export interface GraphDraft {
  readonly path: string
  readonly scope: Scope
  readonly isMain: boolean
  name: Text
  docString: Text
  nodes: number
  initializers: number
  sparse: number
}

export const newGraph = (path: string, scope: Scope, isMain = false): GraphDraft => ({
  path,
  scope,
  isMain,
  name: noText,
  docString: noText,
  nodes: 0,
  initializers: 0,
  sparse: 0,
})

interface NodeDraft {
  operator: string
  domain: string
  output: Text | undefined
  attributes: number
  /** The tensors of attributes called `value`. */
  readonly values: TensorDraft[]
}

interface AttributeDraft {
  readonly path: string
  name: string
  tensor?: TensorDraft
  graph?: GraphDraft
  sparse?: SparseDraft
  tensors: number
  graphs: number
  sparses: number
}

export class GraphWalker {
  readonly #reader: OnnxReader
  readonly #found: Found

  constructor(reader: OnnxReader, found: Found) {
    this.#reader = reader
    this.#found = found
  }

  async walkGraph(graph: GraphDraft, place: Range): Promise<true> {
    const reader = this.#reader
    const { path, scope } = graph
    await reader.walk(place, path, graphMessage, () => {
      switch (reader.field) {
        case 1:
          return this.#walkNode(`${path}.node[${graph.nodes++}]`, scope)
        case 2:
          return reader.text(`${path}.name`, (text) => {
            graph.name = text
          })
        case 5:
          return this.#walkInitializer(`${path}.initializer[${graph.initializers++}]`, scope)
        case 10:
          return reader.text(`${path}.doc_string`, (text) => {
            graph.docString = text
          })
        case 11:
          return graph.isMain && this.#walkPort(`${path}.input`, this.#found.inputs)
        case 12:
          return graph.isMain && this.#walkPort(`${path}.output`, this.#found.outputs)
        case 15:
          return this.#walkSparse(`${path}.sparse_initializer[${graph.sparse++}]`, scope.isListed)
        default:
          return false
      }
    })
    return true
  }

  /** The graphs of a training step: checked, not listed. */
  async walkTraining(path: string): Promise<string> {
    const reader = this.#reader
    const graphs = [1, 2].map((field) => newGraph(`${path}.${trainingMessage.get(field)!.name}`, newScope(false)))
    await reader.walk(reader.content, path, trainingMessage, () => {
      const graph = graphs[reader.field - 1]
      return graph ? this.walkGraph(graph, reader.content) : false
    })
    return path
  }

  /** A local function: checked, not listed. */
  async walkFunction(path: string): Promise<string> {
    const reader = this.#reader
    const scope = newScope(false)
    let nodes = 0
    let attributes = 0
    await reader.walk(reader.content, path, functionMessage, () => {
      if (reader.field === 7) return this.#walkNode(`${path}.node[${nodes++}]`, scope)
      if (reader.field !== 11) return false
      return this.#walkAttribute(`${path}.attribute_proto[${attributes++}]`, scope).then(() => true)
    })
    return path
  }

  #walkInitializer(path: string, scope: Scope): string | Promise<string> {
    const draft = newDraft(path)
    const read = readTensor(draft, this.#reader.content, this.#reader)
    const added = after(read, () => this.#found.add(draft, draft.name, scope, false))
    return after(added, () => path)
  }

  async #walkPort(path: string, names: string[]): Promise<true> {
    const reader = this.#reader
    await reader.walk(reader.content, path, valueInfoMessage, () => {
      if (reader.field !== 1) return false
      return reader.text(`${path}.name`, ({ value }) => this.#found.addPort(names, value))
    })
    return true
  }

  async #walkNode(path: string, scope: Scope): Promise<string> {
    const reader = this.#reader
    const node: NodeDraft = { operator: '', domain: '', output: undefined, attributes: 0, values: [] }
    await reader.walk(reader.content, path, nodeMessage, () => {
      switch (reader.field) {
        case 2:
          if (node.output) return false
          return reader.text(`${path}.output`, (text) => {
            node.output = text
          })
        case 4:
          return reader.text(`${path}.op_type`, ({ value }) => {
            node.operator = value
          })
        case 5:
          return this.#walkNodeAttribute(node, path, scope)
        case 7:
          return reader.text(`${path}.domain`, ({ value }) => {
            node.domain = value
          })
        default:
          return false
      }
    })
    if (scope.isListed) this.#found.countNode(node.operator)
    const isConstant = node.operator === 'Constant' && (node.domain === '' || node.domain === 'ai.onnx')
    for (const draft of node.values) {
      if (isConstant) await this.#found.add(draft, node.output ?? noText, scope, true)
      else await this.#found.check(draft)
    }
    return path
  }

  async #walkNodeAttribute(node: NodeDraft, nodePath: string, scope: Scope): Promise<string> {
    const path = `${nodePath}.attribute[${node.attributes++}]`
    const { name, tensor } = await this.#walkAttribute(path, scope)
    if (tensor && name === 'value') node.values.push(tensor)
    else if (tensor) await this.#found.check(tensor)
    return path
  }

  /** Everything in it is dealt with, except the tensor `t`: whether it is a weight depends on the node. */
  async #walkAttribute(path: string, scope: Scope): Promise<AttributeDraft> {
    const reader = this.#reader
    const attribute: AttributeDraft = { path, name: '', tensors: 0, graphs: 0, sparses: 0 }
    await reader.walk(reader.content, path, attributeMessage, () => {
      if (reader.field !== 1) return this.#walkContent(attribute, scope)
      return reader.text(`${path}.name`, ({ value }) => {
        attribute.name = value
      })
    })
    if (attribute.sparse) await addSparse(attribute.sparse, this.#found, reader)
    return attribute
  }

  #walkContent(attribute: AttributeDraft, scope: Scope): Noted | Promise<Noted> {
    const reader = this.#reader
    const { path } = attribute
    const below = (at: string): GraphDraft => newGraph(at, newScope(scope.isListed, at))
    switch (reader.field) {
      case 5:
        attribute.tensor ??= newDraft(`${path}.t`)
        return after(readTensor(attribute.tensor, reader.content, reader), () => true)
      case 6:
        attribute.graph ??= below(`${path}.g`)
        return this.walkGraph(attribute.graph, reader.content)
      case 10:
        return this.#walkTensor(`${path}.tensors[${attribute.tensors++}]`)
      case 11:
        return this.walkGraph(below(`${path}.graphs[${attribute.graphs++}]`), reader.content)
      case 22:
        attribute.sparse ??= newSparse(`${path}.sparse_tensor`)
        return readSparse(attribute.sparse, reader.content, reader).then(() => true)
      case 23:
        return this.#walkSparse(`${path}.sparse_tensors[${attribute.sparses++}]`)
      default:
        return false
    }
  }

  async #walkTensor(path: string): Promise<string> {
    const draft = newDraft(path)
    await readTensor(draft, this.#reader.content, this.#reader)
    await this.#found.check(draft)
    return path
  }

  async #walkSparse(path: string, isListed = false): Promise<string> {
    const sparse = newSparse(path)
    await readSparse(sparse, this.#reader.content, this.#reader)
    await addSparse(sparse, this.#found, this.#reader, isListed)
    return path
  }
}
