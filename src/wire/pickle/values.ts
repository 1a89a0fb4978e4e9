// What a pickle describes, as inert data. A pickle is a program that builds objects by calling whatever it names; here a call is a
// record of what would have been called, and nothing ever is.

export type PickleValue =
  | null
  | boolean
  /** An int. */
  | bigint
  /** A float. */
  | number
  | string
  | Uint8Array
  | PickleList
  | PickleDict
  | PickleGlobal
  | PickleObject
  | PickleReference

/** A list, tuple, set or frozenset. */
export class PickleList {
  readonly kind: 'list' | 'tuple' | 'set'
  readonly items: PickleValue[]

  constructor(kind: PickleList['kind'], items: PickleValue[]) {
    this.kind = kind
    this.items = items
  }
}

/** A dict. Keys that Python takes for equal are one entry, and the last value counts. */
export class PickleDict {
  /** Both are made on demand: a pickle can hold a million dicts without entries. */
  #values: Map<unknown, PickleValue> | undefined
  /** By their identities, the keys that are something else. */
  #keys: Map<unknown, PickleValue> | undefined

  get size(): number {
    return this.#values?.size ?? 0
  }

  set(key: PickleValue, value: PickleValue): void {
    const identity = identityOf(key)
    this.#values ??= new Map()
    if (identity !== key && !this.#values.has(identity)) {
      this.#keys ??= new Map()
      this.#keys.set(identity, key)
    }
    this.#values.set(identity, value)
  }

  get(key: string): PickleValue | undefined {
    return this.#values?.get(identityOf(key))
  }

  *entries(): Generator<readonly [key: PickleValue, value: PickleValue], void, void> {
    for (const [identity, value] of this.#values ?? [])
      yield [this.#keys?.get(identity) ?? (identity as PickleValue), value]
  }
}

/**
 * Python's notion of the same key: 1, 1.0 and True are. Everything else is the same only as itself. Large integers become texts, whose
 * hashes cannot be made to collide; a text that looks like one of those gets its beginning twice.
 */
function identityOf(key: PickleValue): unknown {
  if (typeof key === 'string') return key.startsWith(largePrefix) ? `${largePrefix}${key}` : key
  if (typeof key === 'boolean') return key ? 1 : 0
  if (typeof key !== 'bigint') return key
  const number = Number(key)
  return Number.isSafeInteger(number) ? number : `${largePrefix}${key.toString(16)}`
}

const largePrefix = '0x'

/** A name that unpickling would import. */
export class PickleGlobal {
  readonly module: string
  readonly name: string
  readonly fullName: string
  /** Where the pickle names it. */
  readonly offset: number

  constructor(module: string, name: string, offset: number) {
    this.module = module
    this.name = name
    this.fullName = `${module}.${name}`
    this.offset = offset
  }
}

/** What a call would have made, with everything that the pickle puts into it afterwards: mostly nothing, so the lists are made on demand. */
export class PickleObject {
  readonly callee: PickleValue
  readonly args: PickleValue
  readonly offset: number
  /** The state given by BUILD. */
  state: PickleValue | undefined
  #items: PickleValue[] | undefined
  #entries: PickleDict | undefined

  constructor(callee: PickleValue, args: PickleValue, offset: number) {
    this.callee = callee
    this.args = args
    this.offset = offset
  }

  /** Appended items, as to a list. */
  get items(): PickleValue[] {
    this.#items ??= []
    return this.#items
  }

  get hasItems(): boolean {
    return this.#items !== undefined && this.#items.length > 0
  }

  get hasEntries(): boolean {
    return this.#entries !== undefined && this.#entries.size > 0
  }

  /** Assigned entries, as to a dict. */
  get entries(): PickleDict {
    this.#entries ??= new PickleDict()
    return this.#entries
  }

  /** `collections.OrderedDict`, where the callee is a plain name. */
  get className(): string | undefined {
    return this.callee instanceof PickleGlobal ? this.callee.fullName : undefined
  }
}

/** A persistent id: something that lies outside the pickle. */
export class PickleReference {
  readonly id: PickleValue
  /** Its position among the references of the pickle. */
  readonly index: number
  readonly offset: number

  constructor(id: PickleValue, index: number, offset: number) {
    this.id = id
    this.index = index
    this.offset = offset
  }
}
