// A configuration can say anything. What it says about sizes is compared with the tensors before anything is written, since llama.cpp would
// refuse the file only when it is loaded.
import { failWith } from '../../errors/index.js'
import type { Metadata, Tensor } from '../../model/index.js'
import { familyCodes } from '../codes.js'
import type { ModelConfig } from '../config.js'
import { numberIn } from '../facts.js'
import type { Family, TensorRule } from '../family.js'

interface Sizes {
  readonly embedding: number
  readonly feedForward: number | undefined
  readonly expertFeedForward: number | undefined
  readonly experts: number | undefined
  readonly heads: number | undefined
  readonly kvHeads: number | undefined
  readonly key: number | undefined
  readonly value: number | undefined
}

/** A dimension, or undefined where it is not known. */
type Size = number | undefined

export function checkTensors(
  tensors: readonly Tensor[],
  metadata: Metadata,
  { family, config, layers }: Pick<ModelConfig, 'family' | 'config' | 'layers'>,
  file: string,
): void {
  const architecture = String(textOf(metadata, 'general.architecture'))
  const lists = listsIn(metadata, architecture)
  const known = new Map<number, Sizes>()
  const sizesOf = (layer: number): Sizes => {
    const sizes = known.get(layer) ?? sizesIn(metadata, architecture, lists, layer)
    known.set(layer, sizes)
    return sizes
  }
  for (const tensor of tensors) {
    const [, layer, rest] = /^blk\.(\d{1,9})\.(.*)$/.exec(tensor.name) ?? []
    const kind = (rest ?? tensor.name).replace(/\.weight$/, '')
    const wanted = expectedShape(kind, sizesOf(Number(layer ?? 0)), architecture)
    if (wanted) checkShape(tensor, wanted, file)
  }
  const hasNorm = Object.values(family.tensors).some((rule) => /^output_norm(\.weight)?$/.test(String(targetOf(rule))))
  const outer = ['token_embd', ...(hasNorm ? ['output_norm'] : [])]
  const { mayLack, blocks } = family
  // Layers that predict further tokens need not be there.
  const main = family.layers ? (numberIn(config, 'num_hidden_layers') ?? layers) : layers
  checkPresence(tensors, outer, { layers: main, mayLack, blocks }, file)
  if (!family.needsFurtherLayers) return
  const further = `blk.${main}.nextn.eh_proj.weight`
  if (tensors.some(({ name }) => name === further)) return
  const message =
    'the layer that predicts further tokens is not there, and llama.cpp does not read files of this kind without it'
  failWith(familyCodes['tensor-missing'], { file, path: further, message })
}

/** Entries that have a value for each layer. */
type Lists = ReadonlyMap<string, readonly unknown[]>

function listsIn(metadata: Metadata, architecture: string): Lists {
  const prefix = `${architecture}.`
  const lists = new Map<string, readonly unknown[]>()
  for (const [key, value] of metadata)
    if (key.startsWith(prefix) && value.type === 'array')
      lists.set(
        key.slice(prefix.length),
        value.values().map((each) => ('value' in each ? each.value : undefined)),
      )
  return lists
}

function sizesIn(metadata: Metadata, architecture: string, lists: Lists, layer: number): Sizes {
  const number = (key: string): Size => {
    const list = lists.get(key)
    if (list) return typeof list[layer] === 'number' ? list[layer] : undefined
    const value = metadata.get(`${architecture}.${key}`)
    return value?.type === 'u32' ? Number(value.value) : undefined
  }
  const isWindow = Boolean(lists.get('attention.sliding_window_pattern')?.[layer])
  const headSizeOf = (kind: 'key' | 'value'): Size =>
    (isWindow ? number(`attention.${kind}_length_swa`) : undefined) ?? number(`attention.${kind}_length`)
  const embedding = number('embedding_length') ?? 0
  const heads = number('attention.head_count')
  const headSize = heads ? Math.floor(embedding / heads) : undefined
  const feedForward = number('feed_forward_length')
  return {
    embedding,
    feedForward,
    expertFeedForward: number('expert_feed_forward_length') ?? feedForward,
    experts: number('expert_count'),
    heads,
    kvHeads: number('attention.head_count_kv') ?? heads,
    key: headSizeOf('key') ?? headSize,
    value: headSizeOf('value') ?? headSize,
  }
}

const targetOf = (rule: string | TensorRule): string | readonly string[] => (typeof rule === 'string' ? rule : rule.to)

const times = (a: Size, b: Size): Size => (a === undefined || b === undefined ? undefined : a * b)

