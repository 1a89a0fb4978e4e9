// Published models come in two conventions. On the hub a model is a directory with a configuration and a tokenizer, and tensors are named after
// the modules of a Python library; in GGUF everything is in one file, in the words of llama.cpp. Between the two a model is translated, if its
// architecture is known.
import { findFile } from '../../content/companions.js'
import { callerWord, failWith, usageCodes } from '../../errors/index.js'
import { ModelDirectory } from '../../families/directory.js'
import type { Translated } from '../../families/index.js'
import { formatById } from '../../formats/index.js'
import { globMatcher } from '../../transforms/glob.js'
import { fileOf, type State, withActions } from './state.js'

const architectureKey = 'general.architecture'

export async function translate(state: State): Promise<State> {
  const { model, target, options } = state
  const hasWordsOfGgml = model.metadata.has(architectureKey)
  if (target.capabilities.conventions === 'ggml') return hasWordsOfGgml ? state : toGguf(state)
  // A directory is a file for each thing that the hub's libraries look for; a single file has no place for them.
  const isWanted = options.folder && hasWordsOfGgml && !findFile(model.parts, 'config.json')
  return isWanted ? toHub(state) : state
}

async function toGguf(state: State): Promise<State> {
  const { model, target, options } = state
  if (!(await new ModelDirectory(model, options.signal).has('config.json'))) return state
  // With the first such directory: the tables of all architectures, and a parser for model cards, are not needed by others.
  const families = await import('../../families/index.js')
  const name = options.cast?.toLowerCase().replace(/^ggml\./, '')
  const outputType = name !== undefined && families.isOutputType(name) ? name : undefined
  const translated = await families.advised(
    families.toGguf(model, {
      format: target.id,
      isSorted: formatById(model.format)?.capabilities.plain === true,
      outputType,
      preTokenizer: options.preTokenizer,
      signal: options.signal,
    }),
  )
  if (!translated) return state
  if (name !== outputType) refuseCast(state)
  // The types are settled, and must not be changed by the wish that settled them.
  return settled(state, translated, { cast: undefined })
}

async function toHub(state: State): Promise<State> {
  const { model, target, options } = state
  const families = await import('../../families/index.js')
  const { dequantize = [] } = options
  const matchers = dequantize.map(globMatcher)
  const translated = await families.toHub(model, {
    format: target.id,
    isDequantized: (name) => options.cast !== undefined || matchers.some((matches) => matches(name)),
    cast: options.cast?.toLowerCase(),
    isSharded: options.shardSize !== undefined,
    signal: options.signal,
  })
  return translated ? settled(state, translated, { dequantize: undefined }) : state
}

function settled(state: State, { model, changes }: Translated, options: Partial<State['options']>): State {
  const translated: State = { ...state, options: { ...state.options, ...options }, restored: model, model }
  return withActions(translated, changes)
}

function refuseCast({ source, options: { cast } }: State): never {
  const message = `llama.cpp's converter writes f32, f16, bf16 or q8_0; for other types use ${callerWord(`--quantize ${cast}`, `quantize: '${cast}'`)}`
  return failWith(usageCodes.option, { file: fileOf(source), path: callerWord('--cast', 'cast'), message })
}
