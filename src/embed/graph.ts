// The computation of a BERT encoder as an ONNX graph: ids and mask in, one vector per text out.
//
//   x = LN(word[id] + position[0..n) + type[0])
//   per layer: a = softmax(Q·Kᵀ/√d) · V over the heads; x = LN(x + a·Wo + bo); x = LN(x + gelu(x·W1 + b1)·W2 + b2)
//   e = mean of x over the unmasked positions
//
// Two profiles compute it with small differences that change the numbers. `original` is BERT: padding is masked out of the attention, GELU
// uses erf, and layer norms add 1e-12. `reference` is the EMBD library: padding takes part in the attention, GELU is the tanh
// approximation, and layer norms add 1e-5.

import { wordTable } from '../content/encoder-names.js'
import { bytesPayload } from '../model/index.js'
import type { Encoder } from './encoder.js'
import { embeddingNorm, type LayerNames, layerNames, partsOf, positionTable, typeTable } from './names.js'
import type { Attribute, OnnxConstant, OnnxGraph, OnnxNode } from './onnx-proto.js'

export type EmbedProfile = 'original' | 'reference'

export interface GraphOptions {
  readonly profile: EmbedProfile
  /** Whether the graph scales its vectors to length 1. */
  readonly normalize: boolean
}

export const graphOpset = 20 // the first with Gelu

export const graphInputs = { ids: 'input_ids', mask: 'attention_mask' } as const
export const graphOutputs = { tokens: 'token_embeddings', sentence: 'sentence_embedding' } as const

const rules = {
  original: { masked: true, gelu: 'none', epsilon: 1e-12 },
  reference: { masked: false, gelu: 'tanh', epsilon: 1e-5 },
} as const

/** Added to the scores of padding: low enough for e^x to be zero, and far from overflow. */
const never = -1e9

export function buildGraph(encoder: Encoder, options: GraphOptions): OnnxGraph {
  const graph = new GraphBuilder()
  for (const { name, shape, data } of encoder.weights.values())
    graph.constants.push({ name, type: 'f32', shape, data: data! })
  const { hidden, layers } = encoder.shape
  const mask = graph.add('Cast', [graphInputs.mask], { to: 1 })
  const bias = rules[options.profile].masked ? attentionBias(graph, mask) : undefined
  let states = embed(graph, rules[options.profile].epsilon)
  for (let layer = 0; layer < layers; layer++)
    states = addLayer(graph, encoder, layerNames(layer), states, bias, options)
  graph.rename(states, graphOutputs.tokens)
  const pooled = pool(graph, graphOutputs.tokens, mask)
  graph.rename(options.normalize ? scaleToOne(graph, pooled) : pooled, graphOutputs.sentence)
  return {
    name: 'encoder',
    nodes: graph.nodes,
    constants: graph.constants,
    inputs: [
      { name: graphInputs.ids, type: 'i64', shape: ['batch', 'length'] },
      { name: graphInputs.mask, type: 'i64', shape: ['batch', 'length'] },
    ],
    outputs: [
      { name: graphOutputs.tokens, type: 'f32', shape: ['batch', 'length', hidden] },
      { name: graphOutputs.sentence, type: 'f32', shape: ['batch', hidden] },
    ],
  }
}

/** [batch, 1, 1, length]: 0 for unmasked positions, and `never` for padding. */
function attentionBias(graph: GraphBuilder, mask: string): string {
  const padding = graph.add('Sub', [graph.float(1), mask])
  return graph.add('Unsqueeze', [graph.add('Mul', [padding, graph.float(never)]), graph.integers([1, 2])])
}

function embed(graph: GraphBuilder, epsilon: number): string {
  const words = graph.add('Gather', [wordTable, graphInputs.ids], { axis: 0 })
  const length = graph.add('Shape', [graphInputs.ids], { start: 1, end: 2 })
  const positions = graph.add('Slice', [positionTable, graph.integers([0]), length, graph.integers([0])])
  const type = graph.add('Gather', [typeTable, graph.integer(0)], { axis: 0 })
  const sum = graph.add('Add', [graph.add('Add', [words, positions]), type])
  return norm(graph, sum, embeddingNorm, epsilon)
}

