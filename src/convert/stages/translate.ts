// Published models come in two conventions. On the hub a model is a directory with a configuration and a tokenizer, and tensors are named after
// the modules of a Python library; in GGUF everything is in one file, in the words of llama.cpp. Between the two a model is translated, if its
// architecture is known.
import { callerWord, failWith, usageCodes } from '../../errors/index.js'
import type { OutputType } from '../../families/index.js'
import { formatById } from '../../formats/index.js'
import { fileOf, type State, withActions } from './state.js'

const architectureKey = 'general.architecture'

export async function translate(state: State): Promise<State> {
  const { model, target, options } = state
  const from = formatById(model.format)?.capabilities
  const to = target.capabilities.conventions
  if (options.asIs || from?.conventions !== 'hub' || to !== 'ggml' || model.metadata.has(architectureKey)) return state
  // With the first such directory: the tables of all architectures, and a parser for model cards, are not needed by others.
  const families = await import('../../families/index.js')
  const translated = await families.toGguf(model, {
    format: target.id,
    isSorted: from.plain === true,
    outputType: outputTypeFor(state, families.isOutputType),
    quantized: options.quantize?.method,
    preTokenizer: options.preTokenizer,
    signal: options.signal,
  })
  if (!translated) return state
  // The types are settled, and must not be changed by the wish that settled them.
  const settled: State = {
    ...state,
    options: { ...options, cast: undefined },
    restored: translated.model,
    model: translated.model,
  }
  return withActions(settled, translated.changes)
}

function outputTypeFor(state: State, isOutputType: (name: string) => name is OutputType): OutputType | undefined {
  const { cast } = state.options
  if (cast === undefined) return undefined
  const name = cast.toLowerCase().replace(/^ggml\./, '')
  if (isOutputType(name)) return name
  const message = `llama.cpp's converter writes f32, f16, bf16 or q8_0; for other types use ${callerWord(`--quantize ${cast}`, `quantize: '${cast}'`)}`
  return failWith(usageCodes.option, { file: fileOf(state.source), path: callerWord('--cast', 'cast'), message })
}