/** Gate and up are one matrix. */
const fusedGates: ReadonlySet<string> = new Set(['phi3', 'glm4', 'chatglm', 'modern-bert'])

/** Attention works on a compressed form of k and v. */
const compressedAttention: ReadonlySet<string> = new Set(['deepseek2', 'deepseek32', 'glm-dsa', 'minicpm3', 'plm'])

/** q and a gate are one matrix. */
const gatedAttention: ReadonlySet<string> = new Set(['qwen3next', 'qwen35', 'qwen35moe'])

/** Undefined for tensors that are not compared. */
function expectedShape(kind: string, sizes: Sizes, architecture: string): readonly Size[] | undefined {
  const { embedding, feedForward, expertFeedForward, experts, heads, kvHeads, key, value } = sizes
  // Attention on a compressed form has sizes of its own.
  const isCompressed = compressedAttention.has(architecture)
  const isFused = fusedGates.has(architecture)
  switch (kind) {
    case 'token_embd':
    case 'output':
      return [undefined, embedding]
    case 'output_norm':
    case 'attn_norm':
    case 'ffn_norm':
    case 'post_attention_norm':
    case 'post_ffw_norm':
      return [embedding]
    case 'attn_q':
      // With the gate of the attention, where there is one.
      if (gatedAttention.has(architecture)) return [times(times(heads, key), 2), embedding]
      return isCompressed ? undefined : [times(heads, key), embedding]
    case 'attn_k':
      return [times(kvHeads, key), embedding]
    case 'attn_v':
      return [times(kvHeads, value), embedding]
    case 'attn_output':
      return isCompressed ? undefined : [embedding, times(heads, value)]
    case 'ffn_up':
      // With or without the gate in it.
      if (architecture === 'jina-bert-v2') return [undefined, embedding]
      return [isFused ? times(feedForward, 2) : feedForward, embedding]
    case 'ffn_gate':
      return [feedForward, embedding]
    case 'ffn_down':
      return [embedding, feedForward]
    case 'ffn_gate_inp':
      return [experts, embedding]
    case 'ffn_gate_exps':
    case 'ffn_up_exps':
      return [experts, expertFeedForward, embedding]
    case 'ffn_down_exps':
      return [experts, embedding, expertFeedForward]
    default:
      return undefined
  }
}

function checkShape({ name, shape }: Tensor, wanted: readonly Size[], file: string): void {
  const fits = shape.length === wanted.length && wanted.every((size, i) => size === undefined || size === shape[i])
  if (fits) return
  const expected = wanted.map((size) => size ?? '*').join(', ')
  const message = `its shape is [${shape.join(', ')}], and [${expected}] follows from the configuration`
  failWith(familyCodes['tensor-shape'], { file, path: name, message })
}

interface Presence {
  readonly layers: number
  readonly mayLack: Family['mayLack']
  readonly blocks: Family['blocks']
}

/** Every layer must have its attention and its feed-forward part, and the same kinds of attention tensors as the others. */
function checkPresence(
  tensors: readonly Tensor[],
  outer: readonly string[],
  { layers, mayLack, blocks = ['blk.'] }: Presence,
  file: string,
): void {
  const names = new Set(tensors.map(({ name }) => name))
  const attention = new Set(
    tensors.flatMap(({ name }) => /^blk\.\d+\.((?:attn|layer|post)_\w+\.\w+)$/.exec(name)?.[1] ?? []),
  )
  const assertThere = (name: string, others: readonly string[] = []): void => {
    if ([name, ...others].some((each) => names.has(each)) || mayLack?.test(name)) return
    const message = `there is no such tensor, and the configuration says that there are ${layers} layers`
    failWith(familyCodes['tensor-missing'], { file, path: name, message })
  }
  for (const name of outer) assertThere(`${name}.weight`)
  for (let layer = 0; layer < layers; layer++) {
    for (const kind of attention) assertThere(`blk.${layer}.${kind}`)
    for (const block of blocks) {
      const part = (kind: string): string => `${block}${layer}.${kind}.weight`
      assertThere(part('ffn_down'), [part('ffn_down_exps')])
      assertThere(part('ffn_up'), [part('ffn_up_exps')])
      if (names.has(part('ffn_down_exps'))) assertThere(part('ffn_gate_inp'))
    }
  }
}

function textOf(metadata: Metadata, key: string): string | undefined {
  const value = metadata.get(key)
  return value?.type === 'str' ? value.value : undefined
}
