// Weights that are packed in several tensors become one tensor of values each, where the caller wants values. The configuration must not say
// any longer that they are packed: libraries would look for the codes.
import { filePart, findFile } from '../../content/companions.js'
import { configOf } from '../../content/model-names.js'
import { bytesPayload, type Model, type Part } from '../../model/index.js'
import { describePacking, packingOf, settingsKeys, unpackModel } from '../../packed/index.js'
import { selector } from '../../transforms/select.js'
import { type ActionLog, noter } from '../actions.js'
import { type State, withActions } from './state.js'

const configFile = 'config.json'

export async function unpack(state: State): Promise<State> {
  const { model, options } = state
  const { dequantize, unpack: isWhole, only, exclude, signal } = options
  if (!dequantize && !isWhole) return state
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
