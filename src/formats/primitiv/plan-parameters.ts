// Which key each parameter is written under, and with which statistics. Tensors that came from a primitiv file have a path. Others have one
// name, typically dotted; it is split at its dots where no name would then have to be a parameter and a submodel at once.
import { callerWord, failWith, writeCodes } from '../../errors/index.js'
import type { Model, Tensor } from '../../model/index.js'
import { type Key, sortKeys, sortText } from './keys.js'

export type SplitNames = 'auto' | 'always' | 'never'

export interface Statistic {
  readonly name: string | Uint8Array
  readonly tensor: Tensor
}

/** The parameters as they will be written. Keys and statistics are found when they are: a list of them all would take much memory. */
export interface PlannedParameters {
  /** As the format sorts them. */
  readonly weights: readonly Tensor[]
  keyOf(weight: Tensor): Key
  statsOf(weight: Tensor): readonly Statistic[]
}

const none: readonly Statistic[] = []

/** Fails where two keys cannot be in one model, or a statistic has no parameter. */
export function planParameters({ tensors, origin }: Model, split: SplitNames, file: string): PlannedParameters {
  const weights = tensors.filter(({ role }) => role === 'weight')
  const groups = groupStats(tensors, weights, file)
  const sorted = sortWeights(weights, split, file) ?? sortWeights(weights, 'never', file)!
  for (const weight of sorted.weights) checkStats(groups.get(weight) ?? none, weight.name, file)
  const isCarried = origin?.format === 'primitiv'
  return { ...sorted, statsOf: (weight) => orderStats(groups.get(weight) ?? none, isCarried) }
}

/** Undefined where names must not be split after all. */
function sortWeights(
  weights: readonly Tensor[],
  split: SplitNames,
  file: string,
): Pick<PlannedParameters, 'weights' | 'keyOf'> | undefined {
  const keyOf = split === 'never' ? wholeKey : splitKey
  const { order, conflicts } = sortKeys(weights.map((weight) => sortText(keyOf(weight))))
  if (split === 'auto' && conflicts.some(({ kind }) => kind === 'clash')) return undefined
  for (const { kind, first, second } of conflicts) {
    // A file that was read may have one key several times; it is written as it was.
    if (kind === 'same' && weights[first]!.extra?.repeat !== undefined) continue
    const [a, b] = [weights[first]!, weights[second]!].map((weight) => JSON.stringify(keyOf(weight).names))
    const message =
      kind === 'same'
        ? `two parameters have the key ${a}`
        : `${a} is a parameter, so ${b} cannot be inside it; rename one, or keep names whole with ${callerWord('--split-names never', "'split-names': 'never'")}`
    refuse(file, weights[second]!.name, message)
  }
  return { weights: order.map((i) => weights[i]!), keyOf }
}

const wholeKey = ({ name, path, rawName }: Tensor): Key => ({ names: path ?? [name], raw: rawName })

const splitKey = (tensor: Tensor): Key =>
  tensor.path || tensor.rawName ? wholeKey(tensor) : { names: tensor.name.split('.') }

function groupStats(tensors: readonly Tensor[], weights: readonly Tensor[], file: string): Map<Tensor, Statistic[]> {
  const groups = new Map<Tensor, Statistic[]>()
  if (weights.length === tensors.length) return groups
  const owners = new Map(weights.map((tensor) => [ownId(tensor), tensor]))
  for (const tensor of tensors) {
    if (tensor.role !== 'state') continue
    const owner = owners.get(ownerId(tensor))
    if (!owner) refuse(file, tensor.name, 'it is a statistic, but its parameter is not among the tensors')
    const stats = groups.get(owner) ?? []
    groups.set(owner, stats)
    stats.push({ name: statName(tensor), tensor })
  }
  return groups
}

// A parameter is found by its key; one that stands several times has a number for each. Containers that carry tensors keep the path only
// where the name does not tell it, so a name without a path is split.
const idOf = (key: Key, repeat: unknown): string => `${sortText(key)}${repeat ?? ''}`

const ownId = ({ name, path, rawName, extra }: Tensor): string =>
  idOf({ names: path ?? name.split('.'), raw: path && rawName }, extra?.repeat)

function ownerId({ name, path, rawName, extra, stat }: Tensor): string {
  const owner = name.slice(0, Math.max(0, name.length - shownStat(name, stat).length - 1))
  return idOf({ names: path ?? owner.split('.'), raw: path && rawName?.slice(0, path.length) }, extra?.repeat)
}

function statName({ name, path, rawName, stat }: Tensor): string | Uint8Array {
  if (path) return rawName?.[path.length] ?? stat ?? ''
  return shownStat(name, stat)
}

/** A renamed statistic is called by what stands behind its hash. */
function shownStat(name: string, stat: string | undefined): string {
  if (stat !== undefined && name.endsWith(`#${stat}`)) return stat
  return name.slice(name.lastIndexOf('#') + 1)
}

const keyOfStat = ({ name }: Statistic): Key =>
  typeof name === 'string' ? { names: [name] } : { names: [''], raw: [name] }

function checkStats(stats: readonly Statistic[], owner: string, file: string): void {
  if (stats.length < 2) return
  const first = stats.filter(({ tensor }) => tensor.extra?.stat_repeat === undefined)
  if (new Set(first.map((stat) => sortText(keyOfStat(stat)))).size < first.length)
    refuse(file, owner, 'two statistics of this parameter have the same name')
}

/** As they were read, here or in a container that carried them; those that come from elsewhere by the bytes of their names. */
function orderStats(stats: readonly Statistic[], isCarried: boolean): readonly Statistic[] {
  if (stats.length < 2) return stats
  const isRead = ({ tensor }: Statistic): boolean =>
    tensor.path !== undefined || (isCarried && tensor.stat !== undefined)
  const others = stats.filter((stat) => !isRead(stat))
  return [
    ...stats.filter(isRead),
    ...sortKeys(others.map((stat) => sortText(keyOfStat(stat)))).order.map((i) => others[i]!),
  ]
}

function refuse(file: string, path: string, message: string): never {
  return failWith(writeCodes['name-unsupported'], { file, path, message })
}
