// config.json from the metadata of a GGUF file: the keys of an architecture, read the other way. One architecture of llama.cpp serves several
// classes; the one is taken whose configuration leads to the same metadata again.
import { callerWord, failWith, TareError } from '../../errors/index.js'
import type { Metadata, MetaValue, Tensor } from '../../model/index.js'
import { familyCodes } from '../codes.js'
import { completeConfig, type ModelConfig } from '../config.js'
import type { ModelDirectory } from '../directory.js'
import type { Config, Default, Family, KeyRule, TokenizerChoice } from '../family.js'
import { families } from '../list.js'
import { isSameValue } from '../metadata-values.js'
import { isOwnKey, ownEntries } from '../to-gguf/own-entries.js'
import { plainValue } from './entries.js'
import { originsIn } from './names.js'
import { type RopeFactors, ropeScalingFor, ropeTensors } from './rope.js'

export interface BackSource {
  readonly architecture: string
  readonly metadata: Metadata
  readonly tensors: readonly Tensor[]
  readonly rope: RopeFactors
  /** How many tokens the vocabulary has. */
  readonly tokens: number | undefined
  readonly file: string
}

interface Candidate {
  readonly family: Family
  readonly className: string
  readonly modelType: string
  readonly defaults: Readonly<Record<string, Default>>
}

/** The configuration as the file will say it, and completed. */
export function configFor(source: BackSource, directory: ModelDirectory): ModelConfig {
  const { metadata, architecture, file } = source
  const theta = plainValue(metadata.get(`${architecture}.rope.freq_base`))
  const scaling = ropeScalingFor(source.rope, typeof theta === 'number' ? theta : 10_000, file)
  let best: { readonly info: ModelConfig; readonly score: number } | undefined
  let failure: unknown
  for (const candidate of candidatesFor(source)) {
    try {
      const raw = rawConfig(candidate, source, scaling)
      const info = completeConfig(raw, candidate.className, directory)
      const score = 100 * differences(info, metadata) + strangers(candidate, metadata)
      if (!best || score < best.score) best = { info, score }
    } catch (error) {
      if (!(error instanceof TareError)) throw error
      failure ??= error
    }
  }
  if (best) return asOther(best.info, source)
  if (!(failure instanceof TareError)) throw failure
  // What is missing in the configuration is missing in the file that it is made of.
  const { path = '', message } = failure.finding
  const key = path.startsWith(`${architecture}.`) ? path : `${architecture} (${path})`
  return failWith(familyCodes['config-value'], { file, path: key, message })
}

/** With the names and settings of models that have a certain tensor, if this is one of them. */
function asOther(info: ModelConfig, { tensors }: BackSource): ModelConfig {
  const { family, raw, config } = info
  const { others } = family
  if (!others || !tensors.some(({ name }) => others.where.test(name))) return info
  return {
    ...info,
    family: { ...family, tensors: { ...others.names, ...family.tensors } },
    raw: { ...raw, ...others.settings },
    config: { ...config, ...others.settings },
  }
}

function candidatesFor({ architecture, metadata, tensors, file }: BackSource): readonly Candidate[] {
  const known = families.filter((family) => family.architecture === architecture)
  if (known.length === 0) {
    const names = [...new Set(families.map((family) => family.architecture))].join(', ')
    const message = `${JSON.stringify(architecture)} is unknown; known are ${names}. With ${callerWord('--as-is', 'asIs: true')} names and weights are copied as they are`
    failWith(familyCodes.architecture, { file, path: 'general.architecture', message })
  }
  const all = known.flatMap((family) =>
    family.classes.map((className): Candidate => {
      const modelType = modelTypeOf(family, className)
      return { family, className, modelType, defaults: family.configs[modelType] ?? {} }
    }),
  )
  const pre = plainValue(metadata.get('tokenizer.ggml.pre'))
  const isToldByPre = known.some(({ tellingPre }) => tellingPre !== undefined && tellingPre === pre)
  const ranks = new Map(all.map((each) => [each, rankOf(each, metadata, tensors, isToldByPre ? pre : undefined)]))
  const least = Math.min(...ranks.values())
  return all.filter((each) => ranks.get(each) === least)
}

