// Which key each parameter is written under, and with which statistics. Tensors that came from a primitiv file have a path. Others have one
// name, typically dotted; it is split at its dots where no name would then have to be a parameter and a submodel at once.
import { decodeUtf8, toHex } from '../../bytes/index.js'
import { failWith, writeCodes } from '../../errors/index.js'
import type { Model, Tensor } from '../../model/index.js'
import { type Key, sortKeys } from './keys.js'

export type SplitNames = 'auto' | 'always' | 'never'

export interface Statistic {
  readonly name: string | Uint8Array
  readonly tensor: Tensor
}

/** A parameter as it will be written. */
export interface Parameter {
  readonly key: Key
  readonly tensor: Tensor
  readonly stats: readonly Statistic[]
}

const none: readonly Statistic[] = []

/** The parameters as the format sorts them. Fails where two keys cannot be in one model, or a statistic has no parameter. */
export function planParameters({ tensors, origin }: Model, split: SplitNames, file: string): readonly Parameter[] {
  const weights = tensors.filter(({ role }) => role === 'weight')
  const statsOf = groupStats(tensors, weights, file)
  const sorted = sortWeights(weights, split, file) ?? sortWeights(weights, 'never', file)!
  return sorted.map(({ key, tensor }) => {
    const stats = statsOf.get(tensor)
    if (!stats) return { key, tensor, stats: none }
    checkStats(stats, tensor.name, file)
    return { key, tensor, stats: orderStats(stats, origin?.format === 'primitiv') }
  })
}

type KeyedTensor = Pick<Parameter, 'key' | 'tensor'>

/** Undefined where names must not be split after all. */
function sortWeights(weights: readonly Tensor[], split: SplitNames, file: string): KeyedTensor[] | undefined {
  const keyed = weights.map((tensor) => ({ key: split === 'never' ? wholeKey(tensor) : splitKey(tensor), tensor }))
  const { order, conflicts } = sortKeys(keyed.map(({ key }) => key))
  if (split === 'auto' && conflicts.some(({ kind }) => kind === 'clash')) return undefined
  for (const { kind, first, second } of conflicts) {
    // A file that was read may have one key several times; it is written as it was.
    if (kind === 'same' && weights[first]!.extra?.repeat !== undefined) continue
    const [a, b] = [keyed[first]!, keyed[second]!].map(({ key }) => JSON.stringify(key.names))
    const message =
      kind === 'same'
        ? `two parameters have the key ${a}`
        : `${a} is a parameter, so ${b} cannot be inside it; rename one, or keep names whole with --split-names never`
    refuse(file, weights[second]!.name, message)
  }
  return order.map((i) => keyed[i]!)
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
const idOf = ({ names, raw }: Key, repeat?: unknown): string =>
  JSON.stringify([raw?.map((bytes) => decodeUtf8(bytes) ?? [toHex(bytes)]) ?? names, repeat])

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
  const first = stats.filter(({ tensor }) => tensor.extra?.stat_repeat === undefined)
  if (new Set(first.map((stat) => idOf(keyOfStat(stat)))).size < first.length)
    refuse(file, owner, 'two statistics of this parameter have the same name')
}

/** As they were read, here or in a container that carried them; those that come from elsewhere by the bytes of their names. */
function orderStats(stats: readonly Statistic[], isCarried: boolean): readonly Statistic[] {
  if (stats.length < 2) return stats
  const isRead = ({ tensor }: Statistic): boolean =>
    tensor.path !== undefined || (isCarried && tensor.stat !== undefined)
  const others = stats.filter((stat) => !isRead(stat))
  return [...stats.filter(isRead), ...sortKeys(others.map(keyOfStat)).order.map((i) => others[i]!)]
}

function refuse(file: string, path: string, message: string): never {
  return failWith(writeCodes['name-unsupported'], { file, path, message })
}
