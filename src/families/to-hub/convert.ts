// A GGUF file as the directory that it could have been made of: names and weights as the hub's libraries have them, config.json, a tokenizer,
// a model card. What those files have no place for is found by going the way to GGUF, without weights, and comparing.
import { encodeUtf8 } from '../../bytes/index.js'
import { fileKind } from '../../content/companions.js'
import { callerWord, failWith, TareError } from '../../errors/index.js'
import { type Metadata, type MetaValue, type Model, text } from '../../model/index.js'
import { carriedFile, carriedJson } from '../carried.js'
import type { Change } from '../changes.js'
import { familyCodes } from '../codes.js'
import type { ModelConfig } from '../config.js'
import { ModelDirectory } from '../directory.js'
import type { Config } from '../family.js'
import { poolingFiles } from '../general/pooling.js'
import { countParameters } from '../general/size-label.js'
import { checkTensors } from '../to-gguf/check.js'
import type { Translated } from '../to-gguf/convert.js'
import { firstMatrixType } from '../to-gguf/element-types.js'
import { generationConfig, modelCard } from './card.js'
import { configFor } from './config.js'
import { findCarried, isAboutFile } from './differences.js'
import { numberAt, textAt } from './entries.js'
import { type FileContent, partOf } from './parts.js'
import { readRopeFactors } from './rope.js'
import { type PublishedTensors, publishTensors } from './tensors.js'
import { publishTokenizer } from './tokenizer/publish.js'

export interface ToHubOptions {
  /** The id of the target, for the model that is made for it. */
  readonly format: string
  /** Which quantized tensors become f32; others are refused. */
  readonly isDequantized: (name: string) => boolean
  /** The element type that the weights will have, if not their own. */
  readonly cast?: string | undefined
  /** The weights are spread over files, so that the order of the tensors will not follow from their names. */
  readonly isSharded?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

const architectureKey = 'general.architecture'

/** Undefined where the model does not state an architecture. Fails where that is unknown. */
export async function toHub(source: Model, options: ToHubOptions): Promise<Translated | undefined> {
  const { metadata, tensors } = source
  const file = source.files[0]?.name ?? ''
  if (!metadata.has(architectureKey)) return undefined
  const tokens = metadata.get('tokenizer.ggml.tokens')
  const info = configFor(
    {
      architecture: requireArchitecture(metadata, file),
      metadata,
      tensors,
      rope: await readRopeFactors(source, options.signal),
      tokens: tokens?.type === 'array' ? tokens.length : undefined,
      file,
    },
    emptyDirectory,
  )
  const published = publishTensors(tensors, info, options)
  checkTensors(tensors, metadata, info, file)
  const files = filesFor(source, info, published, options.cast)
  const carried = await findCarried(source, { tensors: published.tensors, files, ...options }).catch(notAgain)
  const side = 'set' in carried ? carriedJson(carried) : undefined
  if (side) files.set(carriedFile, side)
  const others = source.parts.filter(({ kind, name }) => kind === fileKind && !files.has(name ?? ''))
  const model: Model = {
    format: options.format,
    metadata: new Map<string, MetaValue>([['format', text('pt')]]),
    tensors: published.tensors,
    parts: [...others, ...[...files].map(([name, content]) => partOf(name, content))],
    files: source.files,
  }
  const changes = [...published.changes, ...metadataChanges(metadata, side), ...('set' in carried ? [] : [carried])]
  return { model, changes }
}

function requireArchitecture(metadata: Metadata, file: string): string {
  const architecture = textAt(metadata, architectureKey)
  if (architecture !== undefined) return architecture
  const message = `a text was expected; ${callerWord('--as-is', 'asIs: true')} copies everything as it is`
  return failWith(familyCodes['config-value'], { file, path: architectureKey, message })
}

/** All that lies beside the weights, by name. */
function filesFor(
  { metadata, tensors, files: [main] }: Model,
  { family, raw }: ModelConfig,
  published: PublishedTensors,
  cast: string | undefined,
): Map<string, FileContent> {
  const file = main?.name ?? ''
  const tokenizer = publishTokenizer(metadata, family, file)
  const settings = tokenizer?.settings ?? {}
  const config: Config = {
    ...raw,
    ...settings,
    torch_dtype: torchTypes[cast ?? ''] ?? torchTypes[firstMatrixType(published.tensors) ?? 'f32'],
    ...(published.hasMxfp4 && { quantization_config: mxfp4Settings }),
  }
  const generation = generationConfig(metadata, settings)
  const pooling = numberAt(metadata, `${family.architecture}.pooling_type`)
  const card = modelCard(metadata, countParameters(tensors).total, file)
  return new Map<string, FileContent>([
    ['config.json', config],
    ...(tokenizer?.files ?? []),
    ...(generation ? [['generation_config.json', generation] as const] : []),
    ...poolingFiles(pooling, config),
    ['README.md', encodeUtf8(card)],
  ])
}

/** A directory that is complete, but would not become the same file again, is noted. */
function notAgain(error: unknown): Change {
  if (!(error instanceof TareError) || !error.code.startsWith('family/')) throw error
  const reason = `the directory would not become GGUF again: ${error.finding.message}`
  return { subject: 'part', name: 'config.json', action: 'map', loss: 'form', reason }
}

const torchTypes: Readonly<Record<string, string>> = { f32: 'float32', f16: 'float16', bf16: 'bfloat16' }

const mxfp4Settings: Config = {
  quant_method: 'mxfp4',
  modules_to_not_convert: ['model.layers.*.self_attn', 'model.layers.*.mlp.router', 'model.embed_tokens', 'lm_head'],
}

/** Where settings are completed without a file of their own. */
const emptyDirectory = new ModelDirectory({ format: '', metadata: new Map(), tensors: [], parts: [], files: [] })

function metadataChanges(metadata: Metadata, carried: Config | undefined): Change[] {
  const set = carried?.set as Config | undefined
  return [...metadata.keys()].map((name) => ({
    subject: 'metadata',
    name,
    action: 'map',
    loss: 'none',
    to: set && Object.hasOwn(set, name) ? carriedFile : placeOf(name),
  }))
}

function placeOf(key: string): string {
  if (isAboutFile(key) || key === 'general.quantization_version') return 'what the weights are'
  if (key.startsWith('tokenizer.')) return 'the tokenizer'
  if (key.startsWith('general.sampling.')) return 'generation_config.json'
  return key.startsWith('general.') && key !== architectureKey ? 'README.md' : 'config.json'
}
