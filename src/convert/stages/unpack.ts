// Weights that are packed in several tensors become one tensor of values each, where the caller wants values. The configuration must not say
// any longer that they are packed: libraries would look for the codes. They count as quantized already: where a model is to be quantized,
// they are decoded on request, and otherwise nothing that they are made of may change.
import { filePart, findFile } from '../../content/companions.js'
import { configOf } from '../../content/model-names.js'
import { callerWord } from '../../errors/index.js'
import { bytesPayload, type Model, type Part } from '../../model/index.js'
import { describePacking, membersOf, packingOf, settingsKeys, unpackModel } from '../../packed/index.js'
import { selector } from '../../transforms/select.js'
import { type ActionLog, noter } from '../actions.js'
import type { ConvertOptions, QuantizeSettings } from '../options.js'
import { type State, withActions } from './state.js'

const configFile = 'config.json'

/** The options for quantizing a model that may be packed. */
export async function withPackedSettings(
  model: Model,
  options: ConvertOptions & { readonly quantize: QuantizeSettings },
): Promise<ConvertOptions> {
  const { quantize, signal } = options
  const { weights } = await packingOf(model, signal)
  if (weights.length === 0) return options
  if (quantize.requantize) return { ...options, unpack: true }
  const untouchable = new Map<string, string>()
  const how = callerWord('--requantize', 'requantize')
  for (const weight of weights)
    for (const { name } of membersOf(weight))
      untouchable.set(name, `part of a weight that is ${describePacking(weight)} already: use ${how}`)
  return { ...options, quantize: { ...quantize, untouchable } }
}

export async function unpack(state: State): Promise<State> {
  const { model, options } = state
  const { dequantize, unpack: isWhole, only, exclude, signal } = options
  const isMeant = isWhole ? () => true : selector(dequantize)
  const { weights } = await packingOf(model, signal)
  const wanted = weights.filter(({ name }) => isMeant(name))
  if (wanted.length === 0) return state
  const names = new Set(wanted.map(({ name }) => name))
  const unpacked = await unpackModel(model, ({ name }) => names.has(name), signal)
  const actions: ActionLog = []
  const isChosen = selector(only, exclude)
  for (const weight of wanted.filter(({ name }) => isChosen(name)))
    noter(actions, 'tensor', weight.name)('dequantize', 'form', {
      requested: true,
      from: describePacking(weight),
      to: 'f32',
    })
  const config = wanted.length === weights.length ? await plainConfig(model, signal) : undefined
  if (config)
    noter(actions, 'part', configFile)('set', 'none', { requested: true, reason: 'weights are no longer packed' })
  const parts = config ? model.parts.map((part) => (part === config.old ? config.changed : part)) : model.parts
  const changed = { ...unpacked, parts }
  return withActions({ ...state, restored: changed, model: changed }, actions)
}

/** The configuration without what it says about packed weights; undefined where the model has none. */
async function plainConfig(
  model: Model,
  signal: AbortSignal | undefined,
): Promise<{ readonly old: Part; readonly changed: Part } | undefined> {
  const old = findFile(model.parts, configFile)
  const config = old && (await configOf(model, signal))
  if (!old || !config) return undefined
  const text = JSON.stringify(withoutSettings(config), null, 2)
  return { old, changed: filePart(configFile, bytesPayload(new TextEncoder().encode(`${text}\n`))) }
}

function withoutSettings(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(config).filter(([key]) => !(settingsKeys as readonly string[]).includes(key))
  return Object.fromEntries(
    kept.map(([key, value]) =>
      (key === 'text_config' || key === 'llm_config') && typeof value === 'object' && value !== null
        ? [key, withoutSettings(value as Record<string, unknown>)]
        : [key, value],
    ),
  )
}
