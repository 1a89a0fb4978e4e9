// Restores stowed content: the model as it was before its container stowed part of it.

import { fromTypedJson, type TypedJson, toTypedJson } from '../content/typed-json.js'
import { setExtraOwner } from '../model/extra-owner.js'
import type { MetaValue, Model, Part, Tensor } from '../model/index.js'
import { findStowage, type Stowage, type StowedEntry } from './document.js'
import { inOrder } from './order.js'
import { restorePart } from './parts.js'
import { restoreTensor } from './tensors.js'

export interface Restored {
  readonly model: Model
  /** The names that were restored, for the plan: empty if the model carried nothing. */
  readonly names: readonly { readonly subject: 'tensor' | 'metadata' | 'part'; readonly name: string }[]
}

/** Returns the model unchanged if it carries nothing that can be understood. */
export async function restoreStowed(model: Model): Promise<Restored> {
  const found = findStowage(model.metadata)
  if (!found) return { model, names: [] }
  const { stowage, rest } = found
  const names: Restored['names'][number][] = []
  const metadata = restoreMetadata(rest, stowage, (name) => names.push({ subject: 'metadata', name }))
  const tensors = restoreTensors(model.tensors, stowage, (name) => names.push({ subject: 'tensor', name }))
  const parts = (await Promise.all((stowage.parts ?? []).map(restorePart))).filter((part) => part !== undefined)
  for (const { name, kind } of parts) names.push({ subject: 'part', name: name ?? kind })
  const isKnown = (part: Part): boolean => parts.some(({ kind, name }) => kind === part.kind && name === part.name)
  return {
    model: {
      ...model,
      origin: stowage.from,
      metadata,
      tensors,
      parts: [...model.parts.filter((part) => !isKnown(part)).map((part) => ownedBy(model.format, part)), ...parts],
    },
    names,
  }
}

/** Private parts of the container belong to it, not to the format that the model was made for. */
const ownedBy = (format: string, part: Part): Part =>
  part.sharing === 'private' ? { ...part, owner: part.owner ?? format } : part

function restoreMetadata(
  stored: ReadonlyMap<string, MetaValue>,
  { metadata = [], added = [], keyOrder }: Stowage,
  onRestored: (name: string) => void,
): ReadonlyMap<string, MetaValue> {
  const restored = new Map(stored)
  for (const key of added) restored.delete(key)
  for (const entry of metadata) {
    const value = fromTypedJson(entry[1])
    if (!value || isEdited(stored.get(entry[0]), entry)) continue
    restored.set(entry[0], value)
    onRestored(entry[0])
  }
  return new Map(inOrder([...restored], ([key]) => key, keyOrder))
}

/** Whether the key has been given another value since; that value wins. */
function isEdited(now: MetaValue | undefined, [, , instead]: StowedEntry): boolean {
  if (!now || !instead) return now !== undefined || instead !== undefined
  // A container may not preserve every type: the float 1 can come back as an integer.
  return contentOf(toTypedJson(now)) !== contentOf(instead)
}

const contentOf = ([, ...content]: TypedJson): string =>
  JSON.stringify(content, (_, each: unknown) => {
    if (typeof each !== 'number') return each
    return Number.isInteger(each) ? BigInt(each).toString() : String(each)
  })

function restoreTensors(
  stored: readonly Tensor[],
  { from, tensors = [], tensorOrder }: Stowage,
  onRestored: (name: string) => void,
): readonly Tensor[] {
  for (const { extra } of tensors) if (extra) setExtraOwner(extra, from.format)
  const byName = new Map(tensors.filter((each) => each.stored !== undefined).map((each) => [each.stored!, each]))
  const restored = stored.map((tensor) => {
    const own = byName.get(tensor.name)
    const back = own && restoreTensor(own, tensor)
    if (back) onRestored(back.name)
    return back ?? tensor
  })
  for (const each of tensors) {
    const declared = each.stored === undefined ? restoreTensor(each, undefined) : undefined
    if (!declared) continue
    restored.push(declared)
    onRestored(declared.name)
  }
  return inOrder(restored, (tensor) => tensor.name, tensorOrder)
}
