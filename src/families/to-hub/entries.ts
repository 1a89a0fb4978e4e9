// Reading the metadata of a GGUF file, which can have any type under any key.

import { shortestF32 } from '../../dtypes/shortest.js'
import { failWith } from '../../errors/index.js'
import type { Metadata, MetaValue } from '../../model/index.js'
import { familyCodes } from '../codes.js'

/** The value without its type: a number, a text, true or false, or a list of such. Undefined for what config.json has no use for. */
export function plainValue(value: MetaValue | undefined): unknown {
  if (!value) return undefined
  switch (value.type) {
    case 'null':
    case 'bytes':
    case 'bitset':
    case 'ndarray':
    case 'json':
      return undefined
    case 'array':
      return value.values().map(plainValue)
    case 'str':
      return value.bytes ? undefined : value.value
    case 'bool':
      return value.value
    case 'f32':
      return shortestF32(value.value)
    default:
      return Number(value.value)
  }
}

export function textAt(metadata: Metadata, key: string): string | undefined {
  const value = plainValue(metadata.get(key))
  return typeof value === 'string' ? value : undefined
}

export function numberAt(metadata: Metadata, key: string): number | undefined {
  const value = plainValue(metadata.get(key))
  return typeof value === 'number' ? value : undefined
}

/** The list under a key; undefined if there is none. Fails where the items are of another type. */
export function listAt<T extends 'string' | 'number'>(
  metadata: Metadata,
  key: string,
  type: T,
  file: string,
): readonly (T extends 'string' ? string : number)[] | undefined {
  const value = metadata.get(key)
  if (!value) return undefined
  // Scores as they are: the shortest decimal is of no use to a binary file.
  const items =
    value.type === 'array' ? value.values().map((item) => ('value' in item ? numeric(item) : undefined)) : []
  if (value.type === 'array' && items.every((item) => typeof item === type))
    return items as readonly (T extends 'string' ? string : number)[]
  const message = `a list of ${type === 'string' ? 'texts' : 'numbers'} was expected`
  return failWith(familyCodes['config-value'], { file, path: key, message })
}

const numeric = (item: MetaValue & { readonly value: unknown }): unknown =>
  typeof item.value === 'bigint' ? Number(item.value) : 'bytes' in item && item.bytes ? undefined : item.value
