// Things of several models under their names. What is new is added; what is there already must be the same, or somebody says whose counts.
import { type Code, callerWord, failWith } from '../../errors/index.js'
import type { Model } from '../../model/index.js'
import { type ActionLog, noter, type PlanAction } from '../actions.js'

/** One kind of things: tensors, metadata entries or parts. */
export interface Joinable<T> {
  readonly subject: PlanAction['subject']
  readonly clash: Code
  nameOf(key: string, item: T): string
  /** In what two things of one name differ; undefined when they are the same, or when that does not matter. */
  difference(key: string, a: T, b: T): Promise<string | undefined>
  /** Both in one, for what differs and still agrees. */
  together?(a: T, b: T): T | undefined
}

export interface JoinContext {
  readonly prefer: 'first' | 'last' | undefined
  readonly actions: ActionLog
  /** What messages and the plan call a model. */
  fileOf(model: Model): string
  labelOf(model: Model): string
}

interface Held<T> {
  readonly item: T
  readonly from: Model
}

interface Clash {
  readonly name: string
  readonly why: string
  readonly with: Model
}

/** How many clashes are named before it is enough. */
const maxNamed = 5

export class JoinedByName<T> {
  readonly #kind: Joinable<T>
  readonly #context: JoinContext
  readonly #held = new Map<string, Held<T>>()

  constructor(kind: Joinable<T>, context: JoinContext) {
    this.#kind = kind
    this.#context = context
  }

  get entries(): [key: string, item: T][] {
    return [...this.#held].map(([key, { item }]) => [key, item])
  }

  /** Returns how many things are new. */
  async add(from: Model, items: Iterable<readonly [key: string, item: T]>): Promise<number> {
    const clashes: Clash[] = []
    let added = 0
    for (const [key, item] of items) {
      const old = this.#held.get(key)
      if (!old) {
        this.#held.set(key, { item, from })
        added++
        continue
      }
      const clash = await this.#meet(key, old, { item, from })
      if (clash && clashes.push(clash) === maxNamed) break
    }
    if (clashes.length > 0) this.#refuse(clashes, from)
    return added
  }

  /** Two things of one name; a clash when nothing says what becomes of them. */
  async #meet(key: string, old: Held<T>, other: Held<T>): Promise<Clash | undefined> {
    const { prefer, actions, labelOf } = this.#context
    const why = await this.#kind.difference(key, old.item, other.item)
    if (why === undefined) return undefined
    const both = this.#kind.together?.(old.item, other.item)
    if (both) {
      this.#held.set(key, { item: both, from: old.from })
      return undefined
    }
    const name = this.#kind.nameOf(key, old.item)
    if (prefer === undefined) return { name, why, with: old.from }
    const [kept, left] = prefer === 'first' ? [old, other] : [other, old]
    this.#held.set(key, kept)
    const reason = `that of ${labelOf(kept.from)} is preferred`
    const note = noter(actions, this.#kind.subject, `${name} of ${labelOf(left.from)}`)
    note('drop', 'content', { requested: true, reason })
    return undefined
  }

  #refuse(clashes: readonly Clash[], from: Model): never {
    const { fileOf } = this.#context
    const named = clashes.map(({ name, why, with: other }) => `${JSON.stringify(name)} as in ${fileOf(other)}: ${why}`)
    const more = clashes.length === maxNamed ? ' and perhaps more' : ''
    const message = `${named.join('; ')}${more}; choose one with ${callerWord('--prefer first or --prefer last', "prefer: 'first' or 'last'")}`
    return failWith(this.#kind.clash, { file: fileOf(from), path: clashes[0]!.name, message })
  }
}
