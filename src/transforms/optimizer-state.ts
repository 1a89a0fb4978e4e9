// Optimizer state beside the weights: moments, running means. Some formats give such tensors the role `state` and the name of the
// statistic; in others they are ordinary tensors named `parameter#statistic`. Here they are dropped, or attached to their parameters.
import { compareUtf8, encodeUtf8 } from '../bytes/index.js'
import type { Model, Tensor } from '../model/index.js'

const separator = '#'

/** The weights alone, without tensors that are state by role or by name. */
export function dropState(model: Model, onDropped?: (name: string) => void): Model {
  const names = new Set(model.tensors.map((tensor) => tensor.name))
  const tensors = model.tensors.filter((tensor) => {
    const isDropped = isState(tensor, names)
    if (isDropped) onDropped?.(tensor.name)
    return !isDropped
  })
  return { ...model, tensors }
}

export interface AttachedState {
  readonly model: Model
  /** How many tensors were attached. */
  readonly count: number
  /** State whose parameter is not in the model; it was left out. */
  readonly unmatched: readonly string[]
}

/**
 * The model with the state that `from` has for its parameters. It replaces state of the same statistic, even if that is an ordinary tensor
 * named `parameter#statistic`; so `from` may be the model itself, or the same file opened again.
 */
export function attachState(model: Model, from: Model): AttachedState {
  const names = new Set(from.tensors.map((tensor) => tensor.name))
  const states = from.tensors.filter((tensor) => isState(tensor, names))
  const moved = new Set(states.map((tensor) => tensor.name))
  const own = from === model ? names : new Set(model.tensors.map((tensor) => tensor.name))
  const isMoved = (tensor: Tensor): boolean =>
    moved.has(tensor.name) && (from === model || (tensor.role === 'weight' && isState(tensor, own)))
  const kept = model.tensors.filter((tensor) => !isMoved(tensor))
  const owners = new Map(kept.filter((tensor) => tensor.role === 'weight').map((tensor) => [tensor.name, tensor]))
  const attached = new Map<Tensor, Map<string, Tensor>>()
  const unmatched: string[] = []
  let count = 0
  for (const tensor of states) {
    const place = placeOf(tensor, owners)
    if (!place) {
      unmatched.push(tensor.name)
      continue
    }
    const { owner, stat } = place
    const stats = attached.get(owner) ?? new Map<string, Tensor>()
    stats.set(stat, asState(tensor, owner, stat))
    attached.set(owner, stats)
    count++
  }
  return { model: { ...model, tensors: merge(kept, owners, attached) }, count, unmatched }
}

function isState(tensor: Tensor, names: ReadonlySet<string>): boolean {
  if (tensor.role === 'state') return true
  return separators(tensor.name).some((at) => names.has(tensor.name.slice(0, at)))
}

/** The longest parameter name that fits: names and statistics may contain the separator. */
function placeOf(tensor: Tensor, owners: ReadonlyMap<string, Tensor>): { owner: Tensor; stat: string } | undefined {
  const { name, stat } = tensor
  if (stat !== undefined && name.endsWith(separator + stat)) {
    const owner = owners.get(name.slice(0, -stat.length - separator.length))
    if (owner) return { owner, stat }
  }
  for (const at of separators(name)) {
    const owner = owners.get(name.slice(0, at))
    if (owner) return { owner, stat: name.slice(at + 1) }
  }
  return undefined
}

/** From last to first. */
function separators(name: string): number[] {
  const places: number[] = []
  for (let at = name.lastIndexOf(separator); at >= 0; at = at === 0 ? -1 : name.lastIndexOf(separator, at - 1)) {
    places.push(at)
  }
  return places
}

function asState(tensor: Tensor, owner: Tensor, stat: string): Tensor {
  const { path: _path, rawName, ...rest } = tensor
  const state: Tensor = { ...rest, name: `${owner.name}${separator}${stat}`, role: 'state', stat }
  if (!owner.path) return state
  const rawStat = tensor.stat === stat && tensor.path ? rawName?.[tensor.path.length] : undefined
  const raw = owner.rawName || rawStat ? [...(owner.rawName ?? owner.path.map(encodeUtf8))] : undefined
  raw?.push(rawStat ?? encodeUtf8(stat))
  return { ...state, path: owner.path, ...(raw && { rawName: raw }) }
}

/** Each parameter is followed by its state: the existing one, then the new one, by name. */
function merge(
  tensors: readonly Tensor[],
  owners: ReadonlyMap<string, Tensor>,
  attached: ReadonlyMap<Tensor, ReadonlyMap<string, Tensor>>,
): Tensor[] {
  const had = new Map<Tensor, Tensor[]>()
  const result: Tensor[] = []
  const lost: Tensor[] = []
  for (const tensor of tensors) {
    if (tensor.role === 'weight') continue
    const place = placeOf(tensor, owners)
    if (!place) lost.push(tensor)
    else if (!attached.get(place.owner)?.has(place.stat)) {
      const known = had.get(place.owner)
      if (known) known.push(tensor)
      else had.set(place.owner, [tensor])
    }
  }
  for (const tensor of tensors) {
    if (tensor.role === 'state') continue
    const added = [...(attached.get(tensor) ?? [])].toSorted(([a], [b]) => compareUtf8(a, b))
    result.push(tensor)
    for (const state of had.get(tensor) ?? []) result.push(state)
    for (const [, state] of added) result.push(state)
  }
  return [...result, ...lost]
}
