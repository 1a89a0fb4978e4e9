// Which key each parameter is written under. Tensors that came from such a file have a path. Others have one name, usually dotted; it is
// taken apart when no name would then have to be a parameter and a submodel at once.
import { encodeUtf8 } from '../../bytes/index.js'
import { failWith, writeCodes } from '../../errors/index.js'
import type { Tensor } from '../../model/index.js'
import { conflicts, type Key, sortedByKey } from './names.js'

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

/** Sorted as the format wants it. Fails where two keys cannot be in one model, or a statistic has no parameter. */
export function planEntries(tensors: readonly Tensor[], split: SplitNames, file: string): readonly Entry[] {
  const weights = tensors.filter((tensor) => tensor.role === 'weight')
  const keys = keysOf(weights, split)
  const owners = new Map<string, Entry & { stats: Statistic[] }>()
  const entries = weights.map((tensor, i) => {
    const entry = { key: keys[i]!, tensor, stats: [] as Statistic[] }
    owners.set(ownId(tensor), entry)
    return entry
  })
  for (const tensor of tensors) {
    if (tensor.role !== 'state') continue
    const owner = owners.get(ownerId(tensor))
    if (!owner) refuse(file, tensor.name, 'it is a statistic, but its parameter is not among the tensors')
    owner.stats.push({ name: statName(tensor), tensor })
  }
  const sorted = sortedByKey(entries, (entry) => entry.key)
  checkConflicts(sorted, file)
  return sorted.map((entry) => ({ ...entry, stats: orderStats(entry.stats, entry.tensor.name, file) }))
}

function keysOf(weights: readonly Tensor[], split: SplitNames): Key[] {
  const keyOf = (tensor: Tensor, isSplit: boolean): Key => {
    if (tensor.path) return { names: tensor.path, raw: tensor.rawName }
    if (tensor.rawName) return { names: [tensor.name], raw: tensor.rawName }
    return { names: isSplit ? tensor.name.split('.') : [tensor.name] }
  }
  const keys = weights.map((tensor) => keyOf(tensor, split !== 'never'))
  if (split !== 'auto') return keys
  for (const { kind } of conflicts(
    sortedByKey(keys, (key) => key),
    (key) => key,
  )) {
    if (kind === 'clash') return weights.map((tensor) => keyOf(tensor, false))
  }
  return keys
}

function checkConflicts(sorted: readonly Entry[], file: string): void {
  for (const { kind, first, second } of conflicts(sorted, (entry) => entry.key)) {
    const text = JSON.stringify(first.key.names)
    if (kind === 'clash') {
      const message = `${text} is a parameter, so ${JSON.stringify(second.key.names)} cannot be inside it; rename one, or keep names whole with --split-names never`
      refuse(file, second.tensor.name, message)
    }
    // A file that was read may have one key several times; it is written as it was.
    if (first.tensor.extra?.repeat === undefined)
      refuse(file, second.tensor.name, `two parameters have the key ${text}`)
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
