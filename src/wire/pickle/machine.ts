// The stack machine that a pickle is a program for. Names stay names, and a call becomes a record of the call.
import { pickleCodes as codes } from './codes.js'
import type { PickleCursor } from './cursor.js'
import type { Memo } from './memo.js'
import { PickleDict, PickleGlobal, PickleList, PickleObject, PickleReference, type PickleValue } from './values.js'

const highestProtocol = 5
/**
 * How many objects a pickle may make: a base, and one more for every few bytes. Checkpoints need a fraction of that; without a limit, a small
 * file of nothing but empty lists would fill the memory.
 */
const allowance = { objects: 1 << 20, bytesEach: 8, max: 1 << 24 }
const maxMarks = 1 << 20

/** What a format makes of a pickle while it is read. A checkpoint of many tensors is a long list of calls; none of them is kept then. */
export interface PickleHooks {
  /** Stands for the call from now on; undefined for calls that stay what they are. */
  call(callee: PickleValue, args: PickleValue, offset: number): PickleObject | undefined
  /** Takes the id of a reference, which is not kept otherwise. */
  reference(id: PickleValue, offset: number): void
}

export class PickleMachine {
  readonly #cursor: PickleCursor
  readonly #stack: PickleValue[] = []
  /** Where on the stack each MARK stands. */
  readonly #marks: number[] = []
  readonly #memo: Memo
  readonly #hooks: PickleHooks | undefined
  readonly #globals = new Map<string, PickleGlobal>()
  #objects = 0
  #referenceCount = 0
  /** The protocol that the pickle states; 0 where it states none. */
  version = 0
  /** Every call that was met, in order. */
  readonly calls: PickleObject[] = []
  /** Every persistent id that was met, in order. */
  readonly references: PickleReference[] = []

  constructor(cursor: PickleCursor, memo: Memo, hooks?: PickleHooks) {
    this.#cursor = cursor
    this.#memo = memo
    this.#hooks = hooks
  }

  /** Everything that was named, in order, each once. */
  get globals(): PickleGlobal[] {
    return [...this.#globals.values()]
  }

  protocol(version: number): void {
    this.version = Math.max(this.version, version)
    if (version <= highestProtocol) return
    const { opcodeOffset: offset, path, report } = this.#cursor
    report.report(codes.protocol, { offset, path, message: `the pickle states protocol ${version}` })
  }

  /** A value that was not there before. */
  push(value: PickleValue): void {
    if (typeof value === 'object' && value !== null) this.#count()
    this.#stack.push(value)
  }

  #count(): void {
    const { objects, bytesEach, max } = allowance
    if (++this.#objects <= Math.min(objects + this.#cursor.position / bytesEach, max)) return
    const message = `${this.#objects} objects are made of ${this.#cursor.position} bytes`
    this.#cursor.fail(codes.objects, message)
  }

  duplicate(): void {
    this.#stack.push(this.top())
  }

  #floor(): number {
    return this.#marks.at(-1) ?? 0
  }

  pop(): PickleValue {
    if (this.#stack.length <= this.#floor()) this.#cursor.fail(codes.stack, 'the stack is empty')
    return this.#stack.pop()!
  }

  top(): PickleValue {
    const value = this.pop()
    this.#stack.push(value)
    return value
  }

  mark(): void {
    if (this.#marks.length >= maxMarks) this.#cursor.fail(codes.stack, `more than ${maxMarks} marks are open`)
    this.#marks.push(this.#stack.length)
  }

  /** Takes everything above the last MARK. */
  popMark(): PickleValue[] {
    const floor = this.#marks.pop()
    if (floor === undefined) return this.#cursor.fail(codes.stack, 'there is no MARK')
    return this.#stack.splice(floor)
  }

  /** POP also takes a MARK that is on top. */
  discard(): void {
    if (this.#marks.at(-1) === this.#stack.length) this.#marks.pop()
    else this.pop()
  }

  tuple(count: number): void {
    const start = this.#stack.length - count
    if (start < this.#floor()) this.#cursor.fail(codes.stack, 'the stack is empty')
    this.push(new PickleList('tuple', this.#stack.splice(start)))
  }

  append(items: readonly PickleValue[]): void {
    const target = this.top()
    if (target instanceof PickleList && target.kind !== 'tuple') for (const item of items) target.items.push(item)
    else if (target instanceof PickleObject) for (const item of items) target.items.push(item)
    else this.#cursor.fail(codes.stack, 'items are appended to something that is not a list')
  }

  assign(items: readonly PickleValue[]): void {
    const target = this.top()
    const dict = target instanceof PickleObject ? target.entries : target
    if (!(dict instanceof PickleDict))
      this.#cursor.fail(codes.stack, 'entries are assigned to something that is not a dict')
    if (items.length % 2 !== 0) this.#cursor.fail(codes.stack, 'a key has no value')
    for (let i = 0; i < items.length; i += 2) {
      const key = items[i]!
      if (key instanceof PickleDict || (key instanceof PickleList && key.kind === 'list'))
        this.#cursor.fail(codes.stack, 'a list or dict cannot be a key')
      dict.set(key, items[i + 1]!)
    }
  }

  build(): void {
    const state = this.pop()
    const target = this.top()
    // Plain dicts and lists have no attributes in Python either.
    if (!(target instanceof PickleObject)) this.#cursor.fail(codes.stack, 'a state is given to something that has none')
    target.state = state
  }

  global(module: string, name: string): PickleGlobal {
    const key = `${module}\n${name}`
    const known = this.#globals.get(key)
    if (known) return known
    const global = new PickleGlobal(module, name, this.#cursor.opcodeOffset)
    this.#globals.set(key, global)
    return global
  }

  stackGlobal(): void {
    const name = this.pop()
    const module = this.pop()
    if (typeof name !== 'string' || typeof module !== 'string')
      this.#cursor.fail(codes.stack, 'a name to import is not text')
    this.push(this.global(module, name))
  }

  call(callee: PickleValue, args: PickleValue): void {
    const isName = callee instanceof PickleGlobal || callee instanceof PickleReference
    if (!isName && !(callee instanceof PickleObject))
      this.#cursor.fail(codes.stack, 'something is called that cannot be called')
    const { opcodeOffset } = this.#cursor
    const object = this.#hooks?.call(callee, args, opcodeOffset) ?? new PickleObject(callee, args, opcodeOffset)
    if (!this.#hooks) this.calls.push(object)
    this.push(object)
  }

  reference(id: PickleValue): void {
    const { opcodeOffset } = this.#cursor
    const index = this.#referenceCount++
    const reference = new PickleReference(this.#hooks ? null : id, index, opcodeOffset)
    if (this.#hooks) this.#hooks.reference(id, opcodeOffset)
    else this.references.push(reference)
    this.push(reference)
  }

  put(index: number): void {
    if (!Number.isSafeInteger(index) || index < 0) this.#cursor.fail(codes.memo, `the memo has no entry ${index}`)
    this.#memo.set(index, this.top())
  }

  memoize(): void {
    this.put(this.#memo.size)
  }

  get(index: number): void {
    const value = this.#memo.get(index)
    if (value === undefined) this.#cursor.fail(codes.memo, `the memo has no entry ${index}`)
    this.#stack.push(value)
  }
}
