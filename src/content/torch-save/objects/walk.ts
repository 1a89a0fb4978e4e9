// Goes through what a checkpoint holds and gives everything a name: the keys from the root down, joined by dots. Tensors become tensors,
// plain values metadata. Objects can contain each other in cycles, and can be reached by more paths than could ever be listed; both are
// noticed.
import { fileNameOf } from '../../../bytes/index.js'
import type { MetaValue, ReadContext, Tensor } from '../../../model/index.js'
import { PickleDict, PickleList, PickleObject, PickleReference, type PickleValue } from '../../../wire/pickle/pickle.js'
import { codes } from '../codes.js'
import { type NumpyArray, numpyArray } from './numpy.js'
import { type NumberedNames, PathNames, segmentOf } from './path-names.js'
import { keyText, PlainValues, plainJson } from './plain.js'
import { firstArgument, type NamedParts, type Rebuilt, rebuild } from './rebuild.js'
import { Remarks } from './remarks.js'
import type { Storages } from './storages.js'
import { makeTensor, type TensorMaking } from './tensor.js'
import { ViewBudget } from './view-budget.js'

export interface Contents {
  readonly tensors: Tensor[]
  readonly metadata: Map<string, MetaValue>
  /** The key of each tensor's storage, in their order; undefined for those whose elements stand in the pickle. */
  readonly storageKeys: (string | undefined)[]
  readonly numbered: NumberedNames
}

export interface WalkOptions {
  /** The file, which names a tensor that is its only content. */
  readonly file: string
  /** The name of the root, which all names begin with. */
  readonly root?: string | undefined
  /** The pickle's own path, for messages. */
  readonly path: string
  /** The length of the pickle. */
  readonly size: number
}

/**
 * How much may be listed, for each byte of pickle and on top of that: one for each entry and each character of a name. An honest checkpoint
 * needs a fraction; objects that hold each other many times over would need more than there is time for.
 */
const allowance = { perByte: 16, more: 1 << 20 }

export const dictionaries = new Set(['collections.OrderedDict', 'collections.Counter', 'collections.defaultdict'])
/** Where a pickled torch.nn.Module keeps what state_dict() would list, under names without these. */
const moduleParts = ['_parameters', '_buffers', '_modules']

/** Calls by which TorchScript notes the type of a list or dictionary, which is their first argument. */
const scriptWrappers = new Set(
  ['build_intlist', 'build_tensorlist', 'build_doublelist', 'build_boollist', 'restore_type_tag'].map(
    (name) => `torch.jit._pickle.${name}`,
  ),
)

export function walk(root: PickleValue, storages: Storages, context: ReadContext, options: WalkOptions): Contents {
  return new Walker(storages, context, options).walk(root)
}

type Role = Tensor['role']

/** Whether a checkpoint keeps the state of an optimizer under this key of its root: `optim`, `optimizer_states`; `optimal.weight` is a weight. */
export const isOptimizerKey = (key: string): boolean => /^[Oo]ptim(izers?)?(?![a-z])/.test(key)

class Walker {
  readonly #numbered = new Map<string, string>()
  readonly #contents: Contents = { tensors: [], metadata: new Map(), storageKeys: [], numbered: this.#numbered }
  readonly #storages: Storages
  readonly #context: ReadContext
  readonly #options: WalkOptions
  readonly #plain = new PlainValues()
  readonly #remarks = new Remarks()
  readonly #making: TensorMaking
  readonly #arrays = new Map<PickleObject, NumpyArray | string | undefined>()
  readonly #above = new Set<PickleValue>()
  readonly #tensorNames = new PathNames(this.#numbered)
  readonly #valueNames = new PathNames(this.#numbered)
  readonly #path: string[] = []
  #left: number

  constructor(storages: Storages, context: ReadContext, options: WalkOptions) {
    this.#storages = storages
    this.#context = context
    this.#options = options
    const budget = new ViewBudget(storages.byteLength, context)
    this.#making = { storages, budget, remarks: this.#remarks, context }
    this.#left = options.size * allowance.perByte + allowance.more
    if (options.root !== undefined) this.#path.push(options.root)
  }

  walk(root: PickleValue): Contents {
    this.#visit(root, 'weight')
    this.#remarks.report(this.#context, this.#options.path)
    return this.#contents
  }

  #name(): string {
    if (this.#path.length === 1) return this.#path[0]!
    return this.#path.length === 0 ? stemOf(this.#options.file) : this.#path.join('.')
  }

