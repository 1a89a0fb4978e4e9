// A model directory as the model that its GGUF file holds: the file that llama.cpp's own converter would write, byte for byte.
import { TareError } from '../../errors/index.js'
import { type MetaValue, type Model, text } from '../../model/index.js'
import { inCarriedOrder, readCarried, withCarried } from '../carried.js'
import type { Change } from '../changes.js'
import { familyCodes } from '../codes.js'
import { classIn, completeConfig } from '../config.js'
import { ModelDirectory } from '../directory.js'
import { isObject } from '../facts.js'
import type { Config, Facts } from '../family.js'
import { generalEntries } from '../general/general.js'
import { parseModelCard } from '../general/model-card.js'
import { poolingOf } from '../general/pooling.js'
import { countParameters } from '../general/size-label.js'
import { computedTensors } from '../rope.js'
import { tokenizerEntries } from '../tokenizers/choose.js'
import { tokenizerFile } from '../tokenizers/files.js'
import { checkPreTokenizer } from '../tokenizers/pre-tokenizer.js'
import { sentencePieceFile } from '../tokenizers/sentence-piece.js'
import { checkTensors } from './check.js'
import { fileTypes, mxfp4FileType, type OutputType } from './element-types.js'
import { ownEntries } from './own-entries.js'
import { type ConvertedTensors, convertTensors } from './tensors.js'

export interface ToGgufOptions {
  /** The id of the target, for the model that is made for it. */
  readonly format: string
  /** The names in a file of the source have no order of their own. */
  readonly isSorted?: boolean | undefined
  /** Default: the type that most of the weights have. */
  readonly outputType?: OutputType | undefined
  /** The name of the way in which the tokenizer splits text. Default: it is found by what the tokenizer does. */
  readonly preTokenizer?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Translated {
  readonly model: Model
  readonly changes: readonly Change[]
}

const quantizationVersion = 2

/** Undefined where the model is not a directory whose configuration names an architecture. Fails where that is unknown. */
export async function toGguf(
  source: Model,
  { format, isSorted = true, outputType, preTokenizer, signal }: ToGgufOptions,
): Promise<Translated | undefined> {
  const directory = new ModelDirectory(source, signal)
  const raw = await directory.json('config.json')
  const className = raw && classIn(raw)
  if (!raw || className === undefined) return undefined
  const info = completeConfig(raw, className, directory)
  const file = directory.pathOf('config.json')
  const carried = await readCarried(directory)
  const pre = carried.set.get('tokenizer.ggml.pre')
  if (preTokenizer !== undefined) checkPreTokenizer(preTokenizer)
  const tokenizer = await tokenizerEntries(
    directory,
    info,
    preTokenizer ?? (pre?.type === 'str' ? pre.value : undefined),
  )
  const tokens = tokenizer.find(([key]) => key === 'tokenizer.ggml.tokens')?.[1]
  const computed = computedTensors(info, file)
  const converted = await convertTensors(source, info, {
    outputType,
    isSorted,
    tokens: (await listedTokens(directory)) ?? (tokens?.type === 'array' ? tokens.length : 0),
    file,
    signal,
  })
  const tensors = inCarriedOrder([...computed.tensors, ...converted.tensors], carried)
  const { architecture } = info.family
  const metadata = new Map<string, MetaValue>([['general.architecture', text(architecture)]])
  for (const [key, value] of computed.metadata) metadata.set(`${architecture}.${key}`, value)
  const changes = [...converted.changes]
  const general = generalEntries({
    card: parseModelCard((await directory.text('README.md')) ?? ''),
    config: raw,
    generation: await generationOf(directory, changes),
    folder: directory.name,
    parameters: countParameters(tensors),
  })
  for (const [key, value] of general) metadata.set(key, value)
  const facts: Facts = {
    ...info,
    fileType: fileTypeOf(converted),
    pooling: await poolingOf(directory),
  }
  for (const [key, value] of ownEntries(info, facts, file)) metadata.set(key, value)
  checkTensors(tensors, metadata, info, file)
  metadata.set('general.quantization_version', { type: 'u32', value: quantizationVersion })
  for (const [key, value] of tokenizer) metadata.set(key, value)
  const model: Model = {
    format,
    metadata: withCarried(metadata, carried),
    tensors,
    parts: [],
    files: source.files,
  }
  return { model, changes }
}

/** How many tokens tokenizer.json lists, where it is the only file; those that are in the vocabulary and added as well count twice. */
async function listedTokens(directory: ModelDirectory): Promise<number | undefined> {
  if (await directory.has(sentencePieceFile)) return undefined
  const { model, added_tokens: added } = (await directory.json(tokenizerFile)) ?? {}
  if (!isObject(model) || !isObject(model.vocab)) return undefined
  return Object.keys(model.vocab).length + (Array.isArray(added) ? added.length : 0)
}

/** The defaults for sampling. A file that cannot be read is left out, as it is in llama.cpp's converter: the model runs without. */
async function generationOf(directory: ModelDirectory, changes: Change[]): Promise<Config> {
  const name = 'generation_config.json'
  try {
    return (await directory.json(name)) ?? {}
  } catch (error) {
    if (!(error instanceof TareError) || error.code !== familyCodes.config.code) throw error
    changes.push({ subject: 'part', name, action: 'drop', loss: 'form', reason: 'it is not a JSON object' })
    return {}
  }
}

function fileTypeOf({ outputType, hasMxfp4 }: ConvertedTensors): number {
  return hasMxfp4 && outputType !== 'q8_0' ? mxfp4FileType : fileTypes[outputType]
}
