// Which statistics belong to which parameter. There can be two for each of half a million, so all of it is positions in the list of tensors.
import { NameSet } from '../../bytes/name-set.js'
import { failWith, writeCodes } from '../../errors/index.js'
import type { Tensor } from '../../model/index.js'
import { textOfKey } from './key-order.js'
import type { Key } from './names.js'

/** The positions of the statistics of the parameter at a position. Fails where a statistic has no parameter. */
export function groupStats(
  tensors: readonly Tensor[],
  weights: Uint32Array,
  file: string,
): (owner: number) => Uint32Array {
  const owners = new NameSet((position) => ownId(tensors.at(position)!))
  // Of two with one name the last counts, so it is the first to come in.
  for (const position of weights.toReversed()) owners.add(ownId(tensors.at(position)!), position)
  const ownerOf = new Uint32Array(tensors.length)
  /** Where the statistics of each parameter begin; those of the next one begin where they end. */
  const starts = new Uint32Array(tensors.length + 2)
  for (const [position, tensor] of tensors.entries()) {
    if (tensor.role !== 'state') continue
    const owner = owners.find(ownerId(tensor))
    if (owner === undefined) {
      const message = 'it is a statistic, but its parameter is not among the tensors'
      failWith(writeCodes['name-unsupported'], { file, path: tensor.name, message })
    }
    ownerOf[position] = owner + 1
    starts[owner + 2]!++
  }
  for (let i = 1; i < starts.length; i++) starts[i]! += starts[i - 1]!
  const grouped = new Uint32Array(tensors.length - weights.length)
  for (const [position, owner] of ownerOf.entries()) if (owner > 0) grouped[starts[owner]!++] = position
  return (owner) => grouped.subarray(starts[owner], starts[owner + 1])
}

// A parameter is found by its key; one that stands several times has a number for each. Containers that carry tensors keep the path only
// where the name does not tell it, so a name without a path is taken apart.
const idOf = (key: Key, repeat: unknown): string => `${textOfKey(key)}${repeat ?? ''}`

const ownId = ({ name, path, rawName, extra }: Tensor): string =>
  idOf({ names: path ?? name.split('.'), raw: path && rawName }, extra?.repeat)

function ownerId({ name, path, rawName, extra, stat }: Tensor): string {
  const owner = name.slice(0, Math.max(0, name.length - statOf(name, stat).length - 1))
  return idOf({ names: path ?? owner.split('.'), raw: path && rawName?.slice(0, path.length) }, extra?.repeat)
}

/** The name of a statistic, as it is written. */
export function statName({ name, path, rawName, stat }: Tensor): string | Uint8Array {
  if (path) return rawName?.[path.length] ?? stat ?? ''
  return statOf(name, stat)
}

/** A renamed statistic is called by what stands behind its hash. */
function statOf(name: string, stat: string | undefined): string {
  if (stat !== undefined && name.endsWith(`#${stat}`)) return stat
  return name.slice(name.lastIndexOf('#') + 1)
}
