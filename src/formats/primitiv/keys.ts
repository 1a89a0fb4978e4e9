// Which key each parameter is written under. Tensors that came from such a file have a path. Others have one name, usually dotted; it is
// taken apart when no name would then have to be a parameter and a submodel at once.
import { failWith, writeCodes } from '../../errors/index.js'
import type { Model, Tensor } from '../../model/index.js'
import { type Conflict, KeyOrder, textOfKey } from './key-order.js'
import type { Key } from './names.js'
import { groupStats, statName } from './stat-groups.js'

export type SplitNames = 'auto' | 'always' | 'never'

export interface Statistic {
  readonly name: string | Uint8Array
  readonly tensor: Tensor
}

/** A parameter as it will be written. */
export interface Entry {
  readonly key: Key
  readonly tensor: Tensor
  readonly stats: readonly Statistic[]
}

/** The parameters, sorted as the format wants it, each made when it is asked for. */
export interface Entries {
  readonly count: number
  at(index: number): Entry
}

const none: readonly Statistic[] = []

/** Fails where two keys cannot be in one model, or a statistic has no parameter. */
export function planEntries({ tensors, origin }: Model, split: SplitNames, file: string): Entries {
  const isCarried = origin?.format === 'primitiv'
  const weights = positionsOfWeights(tensors)
  const statsOf = weights.length < tensors.length ? groupStats(tensors, weights, file) : undefined
  const { keyOf, sorted } = sortWeights(tensors, weights, split, file) ?? sortWeights(tensors, weights, 'never', file)!
  const statistics = (owner: number): readonly Statistic[] => {
    if (!statsOf) return none
    return Array.from(statsOf(owner), (position) => {
      const tensor = tensors.at(position)!
      return { name: statName(tensor), tensor }
    })
  }
  if (statsOf) for (const position of sorted) checkStats(statistics(position), () => tensors.at(position)!.name, file)
  const at = (index: number): Entry => {
    const tensor = tensors.at(sorted[index]!)!
    return { key: keyOf(tensor), tensor, stats: orderStats(statistics(sorted[index]!), isCarried) }
  }
  return { count: sorted.length, at }
}

function positionsOfWeights(tensors: readonly Tensor[]): Uint32Array {
  const positions = new Uint32Array(tensors.length)
  let count = 0
  for (const [position, { role }] of tensors.entries()) if (role === 'weight') positions[count++] = position
  return positions.subarray(0, count)
}

interface SortedWeights {
  readonly keyOf: (tensor: Tensor) => Key
  /** Positions in the list of tensors. */
  readonly sorted: Uint32Array
}

/** Undefined where names must not be taken apart after all. */
function sortWeights(
  tensors: readonly Tensor[],
  weights: Uint32Array,
  split: SplitNames,
  file: string,
): SortedWeights | undefined {
  const keyOf = split === 'never' ? wholeKey : splitKey
  const weightAt = (i: number): Tensor => tensors.at(weights[i]!)!
  const keys = new KeyOrder(weights.length, (i) => keyOf(weightAt(i)))
  let wrong: Conflict | undefined
  for (const conflict of keys.conflicts()) {
    if (conflict.kind === 'clash' && split === 'auto') return undefined
    // A file that was read may have one key several times; it is written as it was.
    const isMeant = conflict.kind === 'same' && weightAt(conflict.first).extra?.repeat !== undefined
    if (!isMeant) wrong ??= conflict
  }
  if (wrong) refuseBoth(wrong.kind, weightAt(wrong.first), weightAt(wrong.second), keyOf, file)
  return { keyOf, sorted: keys.order.map((i) => weights[i]!) }
}

const wholeKey = ({ name, path, rawName }: Tensor): Key => ({ names: path ?? [name], raw: rawName })

/** Names are taken apart at their dots. */
const splitKey = (tensor: Tensor): Key =>
  tensor.path || tensor.rawName ? wholeKey(tensor) : { names: tensor.name.split('.') }

function refuseBoth(
  kind: Conflict['kind'],
  first: Tensor,
  second: Tensor,
  keyOf: (tensor: Tensor) => Key,
  file: string,
): never {
  const text = JSON.stringify(keyOf(first).names)
  if (kind === 'same') refuse(file, second.name, `two parameters have the key ${text}`)
  const message = `${text} is a parameter, so ${JSON.stringify(keyOf(second).names)} cannot be inside it; rename one, or keep names whole with --split-names never`
  refuse(file, second.name, message)
}

const keyOfStat = ({ name }: Statistic): Key =>
  typeof name === 'string' ? { names: [name] } : { names: [''], raw: [name] }

function checkStats(stats: readonly Statistic[], owner: () => string, file: string): void {
  const first = stats.filter(({ tensor }) => tensor.extra?.stat_repeat === undefined)
  if (new Set(first.map((stat) => textOfKey(keyOfStat(stat)))).size < first.length)
    refuse(file, owner(), 'two statistics of this parameter have the same name')
}

/** As they were read, here or in a container that carried them; those that come from elsewhere by the bytes of their names. */
function orderStats(stats: readonly Statistic[], isCarried: boolean): readonly Statistic[] {
  if (stats.length < 2) return stats
  const isRead = ({ tensor }: Statistic): boolean =>
    tensor.path !== undefined || (isCarried && tensor.stat !== undefined)
  const read = stats.filter(isRead)
  const others = stats.filter((stat) => !isRead(stat))
  const { order } = new KeyOrder(others.length, (i) => keyOfStat(others[i]!))
  return [...read, ...Array.from(order, (i) => others[i]!)]
}

function refuse(file: string, path: string, message: string): never {
  return failWith(writeCodes['name-unsupported'], { file, path, message })
}
