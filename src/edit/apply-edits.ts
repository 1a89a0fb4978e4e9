// Applies edits to a model and lists the changes. Entries keep their place and type.
import { parseSetting, type Setting, typeToName } from '../convert/stages/typed-value.js'
import { didYouMean, failWith, usageCodes } from '../errors/index.js'
import type { Metadata, MetaValue, Model, Tensor } from '../model/index.js'
import { renameTensor } from '../transforms/select.js'
import { editCodes } from './codes.js'

/** Changes of metadata and of tensor names. */
export interface Edits {
  readonly set?: readonly Setting[] | undefined
  readonly unset?: readonly string[] | undefined
  /** Applied at once, so that two tensors can swap names. */
  readonly rename?: readonly (readonly [from: string, to: string])[] | undefined
}

export interface EditChange {
  readonly action: 'set' | 'add' | 'unset' | 'rename'
  readonly name: string
  readonly to?: string
  /** The type of an entry that is set, where it is not text. */
  readonly type?: string
}

export interface Edited {
  readonly model: Model
  readonly changes: readonly EditChange[]
  /** Entries that are new. */
  readonly added: readonly Setting[]
}

export function applyEdits(model: Model, edits: Edits): Edited {
  const file = model.files[0]?.name ?? ''
  const changes: EditChange[] = []
  const set = new Map((edits.set ?? []).map((setting) => [setting[0], setting]))
  const metadata = editMetadata(model.metadata, set, edits.unset ?? [], file, changes)
  const added = [...set.values()].filter(([key]) => !model.metadata.has(key))
  for (const [key, value, type] of added) {
    const typed = parseSetting(value, type, undefined, refusing(file, key))
    changes.push({ action: 'add', name: key, to: value, ...typeToName(typed) })
  }
  const tensors = renameTensors(model.tensors, new Map(edits.rename), file, changes)
  return { model: { ...model, metadata, tensors }, changes, added }
}

function editMetadata(
  source: Metadata,
  set: ReadonlyMap<string, Setting>,
  unset: readonly string[],
  file: string,
  changes: EditChange[],
): Metadata {
  const metadata = new Map<string, MetaValue>(source)
  for (const key of unset) {
    if (set.has(key)) {
      const message = `${JSON.stringify(key)} is both set and unset`
      failWith(usageCodes.option, { file, path: key, message })
    }
    if (!metadata.delete(key)) {
      const message = `there is no such entry${didYouMean(key, source.keys())}`
      failWith(editCodes['no-such-key'], { file, path: key, message })
    }
    changes.push({ action: 'unset', name: key })
  }
  for (const [key, value, type] of set.values()) {
    const old = metadata.get(key)
    if (!old) continue
    const updated = parseSetting(value, type, old, refusing(file, key))
    // An unchanged value keeps its identity, which tells formats that they need not write it again.
    if (!isSamePlain(old, updated)) metadata.set(key, updated)
    changes.push({ action: 'set', name: key, to: value, ...typeToName(updated) })
  }
  return metadata
}

const refusing =
  (file: string, path: string) =>
  (message: string): never =>
    failWith(editCodes['value-type'], { file, path, message })

function renameTensors(
  source: readonly Tensor[],
  renames: ReadonlyMap<string, string>,
  file: string,
  changes: EditChange[],
): readonly Tensor[] {
  if (renames.size === 0) return source
  const names = new Set(source.map(({ name }) => name))
  for (const [from, to] of renames) {
    if (!names.has(from)) {
      const message = `there is no tensor of this name${didYouMean(from, names)}`
      failWith(usageCodes['no-such-tensor'], { file, path: from, message })
    }
    changes.push({ action: 'rename', name: from, to })
  }
  return source.map((tensor) => renameTensor(tensor, renames.get(tensor.name) ?? tensor.name))
}

function isSamePlain(a: MetaValue, b: MetaValue): boolean {
  if (a.type !== b.type || !('value' in a) || !('value' in b) || typeof a.value === 'object') return false
  return !('bytes' in a) && !('bits' in a) && (a.value === b.value || String(a.value) === String(b.value))
}
