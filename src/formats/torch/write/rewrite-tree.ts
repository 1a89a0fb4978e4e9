// Writes a checkpoint again as it is built: the same dictionaries, lists and keys, with the tensors and values of a model that was made from
// it. What the model no longer has is left out. A storage stays whole, with every view of it, as long as nothing on it has changed; everything
// else is written in a row. What restricted loaders refuse is not taken over: arrays of NumPy become tensors, and what was read of objects of
// other classes goes to the root or into the record for metadata.
import { isLoadableName } from '../../../content/torch-save/loadable.js'
import { type NumpyArray, numpyArray } from '../../../content/torch-save/objects/numpy.js'
import { nameOf, segmentOf } from '../../../content/torch-save/objects/path-names.js'
import { keyText, PlainValues, plainJson } from '../../../content/torch-save/objects/plain.js'
import { type NamedParts, type Rebuilt, rebuild, type TensorView } from '../../../content/torch-save/objects/rebuild.js'
import { dictionaries, dictionaryOf } from '../../../content/torch-save/objects/walk.js'
import type { Tree, TreeContent } from '../../../content/torch-save/tree.js'
import type { Model, Tensor } from '../../../model/index.js'
import {
  PickleDict,
  PickleGlobal,
  PickleList,
  PickleObject,
  PickleReference,
  type PickleValue,
} from '../../../wire/pickle/pickle.js'
import { isSameValue, isUnchanged, matchTensors } from './match.js'
import { jsonNode, plainNode } from './plain-node.js'
import { type NewStorages, reference, storageClass } from './storages.js'
import { emptyOrderedDict, tensorNode, tuple } from './tensor-node.js'

export interface Rewritten {
  readonly value: PickleValue
  /** Keys of metadata that have no place in it. */
  readonly otherKeys: readonly string[]
}

/** Undefined when the checkpoint holds something that cannot be written again, or the model something that has no place in it. */
export function rewriteTree(
  tree: Tree,
  content: TreeContent,
  model: Model,
  storages: NewStorages,
): Rewritten | undefined {
  if (new Set(tree.tensors.map(({ name }) => name)).size < tree.tensors.length) return undefined
  try {
    return new Rewriter(tree, content, model, storages).run()
  } catch (error) {
    if (error instanceof CannotRewrite) return undefined
    throw error
  }
}

class CannotRewrite extends Error {}

const refuse = (): never => {
  throw new CannotRewrite()
}

/** A value at its place; `name` is that of a tensor, which may be called something else now. */
interface Placed {
  readonly node: PickleValue
  readonly name?: string
}

const parameter = 'torch._utils._rebuild_parameter'

class Rewriter {
  readonly #tree: Tree
  readonly #content: TreeContent
  readonly #model: Model
  readonly #storages: NewStorages
  readonly #plain = new PlainValues()
  readonly #now: ReadonlyMap<string, Tensor>
  readonly #old: ReadonlyMap<string, Tensor>
  readonly #above = new Set<PickleValue>()
  /** The keys of storages on which something has changed or is gone. */
  readonly #changed = new Set<string>()
  readonly #clones = new Map<PickleValue, PickleValue>()
  readonly #written = { tensors: new Set<string>(), keys: new Set<string>() }
  /** The names of the places that this round has come by: what has no name of its own cannot be told from something else. */
  readonly #places = new Set<string>()
  #isChecking = true
  #hasPlainEntries = false

  constructor(tree: Tree, content: TreeContent, model: Model, storages: NewStorages) {
    this.#tree = tree
    this.#content = content
    this.#model = model
    this.#storages = storages
    this.#now = matchTensors(tree, model)
    this.#old = new Map(tree.tensors.map((tensor) => [tensor.name, tensor]))
  }

  run(): Rewritten {
    // The first round finds the storages that stay, the second one writes.
    this.#visit(this.#content.value, [])
    this.#isChecking = false
    this.#places.clear()
    this.#written.tensors.clear()
    this.#written.keys.clear()
    const root = this.#visit(this.#content.value, [])?.node ?? this.#emptyRoot()
    return { value: root, otherKeys: this.#addRest(root) }
  }

  #emptyRoot(): PickleValue {
    const { value } = this.#content
    return value instanceof PickleObject || value instanceof PickleDict ? new PickleDict() : refuse()
  }

