// The work of a job as a list of tasks, each of which any worker can do: ranges of the output, and looks at the input that a single run makes
// before it writes. It follows from the layout alone, so everybody who has the plan finds the same list.
import type { ByteRange } from '../bytes/index.js'
import type { Conversion } from '../convert/plan.js'
import { type FileLayout, fileLength, type Payload } from '../model/index.js'
import { byteCosts } from '../threads/costs.js'
import { cutFile } from '../writing/ranges/cut-file.js'
import { type SlotTable, slotAt, slotTable, startOf } from '../writing/ranges/slot-table.js'

interface TaskBase {
  /** From 0. */
  readonly number: number
  /** Nanoseconds, about: only proportions matter. */
  readonly cost: number
}

/** A range of a file of the output. */
export interface RangeTask extends TaskBase {
  readonly kind: 'range'
  /** The position of the file in the layout. */
  readonly file: number
  /** Its number among the parts of the file, from 1. */
  readonly part: number
  readonly from: number
  readonly to: number
  /** It holds bytes that are known when all others have been made. */
  readonly isLate?: true
  /** The store can copy it. */
  readonly copyOf?: ByteRange
}

/** Some looks at the input: does it match its checksums, can its values be written. */
export interface CheckTask extends TaskBase {
  readonly kind: 'check'
  /** The positions of the checks in the conversion: from the first up to the one before the last. */
  readonly first: number
  readonly end: number
}

/** Some looks at values that have to be known before anything is laid out. */
export interface LookTask extends Omit<CheckTask, 'kind'> {
  readonly kind: 'look'
}

export type Task = RangeTask | CheckTask | LookTask

export interface TaskOptions {
  readonly partSize: number
  /** The limits of object stores count. */
  readonly isStored: boolean
  /** Whether the store can copy a range by itself. */
  canCopy?(range: ByteRange): boolean
}

/** What one worker can do with a file that nobody can cut. */
export const maxUncut = 2 ** 30

/**
 * The longest parts are handed out first, and short ones at the end let all workers end at about the same time. Long ones keep the number low: each
 * part costs a message, a result and a look at it.
 */
const tail = { share: 1 / 4, fraction: 1 / 4 }

/** On a file system only the sum of their results limits the number of parts. */
const maxParts = 50_000

export function tasksOf({ layout, checks }: Conversion, options: TaskOptions): Task[] {
  const tasks: Task[] = []
  for (const [file, each] of layout.files.entries())
    for (const task of rangeTasks(each, file, options)) tasks.push({ ...task, number: tasks.length })
  const perByte = readCost + byteCosts.scan
  const costs = checks.map(({ bytes }) => bytes * perByte)
  for (const batch of batches(costs, options.partSize * perByte))
    tasks.push({ kind: 'check', number: tasks.length, ...batch })
  return tasks
}

/** The tasks of a job whose values have to be looked at. */
export function lookTasks(costs: readonly number[], partSize: number): LookTask[] {
  const tasks: LookTask[] = []
  for (const batch of batches(costs, partSize * (readCost + byteCosts.scan)))
    tasks.push({ kind: 'look', number: tasks.length, ...batch })
  return tasks
}

/** There can be one for each of a million tensors: those of adjacent ones are done together. */
const maxBatches = 10_000

function* batches(costs: readonly number[], wanted: number): Generator<Pick<CheckTask, 'first' | 'end' | 'cost'>> {
  const enough = Math.max(wanted, costs.reduce((sum, cost) => sum + cost, 0) / maxBatches)
  for (let first = 0, end = 0; first < costs.length; first = end) {
    let cost = 0
    while (end < costs.length && (end === first || cost + costs[end]! <= enough)) cost += costs[end++]!
    yield { first, end, cost }
  }
}

function* rangeTasks(
  file: FileLayout,
  position: number,
  { partSize, isStored, canCopy }: TaskOptions,
): Generator<Omit<RangeTask, 'number'>, void, void> {
  if (fileLength(file) === 0) return
  const limits = isStored
    ? { canCopy: canCopy ?? none }
    : { canCopy: none, maxParts, minPart: Math.min(partSize, 1 << 20) }
  const table = slotTable(file)
  let part = 0
  for (const { from, to, isLate, copyOf } of cutFile(file, { partSize, tail, ...limits })) {
    part++
    const cost = copyOf ? (to - from) * copyCost : costOf(table, from, to)
    yield { kind: 'range', file: position, part, from, to, cost, ...(isLate && { isLate }), ...(copyOf && { copyOf }) }
  }
}

const none = (): boolean => false

/** Nanoseconds per byte that is read from a disk or a network, written there, or copied in a store. */
const readCost = 0.5
const writeCost = 1
const copyCost = 0.05

function costOf(table: SlotTable, from: number, to: number): number {
  let cost = 0
  for (let i = slotAt(table, from); i < table.slots.length && startOf(table, i) < to; i++) {
    const slot = table.slots[i]!
    const start = startOf(table, i)
    const [low, high] = [Math.max(from, start), Math.min(to, table.ends[i]!)]
    cost += (high - low) * writeCost
    if (slot.kind === 'payload') cost += makeCost(slot.plain ?? slot.payload, low - start, high - start)
  }
  return cost
}

/** What making the bytes `from` to `to` takes. */
function makeCost({ origin, cost = byteCosts.maxWork, slices, byteLength }: Payload, from: number, to: number): number {
  if (origin) return (to - from) * readCost
  if (!slices?.costRanges || to - from === byteLength) return (to - from) * cost
  let [sum, start] = [0, 0]
  for (const range of slices.costRanges) {
    sum += Math.max(0, Math.min(to, range.end) - Math.max(from, start)) * range.cost
    start = range.end
  }
  return sum
}

/** The tasks of one of several workers that share them, such that all have about the same to do. */
export function shareOf(tasks: readonly Task[], index: number, workers: number): Task[] {
  const own: Task[] = []
  for (const { task, share } of sharedOut(tasks, workers)) if (share === index) own.push(task)
  return own
}

/**
 * All tasks with the positions of the workers whose share they are: each goes to the worker that has the least to do so far, and the short ones at
 * the end make up for differences. Each kind is shared out by itself: costs are estimates, which are wrong by about the same factor for all tasks of
 * a kind, since one computes and the other waits for the network.
 */
export function* sharedOut(
  tasks: readonly Task[],
  workers: number,
): Generator<{ readonly task: Task; readonly share: number }, void, void> {
  for (const kind of ['range', 'check', 'look'] as const) {
    const loads = new Float64Array(workers)
    for (const task of tasks) {
      if (task.kind !== kind) continue
      const share = positionOfMin(loads)
      loads[share]! += task.cost
      yield { task, share }
    }
  }
}

function positionOfMin(values: Float64Array): number {
  let found = 0
  for (let i = 1; i < values.length; i++) if (values[i]! < values[found]!) found = i
  return found
}
