// The metadata that the document requires, for models that come without: what the tensors and the files beside them tell is taken from
// there, and what they do not tell is left out. The clock is not asked: the same input must give the same bytes.
import { configWords } from '../../../content/config-words.js'
import { hasConfigBeside, publishedAs, statedArchitecture } from '../../../content/model-names.js'
import { callerWord, failWith, usageCodes } from '../../../errors/index.js'
import { type Metadata, type MetaValue, type Model, text, type WriteOptions } from '../../../model/index.js'
import { isSectioned } from '../parts.js'
import { requiredKeys } from '../structs.js'

type RequiredKey = (typeof requiredKeys)[number]

/** What the other numbers are called in GGUF, behind the name of the architecture, and in config.json. */
const words: Readonly<Partial<Record<RequiredKey, readonly string[]>>> = {
  embedding_dim: ['embedding_length', ...configWords.hidden],
  vocab_size: configWords.vocabulary,
  num_layers: ['block_count', ...configWords.layers],
  num_attention_heads: ['attention.head_count', ...configWords.heads],
  hidden_size: ['embedding_length', ...configWords.hidden],
  intermediate_size: ['feed_forward_length', ...configWords.feedForward],
  max_position_emb: ['context_length', ...configWords.context],
}

/** Not required, but without it nothing says what the model is. */
const architectureKey = 'architecture'

const headsKey = 'num_attention_heads'
/** Heads cannot be seen in the weights. Models with 384 hidden units have 12 of them, all that are in use. */
const knownHeads: ReadonlyMap<number, number> = new Map([[384, 12]])

type Config = Readonly<Record<string, unknown>>

/** A number, also as the text that it becomes here. */
function countIn(value: MetaValue | undefined): number | undefined {
  const plain = value && 'value' in value ? value.value : undefined
  return typeof plain === 'string' || typeof plain === 'number' || typeof plain === 'bigint' ? Number(plain) : undefined
}

/** The required keys first, in the document's order, then all others in theirs. A sectioned file is copied as it is. */
export async function metadataToWrite(model: Model, options: WriteOptions): Promise<Metadata> {
  const heads = options.extra?.heads
  if (heads !== undefined && (typeof heads !== 'number' || !Number.isSafeInteger(heads) || heads < 1)) {
    failWith(usageCodes.option, {
      file: callerWord('--heads', 'heads'),
      message: `${String(heads)} is not a number of attention heads`,
    })
  }
  const given = new Map(model.metadata)
  if (heads !== undefined) given.set(headsKey, text(String(heads)))
  if (isSectioned(model)) return given
  const { name, config } = await publishedAs(model, options.name, options.signal)
  const found = derive(model, name, config)
  const metadata = new Map<string, MetaValue>()
  for (const key of requiredKeys) {
    const value = given.get(key) ?? found.get(key)
    if (value !== undefined) metadata.set(key, typeof value === 'object' ? value : text(String(value)))
  }
  const architecture = statedArchitecture(model, config)
  if (architecture !== undefined && !statesArchitecture(model)) metadata.set(architectureKey, text(architecture))
  for (const [key, value] of given) metadata.set(key, value)
  return metadata
}

const statesArchitecture = (model: Model): boolean => statedArchitecture(model, undefined) !== undefined

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0

/** The keys that a model's tensors and metadata give, and those that its config.json may. */
export const derivedKeys = (model: Model): readonly string[] => [
  ...new Set([
    ...derive(model, '', undefined).keys(),
    ...(hasConfigBeside(model) ? Object.keys(words) : []),
    ...(hasConfigBeside(model) && !statesArchitecture(model) ? [architectureKey] : []),
  ]),
]

/** What the tensors do not tell, metadata or a configuration may. */
function derive(model: Model, modelName: string, config: Config | undefined): Map<RequiredKey, string | number> {
  const architecture = statedArchitecture(model, undefined)
  const stated = (key: RequiredKey): number | undefined =>
    (words[key] ?? [])
      .flatMap((word) => [countIn(model.metadata.get(`${architecture}.${word}`)), config?.[word]])
      .find(isCount)
  const heads = stated(headsKey)
  const found = new Map<RequiredKey, string | number>([
    ['model_name', modelName],
    ['model_version', '1.0.0'],
    ['created_at', '1970-01-01T00:00:00Z'],
  ])
  const layers = new Set<string>()
  for (const { name, shape } of model.tensors) {
    const [rows, columns] = shape
    if (rows === undefined) continue
    if (name.endsWith('embeddings.word_embeddings.weight') && columns !== undefined) {
      found.set('vocab_size', rows)
      found.set('embedding_dim', columns)
      found.set('hidden_size', columns)
      const known = heads ?? knownHeads.get(columns)
      if (known !== undefined) found.set(headsKey, known)
    } else if (name === 'token_embd.weight') found.set('vocab_size', rows)
    else if (name.endsWith('embeddings.position_embeddings.weight')) found.set('max_position_emb', rows)
    else if (/\.(intermediate\.dense|ffn\.lin1)\.bias$/.test(name)) found.set('intermediate_size', rows)
    // DistilBERT has a transformer where BERT has an encoder.
    const layer = /(?:^|\.)(?:encoder|transformer)\.layer\.(\d+)\./.exec(name)?.[1]
    if (layer !== undefined) layers.add(layer)
  }
  if (layers.size > 0) found.set('num_layers', layers.size)
  for (const key of Object.keys(words) as RequiredKey[]) {
    const value = found.has(key) ? undefined : stated(key)
    if (value !== undefined) found.set(key, value)
  }
  return found
}