  #report(code: keyof typeof codes, message: string, offset = 0): void {
    const shown = `${JSON.stringify(this.#name().slice(0, 200))}: ${message}`
    this.#context.report.report(codes[code], { offset, path: this.#options.path, message: shown })
  }

  /** Counts work and memory; a file must not make more of either than its size warrants. */
  #spend(cost: number): void {
    this.#left -= cost
    if (this.#left >= 0) return
    const message = 'shared objects are reached on more ways than can be listed'
    this.#context.report.fail(codes['shared-paths'], { offset: 0, path: this.#options.path, message })
  }

  #visit(value: PickleValue, role: Role): void {
    if (value instanceof PickleObject || value instanceof PickleReference) {
      const rebuilt = rebuild(value, this.#storages.ids)
      if (rebuilt?.kind === 'parts') {
        const names = rebuilt.parts.map(([name]) => name).join(', ')
        this.#report(rebuilt.code, `it is kept as ${names}`, value.offset)
        this.#enterParts(value, rebuilt.parts, role)
        return
      }
      if (rebuilt) {
        this.#addTensor(rebuilt, role, value.offset)
        if (rebuilt.kind === 'view' && rebuilt.channels) this.#enterParts(value, rebuilt.channels.parts, role)
        return
      }
      const inner = value instanceof PickleObject && scriptWrappers.has(value.className ?? '') && firstArgument(value)
      if (inner instanceof PickleList || inner instanceof PickleDict) {
        this.#enter(value, () => this.#visit(inner, role))
        return
      }
    }
    const array = value instanceof PickleObject ? this.#arrayOf(value) : undefined
    if (array !== undefined) {
      if (typeof array === 'string') this.#report('tensor-arguments', array, (value as PickleObject).offset)
      else this.#keepTensor({ name: this.#name(), role, ...array }, (value as PickleObject).offset)
      return
    }
    const plain = this.#plain.of(value)
    if (plain) this.#addMetadata(plain)
    else this.#enter(value, () => this.#visitParts(value, role))
  }

  /** Looks into a container, unless it is one that is being looked into already. */
  #enter(value: PickleValue, visit: () => void): void {
    if (this.#above.has(value)) {
      this.#report('cycle', 'it contains itself')
      return
    }
    if (this.#path.length >= this.#context.limits.depth) {
      this.#context.report.fail(codes.depth, {
        offset: 0,
        path: this.#options.path,
        message: `more than ${this.#context.limits.depth} levels at ${JSON.stringify(this.#name().slice(0, 200))}`,
      })
    }
    this.#spend(1)
    this.#above.add(value)
    visit()
    this.#above.delete(value)
  }

  #enterParts(value: PickleValue, parts: NamedParts, role: Role): void {
    this.#enter(value, () => {
      for (const [name, part] of parts) this.#visitAs(name, part, role)
    })
  }

  #visitParts(value: PickleValue, role: Role): void {
    if (value instanceof PickleDict) this.#visitDict(value, role)
    else if (value instanceof PickleList) this.#visitItems(value.items, role)
    else if (value instanceof PickleObject) this.#visitObject(value, role)
  }

  #visitDict(dict: PickleDict, role: Role): void {
    if (dict.size === 0) {
      // A checkpoint without entries holds nothing, not even a value.
      if (this.#path.length > 0) this.#addMetadata({ type: 'json', value: {} })
      return
    }
    this.#spend(dict.size)
    const isOptimizer = dict.get('state') !== undefined && dict.get('param_groups') !== undefined
    for (const [key, value] of dict.entries()) {
      const name = segmentOf(key, dict)
      const isState = isOptimizer || (this.#path.length === 0 && isOptimizerKey(name))
      this.#path.push(name)
      if (this.#isTensor(key)) this.#remarks.add('tensor-key', this.#name(), offsetOf(key))
      this.#visit(value, isState ? 'state' : role)
      this.#path.pop()
    }
  }

  #isTensor(key: PickleValue): boolean {
    return key !== null && typeof key === 'object' && rebuild(key, this.#storages.ids) !== undefined
  }

  #visitItems(items: readonly PickleValue[], role: Role): void {
    this.#spend(items.length)
    for (const [i, item] of items.entries()) this.#visitAs(String(i), item, role)
  }

  #visitAs(name: string, value: PickleValue, role: Role): void {
    this.#path.push(name)
    this.#visit(value, role)
    this.#path.pop()
  }

  #visitObject(object: PickleObject, role: Role): void {
    const { className, state, entries, items } = object
    if (className === 'collections.defaultdict') this.#remarks.add('default-dict', this.#name(), object.offset)
    if (className !== undefined && dictionaries.has(className)) {
      this.#visitDict(dictionaryOf(object), role)
      if (state instanceof PickleDict) this.#addAttributes(state)
      return
    }
    const args = object.args instanceof PickleList ? object.args.items : []
    this.#spend(args.length + (state instanceof PickleList ? state.items.length : 0))
    const attributes = state instanceof PickleList ? state.items.find((item) => item instanceof PickleDict) : state
    if (attributes instanceof PickleDict) this.#visitAttributes(attributes, role)
    else if (state !== undefined) this.#visitAs('state', state, role)
    if (entries.size > 0) this.#visitDict(entries, role)
    if (items.length > 0) this.#visitItems(items, role)
    if (args.some((arg) => this.#plain.of(arg) === undefined)) this.#visitItems(args, role)
    else if (state === undefined && entries.size === 0 && items.length === 0)
      this.#addMetadata({ type: 'str', value: `<${className ?? 'object'}>` })
  }

  /** Of a module only what state_dict() would give, and its plain attributes. */
  #visitAttributes(attributes: PickleDict, role: Role): void {
    if (!moduleParts.every((part) => attributes.get(part) !== undefined)) {
      this.#visitDict(attributes, role)
      return
    }
    for (const part of moduleParts) {
      const value = attributes.get(part)
      const dict = value instanceof PickleObject ? dictionaryOf(value) : value
      if (dict instanceof PickleDict && dict.size > 0) this.#visitDict(dict, role)
    }
    this.#spend(attributes.size)
    for (const [key, value] of attributes.entries()) {
      const plain = this.#plain.of(value)
      if (plain && plain.type !== 'null' && plain.type !== 'json') {
        this.#path.push(keyText(key))
        this.#addMetadata(plain)
        this.#path.pop()
      }
    }
  }

  /** Attributes of a dictionary, such as the versions that state_dict() notes: one entry each. */
  #addAttributes(attributes: PickleDict): void {
    for (const [key, value] of attributes.entries()) {
      this.#path.push(keyText(key))
      const json = plainJson(value)
      if (json !== undefined) this.#addMetadata({ type: 'json', value: json })
      else this.#visit(value, 'weight')
      this.#path.pop()
    }
  }

  #addTensor(rebuilt: Exclude<Rebuilt, { kind: 'parts' }>, role: Role, offset: number): void {
    const place = { name: this.#name(), role, offset, path: this.#options.path }
    const tensor = makeTensor(rebuilt, place, this.#making)
    if (tensor) this.#keepTensor(tensor, offset, rebuilt.kind === 'view' ? rebuilt.storage.key : undefined)
  }

  #keepTensor(tensor: Tensor, offset: number, storageKey?: string): void {
    this.#spend(tensor.name.length)
    const name = this.#unique(this.#tensorNames, tensor.name, offset)
    const named = name === tensor.name ? tensor : { ...tensor, name }
    this.#contents.tensors.push(this.#path.length === 0 ? { ...named, isNamedByFile: true } : named)
    this.#contents.storageKeys.push(storageKey)
  }

  #unique(names: PathNames, wanted: string, offset = 0): string {
    const name = names.add(this.#path, wanted)
    if (name !== wanted) {
      this.#spend(name.length)
      this.#report('same-name', `another one has this name; it is called ${JSON.stringify(name.slice(0, 200))}`, offset)
    }
    return name
  }

  /** One array can be reached by many paths; it is made once. */
  #arrayOf(value: PickleObject): NumpyArray | string | undefined {
    if (!this.#arrays.has(value))
      this.#arrays.set(
        value,
        numpyArray(value, (bytes) => this.#plain.bytesOf(bytes)),
      )
    return this.#arrays.get(value)
  }

  #addMetadata(value: MetaValue): void {
    const { metadata } = this.#contents
    const name = this.#path.length === 0 ? loneValue : this.#name()
    this.#spend(name.length + weightOf(value))
    metadata.set(this.#unique(this.#valueNames, name), value)
  }
}

