// Graphs, nodes and attributes as far as they are met: fields come in any order, so what a node is may be known only at its end.
import type { Scope } from './scopes.js'
import type { SparseDraft } from './sparse.js'
import { newDraft, type TensorDraft } from './tensor-draft.js'
import { noText, type Text } from './texts.js'

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

export interface NodeDraft {
  operator: string
  domain: string
  outputs: Text[]
  attributes: number
  /** The tensors of attributes called `value`. */
  readonly values: TensorDraft[]
}

export interface AttributeDraft {
  readonly path: string
  name: string
  tensor: TensorDraft | undefined
  graph: GraphDraft | undefined
  sparse: SparseDraft | undefined
  tensors: number
  graphs: number
  sparses: number
}

export const newNode = (): NodeDraft => ({ operator: '', domain: '', outputs: [], attributes: 0, values: [] })

export const newAttribute = (path: string): AttributeDraft => ({
  path,
  name: '',
  tensor: undefined,
  graph: undefined,
  sparse: undefined,
  tensors: 0,
  graphs: 0,
  sparses: 0,
})

export const newSparse = (path: string): SparseDraft => ({
  path,
  values: newDraft(`${path}.values`),
  indices: newDraft(`${path}.indices`),
  dims: [],
})
