// What the tables of an architecture can ask about the model at hand.
import type { Config } from './family.js'

export interface Facts {
  readonly config: Config
  /** RoPE settings, wherever the configuration keeps them. */
  readonly rope: Config
  /** The pooling of a sentence embedder, by its number in GGUF. */
  readonly pooling?: number | undefined
  /** The file type as GGUF counts them; 0 is f32. */
  readonly fileType: number
  /** The number of layers. */
  readonly layers: number
}

/** The setting of the first of these keys that is present; a null counts as present and means nothing. */
export function find(config: Config, keys: readonly string[]): unknown {
  const key = keys.find((each) => Object.hasOwn(config, each))
  return key === undefined ? undefined : (config[key] ?? undefined)
}

export function numberIn(config: Config, ...keys: readonly string[]): number | undefined {
  const value = find(config, keys)
  return typeof value === 'number' ? value : undefined
}

/** For tables: the number, or NaN, which no key takes. */
export const num = (config: Config, ...keys: readonly string[]): number => numberIn(config, ...keys) ?? Number.NaN

export const isObject = (value: unknown): value is Config =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Elements per attention head, rounded down. */
export const headSize = (config: Config): number =>
  Math.floor(num(config, 'hidden_size') / num(config, 'num_attention_heads'))
export const heads = (config: Config): unknown => config.num_attention_heads