  /** What the checkpoint did not have. A state dict gets tensors only; beside other values there is room for more. */
  #addRest(root: PickleValue): string[] {
    const { tensors, metadata } = this.#model
    const rest = tensors.filter(({ name }) => !this.#written.tensors.has(name))
    const keys = [...metadata.keys()].filter((key) => !this.#written.keys.has(key))
    if (rest.length === 0 && keys.length === 0) return []
    const dict = root instanceof PickleObject ? root.entries : root
    if (!(dict instanceof PickleDict)) return rest.length > 0 ? refuse() : keys
    for (const tensor of rest) {
      if (dict.get(tensor.name) !== undefined) refuse()
      dict.set(tensor.name, tensorNode(tensor, this.#storages))
    }
    if (!this.#hasPlainEntries) return keys
    return keys.filter((key) => {
      const isNew = !this.#tree.metadata.has(key) && dict.get(key) === undefined
      const node = isNew ? plainNode(metadata.get(key)!) : undefined
      if (node === undefined) return true
      dict.set(key, node)
      return false
    })
  }

  /** Undefined when nothing of it is left. */
  #visit(value: PickleValue, path: readonly string[]): Placed | undefined {
    if (value instanceof PickleObject || value instanceof PickleReference) {
      const rebuilt = rebuild(value, this.#content.storages.ids)
      if (rebuilt) return this.#tensor(value, rebuilt, path)
      const array = value instanceof PickleObject ? this.#array(value) : undefined
      if (array) return this.#leaf(path, () => undefined)
    }
    if (this.#plain.of(value)) return this.#value(value, path)
    if (this.#above.has(value)) return refuse()
    this.#above.add(value)
    const placed = this.#container(value, path)
    this.#above.delete(value)
    return placed
  }

  #array(value: PickleObject): NumpyArray | undefined {
    const array = numpyArray(value, (bytes) => this.#plain.bytesOf(bytes))
    return typeof array === 'string' ? refuse() : array
  }

  #container(value: PickleValue, path: readonly string[]): Placed | undefined {
    if (value instanceof PickleDict) return this.#dict(value, path)
    if (value instanceof PickleList) return this.#list(value, path)
    // An object of another class is left out; what was read of it finds another place.
    return value instanceof PickleObject && dictionaries.has(value.className ?? '')
      ? this.#dictionary(value, path)
      : undefined
  }

  #name(path: readonly string[]): string {
    return path.length === 0 ? (this.#tree.tensors[0]?.name ?? '') : nameOf(path, this.#tree.numbered)
  }

  /** Called once for each place that a tensor or a value of its own is at. */
  #enter(name: string, what: 'tensor' | 'value'): void {
    const place = `${what} ${name}`
    if (this.#places.has(place)) refuse()
    this.#places.add(place)
  }

  /** The tensor at this place. `keep` gives what stands for it now, where that can stay. */
  #leaf(path: readonly string[], keep: (tensor: Tensor) => PickleValue | undefined): Placed | undefined {
    const name = this.#name(path)
    this.#enter(name, 'tensor')
    const tensor = this.#now.get(name)
    if (!tensor) return undefined
    this.#written.tensors.add(tensor.name)
    const node = this.#isChecking ? null : (keep(tensor) ?? tensorNode(tensor, this.#storages))
    return { node, name: tensor.name }
  }

  #tensor(value: PickleValue, rebuilt: Rebuilt, path: readonly string[]): Placed | undefined {
    if (rebuilt.kind === 'parts') return this.#several(value, rebuilt.parts, path)
    if (rebuilt.kind === 'meta') return this.#leaf(path, (tensor) => this.#kept(value, tensor, path))
    if (rebuilt.kind !== 'view') return refuse()
    if (rebuilt.channels) return this.#channels(value, rebuilt, rebuilt.channels.parts, path)
    if (this.#isChecking) this.#check(rebuilt, path)
    return this.#leaf(path, (tensor) => {
      const isWhole = !this.#changed.has(rebuilt.storage.key)
      const kept = isWhole ? this.#kept(value, tensor, path) : undefined
      return kept ?? this.#wrapped(value, tensor)
    })
  }

  /** Notes that a storage cannot stay as it is. */
  #check({ storage }: TensorView, path: readonly string[]): void {
    const { isBigEndian } = this.#content.storages
    const old = this.#old.get(this.#name(path))
    const now = this.#now.get(this.#name(path))
    const stays = old && now && isUnchanged(old, now) && !isBigEndian && storage.start === 0
    if (!stays || !this.#content.storages.find(storage)) this.#changed.add(storage.key)
  }

  /** What stands for the tensor in the file, on storages of the new one. */
  #kept(value: PickleValue, tensor: Tensor, path: readonly string[]): PickleValue | undefined {
    const old = this.#old.get(this.#name(path))
    return old && isUnchanged(old, tensor) && hasLoadableNames(value) ? this.#clone(value) : undefined
  }

  /** A parameter stays one, if its new type can have a gradient. */
  #wrapped(value: PickleValue, tensor: Tensor): PickleValue | undefined {
    if (!(value instanceof PickleObject) || value.className !== parameter || !tensor.data) return undefined
    const [, needsGradient] = (value.args as PickleList).items
    const { kind } = tensor.dtype
    if (typeof needsGradient !== 'boolean' || (kind !== 'float' && kind !== 'complex')) return undefined
    const args = tuple([tensorNode(tensor, this.#storages), needsGradient, emptyOrderedDict()])
    return new PickleObject(value.callee, args, 0)
  }

  /** A sparse or nested tensor, which is read as several. */
  #several(value: PickleValue, parts: NamedParts, path: readonly string[]): Placed | undefined {
    const dict = new PickleDict()
    let isSame = hasLoadableNames(value)
    for (const [name, part] of parts) {
      const placed = this.#visit(part, [...path, name])
      if (placed) dict.set(name, placed.node)
      isSame &&= placed !== undefined && this.#isSamePart(part, [...path, name])
    }
    if (isSame) return { node: this.#isChecking ? null : this.#clone(value) }
    return dict.size === 0 ? undefined : { node: dict }
  }

  #isSamePart(part: PickleValue, path: readonly string[]): boolean {
    const name = this.#name(path)
    const rebuilt = rebuild(part, this.#content.storages.ids)
    if (!rebuilt) return isSameValue(this.#tree.metadata.get(name), this.#model.metadata.get(name))
    const [old, now] = [this.#old.get(name), this.#now.get(name)]
    const key = rebuilt.kind === 'view' ? rebuilt.storage.key : undefined
    return key !== undefined && !this.#changed.has(key) && !!old && !!now && now.name === name && isUnchanged(old, now)
  }

  /** Whole numbers with scales that are tensors themselves: all of it stays, or the form is lost. */
  #channels(value: PickleValue, view: TensorView, parts: NamedParts, path: readonly string[]): Placed {
    if (this.#isChecking) this.#check(view, path)
    const whole: TensorView = { ...view }
    const names = [['', value], ...parts] as const
    for (const [name, part] of parts) this.#visit(part, [...path, name])
    const isSame =
      !this.#changed.has(whole.storage.key) &&
      names.slice(1).every(([name, part]) => this.#isSamePart(part, [...path, name]))
    const tensor = this.#now.get(this.#name(path))
    if (!isSame || !tensor || !hasLoadableNames(value)) return refuse()
    this.#written.tensors.add(tensor.name)
    return { node: this.#isChecking ? null : this.#clone(value), name: tensor.name }
  }

  #value(value: PickleValue, path: readonly string[]): Placed | undefined {
    const name = path.length === 0 ? (this.#tree.metadata.keys().next().value ?? '') : this.#name(path)
    this.#enter(name, 'value')
    const now = this.#model.metadata.get(name)
    if (path.length === 1) this.#hasPlainEntries = true
    if (!now) return undefined
    const isSame = isSameValue(this.#tree.metadata.get(name), now)
    const node = isSame && hasLoadableNames(value) ? value : plainNode(now)
    if (node === undefined) return undefined
    this.#written.keys.add(name)
    return { node }
  }

  #dict(dict: PickleDict, path: readonly string[]): Placed | undefined {
    const made = new PickleDict()
    if (dict.size === 0) return this.#emptyDict(made, path)
    this.#fill(made, dict, path)
    return made.size === 0 ? undefined : { node: made }
  }

  #emptyDict(made: PickleValue, path: readonly string[]): Placed | undefined {
    if (path.length === 0) return { node: made }
    const name = this.#name(path)
    this.#enter(name, 'value')
    const now = this.#model.metadata.get(name)
    if (!isSameValue(now, { type: 'json', value: {} })) return undefined
    this.#written.keys.add(name)
    return { node: made }
  }

  #fill(made: PickleDict, dict: PickleDict, path: readonly string[]): void {
    for (const [key, value] of dict.entries()) {
      if (!isPlainKey(key)) refuse()
      const placed = this.#visit(value, [...path, segmentOf(key, dict)])
      if (placed) made.set(this.#keyFor(key, placed, path, dict), placed.node)
    }
  }

  /** A tensor with another name stays in its dictionary, if the name allows it. */
  #keyFor(key: PickleValue, { name }: Placed, path: readonly string[], dict: PickleDict): PickleValue {
    const own = this.#name([...path, segmentOf(key, dict)])
    if (name === undefined || name === own) return key
    const prefix = path.length === 0 ? '' : `${path.join('.')}.`
    const rest = name.slice(prefix.length)
    return name.startsWith(prefix) && dict.get(rest) === undefined ? rest : refuse()
  }

  #list(list: PickleList, path: readonly string[]): Placed | undefined {
    const placed = list.items.map((item, i) => this.#visit(item, [...path, String(i)]))
    const own = (i: number): string => this.#name([...path, String(i)])
    const isWhole = placed.every((each, i) => each && (each.name ?? own(i)) === own(i))
    if (isWhole)
      return {
        node: new PickleList(
          list.kind,
          placed.map((each) => each!.node),
        ),
      }
    // Numbers as keys keep the names of what is left.
    const dict = new PickleDict()
    for (const [i, each] of placed.entries()) {
      if (!each) continue
      if ((each.name ?? own(i)) !== own(i)) refuse()
      dict.set(BigInt(i), each.node)
    }
    return dict.size === 0 ? undefined : { node: dict }
  }

  #dictionary(object: PickleObject, path: readonly string[]): Placed | undefined {
    const entries = dictionaryOf(object)
    const isDefault = object.className === 'collections.defaultdict'
    if (isDefault) return this.#dict(entries, path)
    const made = new PickleObject(object.callee, tuple([]), 0)
    if (entries.size === 0 && !this.#emptyDict(made, path)) return undefined
    this.#fill(made.entries, entries, path)
    if (object.state instanceof PickleDict) {
      const state = this.#attributes(object.state, path)
      if (state.size > 0) made.state = state
    } else if (object.state !== undefined) refuse()
    return made.entries.size === 0 && entries.size > 0 ? undefined : { node: made }
  }

  /** Such as the versions of modules that state_dict() notes. */
  #attributes(attributes: PickleDict, path: readonly string[]): PickleDict {
    const made = new PickleDict()
    for (const [key, value] of attributes.entries()) {
      const json = plainJson(value)
      if (json === undefined || !isPlainKey(key)) refuse()
      const name = this.#name([...path, keyText(key)])
      this.#enter(name, 'value')
      const now = this.#model.metadata.get(name)
      if (!now) continue
      if (isSameValue(now, this.#tree.metadata.get(name)) && hasLoadableNames(value)) made.set(key, value)
      else if (now.type === 'json') made.set(key, jsonNode(now.value))
      else continue
      this.#written.keys.add(name)
    }
    return made
  }

  /** The same nodes, with references to the storages of the new archive. Nodes that were one object stay one. */
  #clone(value: PickleValue): PickleValue {
    if (typeof value !== 'object' || value === null || value instanceof PickleGlobal || value instanceof Uint8Array)
      return value
    const known = this.#clones.get(value)
    if (known !== undefined) return known
    const made = this.#copy(value)
    this.#clones.set(value, made)
    return made
  }

  #copy(value: PickleList | PickleDict | PickleObject | PickleReference): PickleValue {
    if (value instanceof PickleReference) return this.#storage(value)
    if (value instanceof PickleList)
      return new PickleList(
        value.kind,
        value.items.map((item) => this.#clone(item)),
      )
    if (value instanceof PickleDict) {
      const dict = new PickleDict()
      for (const [key, item] of value.entries()) dict.set(key, this.#clone(item))
      return dict
    }
    const made = new PickleObject(value.callee, this.#clone(value.args), 0)
    if (value.hasEntries) for (const [key, item] of value.entries.entries()) made.entries.set(key, this.#clone(item))
    if (value.hasItems) for (const item of value.items) made.items.push(this.#clone(item))
    if (value.state !== undefined) made.state = this.#clone(value.state)
    return made
  }

  #storage({ index }: PickleReference): PickleReference {
    const { storages } = this.#content
    const id = storages.ids[index] ?? refuse()
    const number = this.#storages.keep(id.key, () => ({
      payload: storages.find(id)!.part(0, id.byteLength),
      crc32: this.#tree.crc32Of?.(id.key),
    }))
    return reference(number, storageClass(id.storage), id.byteLength / id.elementSize)
  }
}

/** Keys are taken over as they are. */
const isPlainKey = (key: PickleValue): boolean =>
  key === null ||
  typeof key !== 'object' ||
  (key instanceof PickleList && key.kind === 'tuple' && key.items.every((item) => isPlainKey(item)))

/** Whether restricted loaders import everything that a value names. */
function hasLoadableNames(value: PickleValue, seen: Set<PickleValue> = new Set()): boolean {
  if (value instanceof PickleGlobal) return isLoadableName(value)
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || seen.has(value)) return true
  seen.add(value)
  const all = (values: readonly PickleValue[]): boolean => values.every((each) => hasLoadableNames(each, seen))
  if (value instanceof PickleReference) return true
  if (value instanceof PickleList) return all(value.items)
  if (value instanceof PickleDict) return [...value.entries()].every((entry) => all(entry))
  const { callee, args, state } = value
  return (
    all([callee, args, ...(state === undefined ? [] : [state])]) &&
    (!value.hasItems || all(value.items)) &&
    (!value.hasEntries || [...value.entries.entries()].every((entry) => all(entry)))
  )
}