/** How much speaks against a class: tensors that it has no name for most, and then what it is not used for. */
function rankOf(
  { family, className }: Candidate,
  metadata: Metadata,
  tensors: readonly Tensor[],
  tellingPre: unknown,
): number {
  const originOf = originsIn(family)
  // A class without the prefix of its names has no tensors outside of it, such as an output layer.
  const added = family.prefix?.add?.[className] ?? ''
  const isNamed = tensors.every(
    ({ name }) => ropeTensors.has(name) || originOf(name)?.pattern.startsWith(added) === true,
  )
  const model = plainValue(metadata.get('tokenizer.ggml.model'))
  const isReadable = typeof model !== 'string' || readableBy[family.tokenizer].includes(model)
  const tell = family.tells?.[className]
  const isTold = Object.values(family.tells ?? {}).some((each) => tensors.some(({ name }) => each.test(name)))
  const { tellingKey } = family
  const isOther =
    (isTold ? !tell : tell !== undefined) ||
    family.tellingPre !== tellingPre ||
    (tellingKey !== undefined && !metadata.has(`${family.architecture}.${tellingKey}`))
  const isEmbedder = metadata.has(`${family.architecture}.pooling_type`)
  return (
    (isNamed ? 0 : 8) + (isReadable ? 0 : 4) + (isOther ? 2 : 0) + (isEmbedder && !className.endsWith('Model') ? 1 : 0)
  )
}

/** The tokenizers of GGUF that a family can have. */
const readableBy: Readonly<Record<TokenizerChoice, readonly string[]>> = {
  llama: ['llama', 'gpt2'],
  'sentencepiece-or-bpe': ['llama', 'gpt2'],
  sentencepiece: ['llama'],
  'sentencepiece-with-prefix': ['llama'],
  'internlm-2': ['llama'],
  'internlm-3': ['llama'],
  'gemma-1': ['llama'],
  'gemma-2': ['llama'],
  'gemma-3': ['llama', 'gpt2'],
  'gemma-4': ['gemma4'],
  'phi-3': ['llama', 'gpt2'],
  bpe: ['gpt2'],
  'plain-bpe': ['gpt2'],
  solar: ['gpt2'],
  glm: ['gpt2'],
  hunyuan: ['gpt2'],
  wordpiece: ['bert'],
  'bpe-or-wordpiece': ['gpt2', 'bert'],
  'xlm-roberta': ['t5'],
  nomic: ['t5', 'bert'],
  'jina-2': ['bert', 'gpt2'],
  t5: ['t5', 'llama'],
  'glm-moe': ['gpt2'],
  chatglm: ['gpt2'],
  mamba: ['gpt2', 'llama'],
  'mamba-2': ['gpt2', 'llama'],
  jamba: ['llama'],
}

/** The longest type that the name of a class begins with: `Qwen2MoeForCausalLM` is of the type `qwen2_moe`. */
function modelTypeOf({ configs }: Family, className: string): string {
  const types = Object.keys(configs)
  const name = className.toLowerCase().replaceAll('_', '')
  const fitting = types.filter((type) => name.startsWith(type.replaceAll(/[-_]/g, '')))
  return fitting.sort((a, b) => b.length - a.length)[0] ?? types[0]!
}

function rawConfig({ family, className, modelType, defaults }: Candidate, source: BackSource, scaling: Config): Config {
  const { metadata, tensors, tokens } = source
  const known: Record<string, unknown> = {}
  const rules = [...new Map(family.keys.map((rule) => [rule.key, rule])).values()].filter(({ key }) => isOwnKey(key))
  const stated = (rule: KeyRule): unknown => plainValue(metadata.get(`${family.architecture}.${rule.key}`))
  for (const rule of rules) {
    // Some entries are one value in some models and a list in others.
    const types = family.keys.filter(({ key }) => key === rule.key).map(({ type }) => type)
    const value = checked({ ...rule, types }, stated(rule), source)
    if (value !== undefined && !rule.back && rule.from?.[0] !== undefined)
      known[settingFor(rule.from, family, defaults)] = value
  }
  for (const rule of rules) {
    const value = stated(rule)
    if (value !== undefined && rule.back) Object.assign(known, rule.back(value, known))
  }
  if (Object.keys(scaling).length > 0) known.rope_scaling = { ...(known.rope_scaling as object), ...scaling }
  for (const rule of rules) if (stated(rule) === undefined) Object.assign(known, absence(rule, known, family, defaults))
  if ('rope_scaling' in defaults) known.rope_scaling ??= null
  known.vocab_size ??= tokens ?? tensors.find(({ name }) => name === 'token_embd.weight')?.shape[0]
  const types = plainValue(metadata.get('tokenizer.ggml.token_type_count'))
  if ('type_vocab_size' in defaults && types !== undefined) known.type_vocab_size = types
  const names = new Set(tensors.map(({ name }) => name))
  const hasOutput = Object.values(family.tensors).includes('output')
  const settled = family.unsettle?.(known) ?? known
  return {
    architectures: [className],
    model_type: modelType,
    ...settled,
    ...(hasOutput && { attention_bias: names.has('blk.0.attn_q.bias') }),
    ...(hasOutput && names.has('blk.0.ffn_gate.bias') && { mlp_bias: true }),
    ...(hasOutput && { tie_word_embeddings: !names.has('output.weight') }),
  }
}