function addLayer(
  graph: GraphBuilder,
  { shape: { hidden, heads } }: Encoder,
  names: LayerNames,
  states: string,
  bias: string | undefined,
  { profile }: GraphOptions,
): string {
  const { gelu, epsilon } = rules[profile]
  const split = graph.integers([0, 0, heads, hidden / heads])
  const head = (stem: string, order: readonly number[]): string =>
    graph.add('Transpose', [graph.add('Reshape', [linear(graph, states, stem), split])], { perm: order })
  const queries = graph.add('Mul', [head(names.query, [0, 2, 1, 3]), graph.float(1 / Math.sqrt(hidden / heads))])
  const keys = head(names.key, [0, 2, 3, 1])
  const values = head(names.value, [0, 2, 1, 3])
  const scores = graph.add('MatMul', [queries, keys])
  const weights = graph.add('Softmax', [bias === undefined ? scores : graph.add('Add', [scores, bias])], { axis: -1 })
  const mixed = graph.add('Transpose', [graph.add('MatMul', [weights, values])], { perm: [0, 2, 1, 3] })
  const joined = graph.add('Reshape', [mixed, graph.integers([0, 0, hidden])])
  const attended = graph.add('Add', [linear(graph, joined, names.attentionOutput), states])
  const between = norm(graph, attended, names.attentionNorm, epsilon)
  const active = graph.add('Gelu', [linear(graph, between, names.intermediate)], { approximate: gelu })
  return norm(graph, graph.add('Add', [linear(graph, active, names.output), between]), names.outputNorm, epsilon)
}

function linear(graph: GraphBuilder, input: string, stem: string): string {
  const { weight, bias } = partsOf(stem)
  return graph.add('Add', [graph.add('MatMul', [input, weight]), bias])
}

function norm(graph: GraphBuilder, input: string, stem: string, epsilon: number): string {
  const { weight, bias } = partsOf(stem)
  return graph.add('LayerNormalization', [input, weight, bias], { axis: -1, epsilon: { float: epsilon } })
}

/** The mean over the unmasked positions: [batch, hidden]. */
function pool(graph: GraphBuilder, states: string, mask: string): string {
  const counted = graph.add('Mul', [states, graph.add('Unsqueeze', [mask, graph.integers([2])])])
  const sum = graph.add('ReduceSum', [counted, graph.integers([1])], { keepdims: 0 })
  const count = graph.add('ReduceSum', [mask, graph.integers([1])], { keepdims: 1 })
  return graph.add('Div', [sum, count])
}

/** A vector of zeros stays one. */
function scaleToOne(graph: GraphBuilder, pooled: string): string {
  const length = graph.add('ReduceL2', [pooled, graph.integers([1])], { keepdims: 1 })
  return graph.add('Div', [pooled, graph.add('Max', [length, graph.float(1e-12)])])
}

/** Nodes and constants in insertion order; every value gets a unique name. */
class GraphBuilder {
  readonly nodes: OnnxNode[] = []
  readonly constants: OnnxConstant[] = []
  readonly #known = new Map<string, string>()

  add(op: string, inputs: readonly string[], attributes: Readonly<Record<string, Attribute>> = {}): string {
    const name = `${op}_${this.nodes.length}`
    this.nodes.push({ op, name, inputs, outputs: [name], attributes })
    return name
  }

  /** Renames the output of the newest node. */
  rename(from: string, to: string): void {
    const node = this.nodes.pop()!
    if (node.outputs[0] !== from) throw new Error(`${from} is not the newest value`)
    this.nodes.push({ ...node, outputs: [to] })
  }

  float(value: number): string {
    const bytes = new Uint8Array(4)
    new DataView(bytes.buffer).setFloat32(0, value, true)
    return this.#constant('f32', [], bytes)
  }

  integer(value: number): string {
    return this.#constant('i64', [], integerBytes([value]))
  }

  integers(values: readonly number[]): string {
    return this.#constant('i64', [values.length], integerBytes(values))
  }

  #constant(type: OnnxConstant['type'], shape: readonly number[], bytes: Uint8Array): string {
    const key = `${type} ${shape} ${bytes}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const name = `constant_${this.#known.size}`
    this.#known.set(key, name)
    this.constants.push({ name, type, shape, data: bytesPayload(bytes) })
    return name
  }
}

function integerBytes(values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(8 * values.length)
  const view = new DataView(bytes.buffer)
  for (const [i, value] of values.entries()) view.setBigInt64(8 * i, BigInt(value), true)
  return bytes
}
