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
  /** Every object of a pickle has a dict that mostly stays empty. */
  #entries: Map<unknown, [key: PickleValue, value: PickleValue]> | undefined

  get size(): number {
    return this.#entries?.size ?? 0
  }

  set(key: PickleValue, value: PickleValue): void {
    this.#entries ??= new Map()
    const identity = identityOf(key)
    const known = this.#entries.get(identity)
    if (known) known[1] = value
    else this.#entries.set(identity, [key, value])
  }

  get(key: string): PickleValue | undefined {
    return this.#entries?.get(identityOf(key))?.[1]
  }

  entries(): Iterable<readonly [PickleValue, PickleValue]> {
    return this.#entries?.values() ?? []
  }
}

/**
 * Python's notion of the same key: 1, 1.0 and True are. Everything else is the same only as itself. Large integers become texts, whose
 * hashes cannot be made to collide.
 */
function identityOf(key: PickleValue): unknown {
  if (typeof key === 'string') return `s${key}`
  if (typeof key === 'boolean') return key ? 1 : 0
  if (typeof key !== 'bigint') return key
  const number = Number(key)
  return Number.isSafeInteger(number) ? number : `n${key.toString(16)}`
}

/** A name that unpickling would import. */
export class PickleGlobal {
  readonly module: string
  readonly name: string
  /** Where the pickle names it. */
  readonly offset: number

  constructor(module: string, name: string, offset: number) {
    this.module = module
    this.name = name
    this.offset = offset
  }

  get fullName(): string {
    return `${this.module}.${this.name}`
  }
}

/** What a call would have made, with everything that the pickle puts into it afterwards. */
export class PickleObject {
  readonly callee: PickleValue
  readonly args: PickleValue
  readonly offset: number
  /** Appended items, as to a list. */
  readonly items: PickleValue[] = []
  /** Assigned entries, as to a dict. */
  readonly entries = new PickleDict()
  /** The state given by BUILD. */
  state: PickleValue | undefined

  constructor(callee: PickleValue, args: PickleValue, offset: number) {
    this.callee = callee
    this.args = args
    this.offset = offset
  }

  /** `collections.OrderedDict`, where the callee is a plain name. */
  get className(): string | undefined {
    return this.callee instanceof PickleGlobal ? this.callee.fullName : undefined
  }
}

/** A persistent id: something that lies outside the pickle. */
export class PickleReference {
  readonly id: PickleValue
  readonly offset: number

  constructor(id: PickleValue, offset: number) {
    this.id = id
    this.offset = offset
  }
}
