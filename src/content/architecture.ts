// What a model says about its architecture. Each format has its own words for the same few numbers: GGUF puts them behind the name of the
// architecture (`llama.block_count`), Hugging Face into `config.json`, others into metadata or a part of their own. All are looked up alike.
import type { MetaValue } from '../model/metadata.js'
import type { Model } from '../model/model.js'
import { configWords } from './config-words.js'
import { type CacheSize, cacheSize, numberIn } from './kv-cache.js'
import { configOf, statedArchitecture } from './model-names.js'

/** What a model says about its architecture; what it does not say is absent. */
export interface Architecture {
  readonly architecture?: string
  readonly layers?: number
  /** The size of the vector for each token. */
  readonly hidden?: number
  readonly heads?: number
  /** Heads that have keys and values of their own. */
  readonly kvHeads?: number
  readonly headDim?: number
  /** The number of tokens that it was made for. */
  readonly context?: number
  /** The number of tokens that it knows. */
  readonly vocabulary?: number
  readonly experts?: number
  /** The experts that work on one token. */
  readonly usedExperts?: number
  /** The numbers that its KV cache holds. Absent: unknown, or it has no such cache. */
  readonly cache?: CacheSize
}

/** The words of config.json, then those of GGUF, MCF, EMBD and whisper.cpp. */
const words = {
  layers: [...configWords.layers, 'block_count', 'layerCount', 'decoder_layers', 'n_text_layer'],
  hidden: [...configWords.hidden, 'd_model', 'embedding_length', 'hiddenSize', 'n_text_state'],
  heads: [
    ...configWords.heads,
    'num_heads',
    'attention.head_count',
    'headCount',
    'decoder_attention_heads',
    'n_text_head',
  ],
  kvHeads: [...configWords.kvHeads, 'num_kv_heads', 'multi_query_group_num', 'attention.head_count_kv', 'headCountKv'],
  headDim: [...configWords.headDim, 'attention.key_length'],
  context: [
    ...configWords.context,
    'context_length',
    'contextLength',
    'max_position_emb',
    'max_target_positions',
    'n_text_ctx',
  ],
  vocabulary: [...configWords.vocabulary, 'vocabSize', 'n_vocab'],
  experts: [...configWords.experts, 'expert_count'],
  usedExperts: [...configWords.usedExperts, 'expert_used_count'],
} as const

type Fact = keyof typeof words

/** Looks a word up; anything may come back. */
type Lookup = (word: string) => unknown

/** Undefined if the model says nothing about it. */
export async function architectureOf(model: Model, signal?: AbortSignal): Promise<Architecture | undefined> {
  const config = await configOf(model, signal)
  const info = infoOf(model)
  const architecture = statedArchitecture(model, config) ?? (typeof info?.arch === 'string' ? info.arch : undefined)
  const lookups: Lookup[] = [
    ...configsIn(config).map((each) => (word: string) => own(each, word)),
    (word) => plainValue(model.metadata.get(`${architecture}.${word}`)),
    (word) => plainValue(model.metadata.get(word)),
    (word) => own(info, word),
  ]
  const lookup = (...all: readonly string[]): unknown => {
    for (const look of lookups)
      for (const word of all) {
        const value = look(word)
        if (value !== undefined && value !== null) return value
      }
    return undefined
  }
  const find = (all: readonly string[]): number | undefined => {
    for (const look of lookups)
      for (const word of all) {
        const value = look(word)
        const count = value === undefined ? undefined : countIn(value)
        if (count !== undefined) return count
      }
    return undefined
  }
  const found: Partial<Record<Fact, number>> = {}
  for (const fact of Object.keys(words) as Fact[]) {
    const count = find(words[fact])
    if (count !== undefined) found[fact] = count
  }
  // Falcon and StarCoder: one pair of keys and values for all heads.
  if (lookup('multi_query') === true && lookup('new_decoder_architecture') !== true) found.kvHeads = 1
  if (found.experts === undefined) delete found.usedExperts
  const tokens = model.metadata.get('tokenizer.ggml.tokens')
  if (tokens?.type === 'array' && tokens.length > 0) found.vocabulary ??= tokens.length
  const { hidden, heads } = found
  if (hidden !== undefined && heads !== undefined && hidden % heads === 0) found.headDim ??= hidden / heads
  if (architecture === undefined && Object.keys(found).length === 0) return undefined
  const cache = cacheSize(architecture, found, lookup)
  return { ...(architecture !== undefined && { architecture }), ...found, ...(cache && { cache }) }
}

type Facts = Readonly<Record<string, unknown>>

const isFacts = (value: unknown): value is Facts => typeof value === 'object' && value !== null && !Array.isArray(value)

const own = (facts: Facts | undefined, word: string): unknown =>
  facts && Object.hasOwn(facts, word) ? facts[word] : undefined

/** A model for texts and images keeps what it is for texts one level down. */
const configsIn = (config: Facts | undefined): Facts[] =>
  [config, config?.text_config, config?.llm_config].filter(isFacts)

/** Some formats have a part with these numbers. */
function infoOf({ parts }: Model): Facts | undefined {
  const value = parts.find(({ kind }) => kind.endsWith('.model-info'))?.value
  return isFacts(value) ? value : undefined
}

/** Where layers differ, there is a list with a number for each. */
const maxLayers = 4096

function plainValue(value: MetaValue | undefined): unknown {
  if (!value || value.type === 'null') return undefined
  if (value.type !== 'array') return value.value
  return value.length <= maxLayers ? value.values().map(plainValue) : undefined
}

/** A number above 0, also as text; of a list the largest. */
function countIn(value: unknown): number | undefined {
  if (Array.isArray(value)) {
    const counts = value.map((each) => (Array.isArray(each) ? undefined : countIn(each)))
    return counts.reduce((a, b) => (a === undefined || (b ?? 0) > a ? b : a), undefined)
  }
  return numberIn(value)
}