/** What a checkpoint is called that is a single value. Tensors get the name of the file there; a value has to be found again in a copy. */
const loneValue = 'value'

/** The last part of a path or address, without its extension. */
function stemOf(file: string): string {
  const name = fileNameOf(file)
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(0, dot) : name
}

const offsetOf = (value: PickleValue): number =>
  value instanceof PickleObject || value instanceof PickleReference ? value.offset : 0

/** How much there is to show of a value. */
function weightOf(value: MetaValue): number {
  if (value.type === 'array') return value.length
  if (value.type === 'str') return value.value.length
  return value.type === 'bytes' ? value.value.byteLength : 1
}

/** The entries of an OrderedDict and its like, whether assigned one by one or given to the constructor. */
export function dictionaryOf(object: PickleObject): PickleDict {
  const args = object.args instanceof PickleList ? object.args.items : []
  const given = args.find((arg) => arg instanceof PickleDict || arg instanceof PickleList)
  if (given === undefined) return object.entries
  const dict = new PickleDict()
  if (given instanceof PickleDict) for (const [key, value] of given.entries()) dict.set(key, value)
  else if (given instanceof PickleList) {
    for (const pair of given.items) {
      if (pair instanceof PickleList && pair.items.length === 2) dict.set(pair.items[0]!, pair.items[1]!)
    }
  }
  for (const [key, value] of object.entries.entries()) dict.set(key, value)
  return dict
}
