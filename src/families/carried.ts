// What a GGUF file says and a directory has no place for lies in a file of its own when one becomes the other: entries that no table has, and
// orders that do not follow from names. The way to GGUF follows it, so that the same file comes out again.
import { fromTypedJson, toTypedJson } from '../content/typed-json.js'
import type { JsonValue, Metadata, MetaValue, Tensor } from '../model/index.js'
import type { ModelDirectory } from './directory.js'
import { isObject } from './facts.js'
import type { Config } from './family.js'

export const carriedFile = 'gguf.json'

export interface Carried {
  /** Entries that do not follow from the directory, or follow from it with another value. */
  readonly set: Metadata
  /** Entries that follow from the directory and are not there. */
  readonly unset: readonly string[]
  /** The order of the keys. Undefined: as it follows. */
  readonly keys?: readonly string[] | undefined
  /** The order of the tensors. Undefined: as it follows. */
  readonly tensors?: readonly string[] | undefined
}

export const nothingCarried: Carried = { set: new Map(), unset: [] }

export async function readCarried(directory: ModelDirectory): Promise<Carried> {
  const stated = await directory.json(carriedFile)
  if (!stated) return nothingCarried
  const refuse = (path: string): never => directory.fail(carriedFile, `${path} is not what this file has there`)
  const names = (key: string): readonly string[] | undefined => {
    const list = stated[key]
    if (list === undefined) return undefined
    return Array.isArray(list) && list.every((each) => typeof each === 'string') ? list : refuse(key)
  }
  const set = new Map<string, MetaValue>()
  if (stated.set !== undefined && !isObject(stated.set)) refuse('set')
  for (const [key, value] of Object.entries(isObject(stated.set) ? stated.set : {}))
    set.set(key, fromTypedJson(value as JsonValue) ?? refuse(`set[${JSON.stringify(key)}]`))
  return { set, unset: names('unset') ?? [], keys: names('keys'), tensors: names('tensors') }
}

/** Undefined where there is nothing to carry. */
export function carriedJson({ set, unset, keys, tensors }: Carried): Config | undefined {
  if (set.size === 0 && unset.length === 0 && !keys && !tensors) return undefined
  return {
    ...(set.size > 0 && { set: Object.fromEntries([...set].map(([key, value]) => [key, toTypedJson(value)])) }),
    ...(unset.length > 0 && { unset }),
    ...(keys && { keys }),
    ...(tensors && { tensors }),
  }
}

export function withCarried(metadata: Metadata, { set, unset, keys = [] }: Carried): Map<string, MetaValue> {
  const all = new Map([...metadata, ...set])
  for (const key of unset) all.delete(key)
  return inOrder(all, keys)
}

/** The entries that are named, in that order, and then all others. */
function inOrder<T>(entries: ReadonlyMap<string, T>, names: readonly string[]): Map<string, T> {
  const ordered = new Map<string, T>()
  for (const name of names) {
    const value = entries.get(name)
    if (value !== undefined) ordered.set(name, value)
  }
  return new Map([...ordered, ...entries])
}

export function inCarriedOrder(tensors: readonly Tensor[], { tensors: names }: Carried): readonly Tensor[] {
  return names ? [...inOrder(new Map(tensors.map((tensor) => [tensor.name, tensor])), names).values()] : tensors
}