/** Keys without which a file says nothing about its tensors. For others a class has defaults, and older files lack some. */
const essential: ReadonlySet<string> = new Set(['block_count', 'embedding_length', 'attention.head_count'])

/** Fails where a value is not of the type that the rule has. */
function checked(
  rule: KeyRule & { readonly types: readonly KeyRule['type'][] },
  value: unknown,
  { metadata, architecture, file }: BackSource,
): unknown {
  const path = `${architecture}.${rule.key}`
  const refuse = (message: string): never => failWith(familyCodes['config-value'], { file, path, message })
  if (value === undefined) {
    if (essential.has(rule.key)) refuse('the architecture needs this key, and the file does not have it')
    return metadata.has(path) ? refuse('it is not of a type that this key has') : undefined
  }
  const isWhole = typeof value === 'number' && Number.isInteger(value) && value >= 0
  const fitting = {
    u32: isWhole,
    f32: typeof value === 'number' && Number.isFinite(value),
    bool: typeof value === 'boolean',
    str: typeof value === 'string',
    bools: Array.isArray(value),
    i32s: Array.isArray(value),
    f32s: Array.isArray(value),
    strs: Array.isArray(value),
  }
  const wanted = { u32: 'one whole number', f32: 'one number', bool: 'true or false', str: 'a text' } as const
  if (!rule.types.some((type) => fitting[type])) refuse(`${wanted[rule.type as 'u32'] ?? 'a list'} was expected`)
  return value
}

/** The setting that a family has, of those that are looked for. */
const settingFor = (from: readonly string[], { settings = [] }: Family, defaults: Config): string =>
  from.find((each) => each in defaults || settings.includes(each)) ?? from[0]!

/** What keeps a default from making an entry that the file does not have. */
function absence(rule: KeyRule, known: Config, family: Family, defaults: Config): Config {
  if (rule.absent) return typeof rule.absent === 'function' ? rule.absent(known) : rule.absent
  // A class that cannot do without has the default.
  if (rule.required) return {}
  const setting = rule.from?.[0] === undefined ? undefined : settingFor(rule.from, family, defaults)
  if (setting === undefined || setting in known || defaults[setting] == null) return {}
  return typeof defaults[setting] === 'function' ? {} : { [setting]: null }
}

/** How many entries would be missing, others, or too many after the way to GGUF. */
function differences(info: ModelConfig, metadata: Metadata): number {
  const { architecture } = info.family
  const prefix = `${architecture}.`
  const pooling = plainValue(metadata.get(`${prefix}pooling_type`))
  const facts = { ...info, fileType: 0, pooling: typeof pooling === 'number' ? pooling : undefined }
  const again = new Map<string, MetaValue>(ownEntries(info, facts, 'config.json'))
  const keys = [...metadata.keys()].filter((key) => key.startsWith(prefix))
  const isLost = (key: string): boolean => !again.has(key) || !isSameValue(again.get(key)!, metadata.get(key)!)
  const added = [...again.keys()].filter((key) => key.startsWith(prefix) && !metadata.has(key))
  const order = [...again.keys()].filter((key) => metadata.has(key) && key.startsWith(prefix))
  const isOrdered = order.join() === keys.filter((key) => again.has(key)).join()
  return keys.filter(isLost).length + added.length + (isOrdered ? 0 : 1)
}

/** How many entries the class has no setting for: a class that has one is meant. */
function strangers({ family, defaults }: Candidate, metadata: Metadata): number {
  const isStrange = ({ key, from, back }: KeyRule): boolean =>
    !back &&
    from?.[0] !== undefined &&
    metadata.has(`${family.architecture}.${key}`) &&
    !from.some((each) => each in defaults || family.settings?.includes(each))
  return family.keys.filter(isStrange).length
}
