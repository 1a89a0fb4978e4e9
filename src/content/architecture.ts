// What a model says about its architecture. Each format has its own words for the same few numbers: GGUF puts them behind the name of the
// architecture (`llama.block_count`), Hugging Face into `config.json`, others into metadata or a part of their own. All are looked up alike.
import type { MetaValue } from '../model/metadata.js'
import type { Model } from '../model/model.js'
import { configWords } from './config-words.js'
import { configOf, statedArchitecture } from './model-names.js'

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
  /** How many numbers each token adds to the KV cache, in all layers together. Absent: unknown, or it has no such cache. */
  readonly cachePerToken?: number
}

/** The words of config.json, then those of GGUF, MCF and EMBD. */
const words = {
  layers: [...configWords.layers, 'block_count', 'layerCount'],
  hidden: [...configWords.hidden, 'd_model', 'embedding_length', 'hiddenSize'],
  heads: [...configWords.heads, 'num_heads', 'attention.head_count', 'headCount'],
  kvHeads: [...configWords.kvHeads, 'attention.head_count_kv', 'headCountKv'],
  headDim: [...configWords.headDim, 'attention.key_length'],
  context: [...configWords.context, 'context_length', 'contextLength', 'max_position_emb'],
  vocabulary: [...configWords.vocabulary, 'vocabSize'],
  experts: [...configWords.experts, 'expert_count'],
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
  const find = (all: readonly string[]): number | undefined => {
    for (const lookup of lookups)
      for (const word of all) {
        const count = countIn(lookup(word))
        if (count !== undefined) return count
      }
    return undefined
  }
  const found: Partial<Record<Fact, number>> = {}
  for (const fact of Object.keys(words) as Fact[]) {
    const count = find(words[fact])
    if (count !== undefined) found[fact] = count
  }
  const tokens = model.metadata.get('tokenizer.ggml.tokens')
  if (tokens?.type === 'array' && tokens.length > 0) found.vocabulary ??= tokens.length
  const { hidden, heads } = found
  if (hidden !== undefined && heads !== undefined && hidden % heads === 0) found.headDim ??= hidden / heads
  if (architecture === undefined && Object.keys(found).length === 0) return undefined
  const isCompressed = find(['kv_lora_rank', 'attention.kv_lora_rank']) !== undefined
  const cachePerToken = isCompressed || isEncoder(architecture) ? undefined : cacheSize(found)
  return {
    ...(architecture !== undefined && { architecture }),
    ...found,
    ...(cachePerToken !== undefined && { cachePerToken }),
  }
}

/** Encoders see a text at once, so that there is nothing to keep for the next token. Of an unknown architecture it is not known. */
const isEncoder = (architecture: string | undefined): boolean =>
  architecture === undefined || /bert|mpnet|electra|encoder|clip|siglip|vit\b|resnet/i.test(architecture)

/** A key and a value for each head and layer. */
function cacheSize({ layers, heads, kvHeads = heads, headDim }: Partial<Record<Fact, number>>): number | undefined {
  if (layers === undefined || kvHeads === undefined || headDim === undefined) return undefined
  const size = 2 * layers * kvHeads * headDim
  return Number.isSafeInteger(size) ? size : undefined
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
  const isText = typeof value === 'string' && /^[0-9]{1,15}$/.test(value)
  const count = isText || typeof value === 'bigint' ? Number(value) : value
  return typeof count === 'number' && Number.isSafeInteger(count) && count > 0 ? count : undefined
}
