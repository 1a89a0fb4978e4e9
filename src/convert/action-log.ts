// The actions of a plan as they are noted. Nearly all of a million are alike but for the tensor that they are about, so each is a number that
// says what is done and a position, or a name where it is about something else.
import { LazyList } from '../bytes/lazy-list.js'
import { NumberList } from '../bytes/number-list.js'
import { numberRoom, RecordReader, RecordWriter, textRoom } from '../bytes/record-blocks.js'
import type { TensorList } from '../model/index.js'
import { type ActionKind, isWorse, type Loss, type PlanAction } from './plan-types.js'

/** Sorts of actions beyond so many are as many as the tensors, and not worth a number. */
const maxSorts = 4096
const noPosition = 0

type Sort = Omit<PlanAction, 'name'>

export class ActionLog extends LazyList<PlanAction> {
  readonly #writer = new RecordWriter()
  readonly #reader = new RecordReader(this.#writer)
  readonly #sorts: Sort[] = []
  readonly #numbers = new Map<string, number>()
  #tensors: TensorList = []
  #last = 0
  readonly #places = new NumberList(Float64Array)

  constructor(actions: Iterable<PlanAction> = []) {
    super()
    for (const action of actions) this.push(action)
  }

  get length(): number {
    return this.#places.length
  }

  /** From now on positions are in this list; there is one list in the life of a log. */
  countIn(tensors: TensorList): void {
    this.#tensors = tensors
  }

  /** `position`: that of the tensor with this name. */
  push({ name, ...sort }: PlanAction, position?: number): void {
    const writer = this.#writer
    this.#places.push(writer.begin(2 * numberRoom + (position === undefined ? textRoom(name) : 0)))
    writer.number(this.#numberOf(sort))
    writer.number(position === undefined ? noPosition : position + 1)
    if (position === undefined) writer.text(name)
  }

  protected make(index: number): PlanAction {
    const reader = this.#reader
    reader.moveTo(this.#places.at(index))
    const { subject, ...sort } = this.#sorts[reader.number()]!
    const position = reader.number()
    const name = position === noPosition ? reader.text() : this.#tensors.at(position - 1)!.name
    return { subject, name, ...sort }
  }

  #numberOf(sort: Sort): number {
    if (isSame(sort, this.#sorts[this.#last])) return this.#last
    const { subject, action, loss, requested, reason, from, to } = sort
    const isSeldom = this.#numbers.size >= maxSorts
    const key = JSON.stringify([subject, action, loss, requested, reason, from, to])
    this.#last = this.#numbers.get(key) ?? this.#sorts.push(sort) - 1
    if (!isSeldom) this.#numbers.set(key, this.#last)
    return this.#last
  }
}

/** What is done to a tensor is mostly what was done to the one before. */
const isSame = (a: Sort, b: Sort | undefined): boolean =>
  a.action === b?.action &&
  a.subject === b.subject &&
  a.loss === b.loss &&
  a.requested === b.requested &&
  a.reason === b.reason &&
  a.from === b.from &&
  a.to === b.to

export type Note = (action: ActionKind, loss: Loss, more?: Partial<PlanAction>) => void

/** `position`: that of the tensor, where it is in the list that the log counts in. */
export function noter(log: ActionLog, subject: PlanAction['subject'], name: string, position?: number): Note {
  return (action, loss, more = {}) => {
    log.push({ subject, name, action, loss, ...more }, position)
  }
}

export function worstOf(actions: Iterable<Pick<PlanAction, 'loss'>>): Loss {
  let worst: Loss = 'none'
  for (const { loss } of actions) if (isWorse(loss, worst)) worst = loss
  return worst
}
