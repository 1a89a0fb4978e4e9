// config.json as the library that trained the model would read it: with everything that the file need not say.
import { configWords } from '../content/config-words.js'
import { callerWord, failWith } from '../errors/index.js'
import { familyCodes } from './codes.js'
import type { ModelDirectory } from './directory.js'
import { find, isObject } from './facts.js'
import type { Config, Default, Family } from './family.js'
import { families, familyOfClass } from './list.js'

export interface ModelConfig {
  readonly family: Family
  /** The class that the file names. */
  readonly className: string
  /** The file as it is. */
  readonly raw: Config
  /** The same, completed. */
  readonly config: Config
  readonly rope: Config
  readonly layers: number
}

const configFile = 'config.json'

/** The class that a configuration names; undefined where it names none. */
export function classIn(raw: Config): string | undefined {
  const outer = firstText(raw.architectures)
  if (outer !== undefined && hasOwnClass.has(outer)) return outer
  const inner = firstText(textSettings(raw)?.architectures)
  if (inner !== undefined || outer !== undefined) return inner ?? outer
  // Mamba, as its authors publish it.
  return isObject(raw.ssm_cfg) ? `${raw.ssm_cfg.layer ?? 'Mamba'}ForCausalLM` : undefined
}

/** Models that see, and whose text has a class of its own that is not the one which its settings name. */
const hasOwnClass: ReadonlySet<string> = new Set([
  'StepVLForConditionalGeneration',
  'Exaone4_5_ForConditionalGeneration',
])

/** What the settings of the text are called in models that see or hear, which the transformers library itself does not know. */
const textWords = ['language_config', 'lm_config', 'llm_config'] as const

/** The settings of the text, where they are not those of the whole model. */
function textSettings(raw: Config): Config | undefined {
  const word = textWords.find((each) => isObject(raw[each]))
  if (word !== undefined) return raw[word] as Config
  const { thinker_config: thinker } = raw
  if (isObject(thinker) && isObject(thinker.text_config)) return thinker.text_config
  return isObject(raw.text_config) ? raw.text_config : undefined
}

const firstText = (list: unknown): string | undefined =>
  Array.isArray(list) && typeof list[0] === 'string' ? list[0] : undefined

/** Fails where there is no table for the architecture. */
export function completeConfig(raw: Config, className: string, directory: ModelDirectory): ModelConfig {
  const family = familyOfClass(className, raw)
  if (!family) {
    const known = families.flatMap(({ classes }) => classes[0]!).join(', ')
    failWith(familyCodes.architecture, {
      file: directory.pathOf(configFile),
      path: 'architectures[0]',
      message: `${JSON.stringify(className)} is unknown; known are ${known}. With ${callerWord('--as-is', 'asIs: true')} names and weights are copied as they are`,
    })
  }
  const config = settle(family, raw)
  const layers = family.layers?.(config) ?? find(config, configWords.layers)
  if (typeof layers !== 'number' || !Number.isInteger(layers) || layers < 0 || layers > maxLayers) {
    const message = `the number of layers is ${JSON.stringify(layers ?? null)}; a whole number up to ${maxLayers} was expected`
    failWith(familyCodes['config-value'], { file: directory.pathOf(configFile), path: 'num_hidden_layers', message })
  }
  return { family, className, raw, config, rope: ropeSettings(config), layers }
}

/** No model has more layers; a number beyond is a lie. */
const maxLayers = 10_000

function settle(family: Family, raw: Config): Config {
  const inner = textSettings(raw)
  const stated = inner ? { ...raw, ...inner } : raw
  const type = typeof stated.model_type === 'string' ? stated.model_type : ''
  // Only the library fills in what is missing.
  const isKnown = textWords.every((word) => !isObject(raw[word]))
  const defaults = isKnown
    ? (family.configs[type] ?? (inner ? Object.values(family.configs)[0] : undefined))
    : undefined
  const filled = defaults ? withDefaults(defaults, raw, inner) : stated
  return family.settle?.(filled) ?? filled
}

function withDefaults(defaults: Readonly<Record<string, Default>>, raw: Config, inner: Config | undefined): Config {
  const values = Object.entries(defaults).map(
    ([key, each]) => [key, Array.isArray(each) ? each : [each, each]] as const,
  )
  const given = {
    ...raw,
    ...Object.fromEntries(values.flatMap(([key, [each]]) => (typeof each === 'function' ? [] : [[key, each]]))),
    ...(inner ?? raw),
  }
  for (const [key, [, each]] of values) if (typeof each === 'function') given[key] ??= each(given)
  return given
}

/** RoPE settings have moved about; here they are in one place. */
function ropeSettings(config: Config): Config {
  const stated = 'rope_parameters' in config ? config.rope_parameters : config.rope_scaling
  const rope: Record<string, unknown> = isObject(stated) ? { ...stated } : {}
  if ('full_attention' in rope || 'sliding_attention' in rope) return rope
  const local = find(config, [
    'local_rope_theta',
    'rope_local_theta',
    'rope_theta_local',
    'swa_rope_theta',
    'rope_local_base_freq',
  ])
  if (local !== undefined) rope.sliding_attention = { rope_theta: local }
  rope.rope_theta ??= find(config, configWords.ropeTheta)
  rope.rope_type ??= rope.type
  const partial = find(config, ['partial_rotary_factor', 'rope_pct', 'rope_percent'])
  if (!('partial_rotary_factor' in rope) && partial !== undefined) rope.partial_rotary_factor = partial
  rope.original_max_position_embeddings ??= config.original_max_position_embeddings
  return rope
}
