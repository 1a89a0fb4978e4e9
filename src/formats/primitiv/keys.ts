// Which key each parameter is written under. Tensors that came from such a file have a path. Others have one name, usually dotted; it is
// taken apart when no name would then have to be a parameter and a submodel at once.
import { encodeUtf8 } from '../../bytes/index.js'
import { failWith, writeCodes } from '../../errors/index.js'
import type { Tensor, TensorList } from '../../model/index.js'
import { conflicts, type Key, sortedByKey } from './names.js'
import { type WriteKeys, writeKeys } from './write-keys.js'

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

export interface Entries {
  /** The parameters, sorted as the format wants it. */
  readonly tensors: readonly Tensor[]
  of(tensor: Tensor): Entry
}

/** Fails where two keys cannot be in one model, or a statistic has no parameter. */
export function planEntries(tensors: TensorList, split: SplitNames, file: string): Entries {
  const weights = tensors.filter((tensor) => tensor.role === 'weight')
  const stats = collectStats(tensors, weights, file)
  const { keys, sorted } = sortWeights(weights, split)
  checkConflicts(sorted, keys, file)
  if (stats.size > 0) {
    for (const tensor of sorted) {
      const own = stats.get(tensor)
      if (own) stats.set(tensor, orderStats(own, tensor.name, file))
    }
  }
  return { tensors: sorted, of: (tensor) => ({ key: keys.of(tensor), tensor, stats: stats.get(tensor) ?? [] }) }
}

/** The statistics of each parameter that has any. */
function collectStats(
  tensors: TensorList,
  weights: readonly Tensor[],
  file: string,
): Map<Tensor, readonly Statistic[]> {
  const stats = new Map<Tensor, Statistic[]>()
  if (weights.length === tensors.length) return stats
  const owners = new Map(weights.map((tensor) => [ownId(tensor), tensor]))
  for (const tensor of tensors) {
    if (tensor.role !== 'state') continue
    const owner = owners.get(ownerId(tensor))
    if (!owner) refuse(file, tensor.name, 'it is a statistic, but its parameter is not among the tensors')
    const others = stats.get(owner)
    const statistic = { name: statName(tensor), tensor }
    if (others) others.push(statistic)
    else stats.set(owner, [statistic])
  }
  return stats
}

function sortWeights(
  weights: readonly Tensor[],
  split: SplitNames,
): { readonly keys: WriteKeys; readonly sorted: readonly Tensor[] } {
  const keys = writeKeys(split !== 'never')
  const sorted = keys.sorted(weights)
  if (split !== 'auto') return { keys, sorted }
  for (const { kind } of keys.conflicts(sorted)) {
    if (kind === 'clash') return sortWeights(weights, 'never')
  }
  return { keys, sorted }
}

function checkConflicts(sorted: readonly Tensor[], keys: WriteKeys, file: string): void {
  for (const { kind, first, second } of keys.conflicts(sorted)) {
    const text = JSON.stringify(keys.of(first).names)
    if (kind === 'clash') {
      const message = `${text} is a parameter, so ${JSON.stringify(keys.of(second).names)} cannot be inside it; rename one, or keep names whole with --split-names never`
      refuse(file, second.name, message)
    }
    // A file that was read may have one key several times; it is written as it was.
    if (first.extra?.repeat === undefined) refuse(file, second.name, `two parameters have the key ${text}`)
  }
}

/** As they were read; those that come from elsewhere by the bytes of their names. */
function orderStats(stats: readonly Statistic[], owner: string, file: string): Statistic[] {
  const key = ({ name }: Statistic): Key =>
    typeof name === 'string' ? { names: [name] } : { names: [''], raw: [name] }
  const read = stats.filter(({ tensor }) => tensor.path)
  const others = sortedByKey(
    stats.filter(({ tensor }) => !tensor.path),
    key,
  )
  const first = stats.filter(({ tensor }) => tensor.extra?.stat_repeat === undefined)
  for (const { kind } of conflicts(sortedByKey(first, key), key)) {
    if (kind === 'same') refuse(file, owner, 'two statistics of this parameter have the same name')
  }
  return [...read, ...others]
}

function refuse(file: string, path: string, message: string): never {
  return failWith(writeCodes['name-unsupported'], { file, path, message })
}

// A tensor is found by its path, where it has one; a key that stands several times has a number for each. Otherwise the name counts.
const idOf = (names: readonly string[], raw: readonly Uint8Array[] | undefined, repeat: unknown): string =>
  JSON.stringify([names, raw?.map((bytes) => [...bytes]) ?? null, repeat ?? 0])

function ownId({ name, path, rawName, extra }: Tensor): string {
  return path ? idOf(path, rawName, extra?.repeat) : `name:${name}`
}

function ownerId({ name, path, rawName, extra, stat }: Tensor): string {
  if (!path) return `name:${name.slice(0, Math.max(0, name.length - statOf(name, stat).length - 1))}`
  const raw = rawName?.slice(0, path.length)
  const isOdd = raw?.some((bytes, i) => path[i] === undefined || !isSame(bytes, path[i]))
  return idOf(path, isOdd ? raw : undefined, extra?.repeat)
}

function statName({ name, path, rawName, stat }: Tensor): string | Uint8Array {
  if (path) return rawName?.[path.length] ?? stat ?? ''
  return statOf(name, stat)
}

/** A renamed statistic is called by what stands behind its hash. */
function statOf(name: string, stat: string | undefined): string {
  if (stat !== undefined && name.endsWith(`#${stat}`)) return stat
  return name.slice(name.lastIndexOf('#') + 1)
}

function isSame(bytes: Uint8Array, text: string): boolean {
  const other = encodeUtf8(text)
  return bytes.byteLength === other.byteLength && bytes.every((byte, i) => byte === other[i])
}
