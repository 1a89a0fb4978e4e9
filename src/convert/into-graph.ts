// The weights of one model in the graph of another, tensor by tensor under the same name. What the graph has and the weights do not (shapes,
// tables, constants) stays as it is.
import { failWith, writeCodes } from '../errors/index.js'
import type { Model, Tensor } from '../model/index.js'
import { rowMajor } from '../transforms/reorder.js'
import { parseRename } from '../transforms/select.js'
import { type ActionLog, noter, type PlanAction } from './actions.js'

export interface IntoGraphOptions {
  /** Rules and names that turn the names of the weights into those of the graph. */
  readonly rename?: readonly string[] | undefined
  readonly renameMap?: ReadonlyMap<string, string> | undefined
}

export interface IntoGraph {
  /** The graph with the weights, to be converted into its own format. */
  readonly model: Model
  /** Weights that the graph has no place for. */
  readonly actions: readonly PlanAction[]
  /** How many tensors of the graph have new data. */
  readonly count: number
}

export function putIntoGraph(graph: Model, weights: Model, options: IntoGraphOptions = {}): IntoGraph {
  const byName = namedForGraph(weights.tensors, options)
  const actions: ActionLog = []
  let count = 0
  const tensors = graph.tensors.map((place): Tensor => {
    const found = byName.get(place.name)
    if (!found) return place
    byName.delete(place.name)
    count++
    return putInto(place, found, weights)
  })
  if (count === 0) {
    const [a, b] = [graph, weights].map(({ tensors: all }) => JSON.stringify(all[0]?.name ?? ''))
    const message = `no tensor has a name that the graph knows; they are called like ${b} here and like ${a} there`
    failWith(writeCodes['name-unsupported'], { file: weights.files[0]?.name ?? 'weights', message })
  }
  for (const { name } of byName.values())
    noter(actions, 'tensor', name)('drop', 'content', { reason: 'the graph has no tensor of this name' })
  const damageFinders = [...(graph.damageFinders ?? []), ...(weights.damageFinders ?? [])]
  const model = { ...graph, tensors, files: [...graph.files, ...weights.files], damageFinders }
  return { model, actions, count }
}

function namedForGraph(tensors: readonly Tensor[], { rename = [], renameMap }: IntoGraphOptions): Map<string, Tensor> {
  const rules = rename.map(parseRename)
  const byName = new Map<string, Tensor>()
  for (const tensor of tensors) {
    const { name } = tensor
    byName.set(renameMap?.get(name) ?? rules.reduce((old, rule) => rule(old), name), tensor)
  }
  return byName
}

/** The place with other data; what the format says about it stays. */
function putInto(place: Tensor, found: Tensor, { files }: Model): Tensor {
  const { shape } = found
  if (shape.length !== place.shape.length || shape.some((dim, axis) => dim !== place.shape[axis])) {
    const isTurned = shape.length === 2 && shape[0] === place.shape[1] && shape[1] === place.shape[0]
    const hint = isTurned ? '; the graph has it transposed' : ''
    const message = `it is [${shape.join(', ')}], and the graph computes with [${place.shape.join(', ')}]${hint}`
    failWith(writeCodes['size-mismatch'], { file: files[0]?.name ?? 'weights', path: found.name, message })
  }
  const { dtype, encoding, quant, data } = rowMajor(found)
  return { ...place, dtype, encoding, quant, data }
}
