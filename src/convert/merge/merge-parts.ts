// Parts of several models in one.
import type { JsonValue, Model, Part } from '../../model/index.js'

/** Names for dimensions: those of several models can stand together as long as they agree. */
const sizesKind = 'size-variables'

/** Parts with the same key are one thing. Derived ones follow from their file and are never the same. */
export function partKey({ kind, name, sharing, owner }: Part, { format }: Model, index: number): string {
  if (sharing === 'derived') return JSON.stringify([kind, name ?? null, index])
  return JSON.stringify([kind, name ?? null, sharing === 'private' ? (owner ?? format) : null])
}

/** The part as one of a model that it joins; undefined when it only says something about the file that it comes from. */
export function ownPart(part: Part, from: Model, into: Model): Part | undefined {
  if (part.sharing === 'derived') return undefined
  if (part.sharing === 'shared' || part.owner !== undefined) return part
  if (from.origin) return undefined
  return from.format === into.format ? part : { ...part, owner: from.format }
}

/** Both sets of names, when none has two sizes. */
export function joinSizes(a: Part, b: Part): Part | undefined {
  if (a.kind !== sizesKind || !(a.content instanceof Map) || !(b.content instanceof Map)) return undefined
  const [left, right] = [a.content, b.content] as [Map<string, bigint>, Map<string, bigint>]
  for (const [name, size] of right) if (left.has(name) && left.get(name) !== size) return undefined
  const value = Object.assign(Object.create(null), a.value, b.value) as JsonValue
  return { ...a, value, content: new Map([...left, ...right]) }
}
