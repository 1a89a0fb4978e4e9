// How tables read a configuration.
import type { Config } from './family.js'

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

/** The largest of a list in a file, which can be longer than a call has room for arguments; 0 for none. */
export const maxOf = (values: readonly unknown[]): number =>
  values.reduce<number>((largest, each) => Math.max(largest, Number(each)), 0)

/** Elements per attention head, rounded down. */
export const headSize = (config: Config): number =>
  Math.floor(num(config, 'hidden_size') / num(config, 'num_attention_heads'))
export const heads = (config: Config): unknown => config.num_attention_heads
