// What an index says about a tensor beyond the fields that every entry has. It stands in `Tensor.extra`, where other formats keep things of
// their own, which have no place in an index.

import { extraOwner, setExtraOwner } from '../../../model/extra-owner.js'
import type { JsonValue, Tensor } from '../../../model/index.js'
import type { JsonObject } from './manifest.js'
import { isTagged } from './tagged.js'

/** What was read from an index, so that all of it can be written again. */
const asRead = new WeakSet<object>()

export function markOwnFields(fields: object): void {
  asRead.add(fields)
  setExtraOwner(fields, 'aero')
}

const noFields: JsonObject = {}

/** Fields that are written from the tensor itself. */
const written: ReadonlySet<string> = new Set(['name', 'shape', 'shard_id', 'data_off', 'data_len', 'hash_b3'])
const owners: readonly (string | undefined)[] = ['aero', 'aeroset']

/** The fields that only AERO has for a tensor. Another container may have carried them, and a stranger may have put them there. */
export function ownFieldsOf({ extra }: Tensor): JsonObject {
  if (!extra || !owners.includes(extraOwner(extra))) return noFields
  if (asRead.has(extra)) return extra
  const isProper = ([key, value]: [string, JsonValue]): boolean => !written.has(key) && isTagged(value)
  return Object.fromEntries(Object.entries(extra).filter(isProper))
}
