// Work and bytes that tensors share: one payload for equal tensors, and threads for what is recoded.
import type { DType } from '../../dtypes/index.js'
import { digestPayloads } from '../../inspect/digest-payloads.js'
import type { Payload, Recipe, Tensor } from '../../model/index.js'
import { recipeOf } from '../../model/payload.js'
import { byteCosts, valueCosts } from '../../threads/costs.js'
import { isWorthComputing, type RunThreads, type WorkerPool } from '../../threads/index.js'
import { type InThreads, isRecoded, late, pooled } from '../../transforms/pooled.js'
import { type ActionLog, noter } from '../actions.js'
import type { ConvertOptions } from '../options.js'
import { type Item, type State, withActions } from './state.js'

/** Only tensors that agree in type and shape with another one are read. */
export async function share(state: State): Promise<State> {
  const { items, options } = state
  const same = options.resolved?.shared ?? (await findSame(items, options))
  const shared = [...items]
  const actions: ActionLog = []
  for (const [i, first] of same) {
    const [item, other] = [items[i], items[first]]
    if (!item?.stored?.data || item.stored.data.byteLength !== other?.stored?.data?.byteLength) continue
    shared[i] = { ...item, stored: { ...item.stored, data: other.stored.data } }
    const reason = 'stored once, as one that has the same bytes'
    const note = noter(actions, 'tensor', item.original.name)
    note('copy', 'none', { requested: true, reason, to: other.original.name })
  }
  return withActions({ ...state, items: shared, resolved: { ...state.resolved, shared: same } }, actions)
}

/** Tensors that have the bytes of an earlier one, with that. */
async function findSame(items: readonly Item[], options: ConvertOptions): Promise<Map<number, number>> {
  const found = new Map<number, number>()
  const groups = groupAlike(items)
  const payloads = new Set(groups.flatMap((group) => group.map((i) => items[i]!.stored!.data!)))
  const digests = await digestsOf([...payloads], options)
  for (const group of groups) {
    const first = new Map<string, number>()
    for (const i of group) {
      const digest = digests.get(items[i]!.stored!.data!)!
      const same = first.get(digest)
      if (same === undefined) first.set(digest, i)
      else found.set(i, same)
    }
  }
  return new Map([...found].sort(([a], [b]) => a - b))
}

async function digestsOf(
  payloads: readonly Payload[],
  { pool, signal, lookAt }: ConvertOptions,
): Promise<ReadonlyMap<Payload, string>> {
  const how = { name: 'tensors', pool, signal }
  if (!lookAt) return digestPayloads(payloads, 'blake3', how)
  const costs = payloads.map(({ byteLength, cost = 0 }) => byteLength * (byteCosts.digestStream + cost))
  const look = async (place: number, stop?: AbortSignal): Promise<string | undefined> => {
    const payload = payloads[place]!
    return (await digestPayloads([payload], 'blake3', { ...how, signal: stop })).get(payload)
  }
  const found = await lookAt('digest', costs, look)
  return new Map(payloads.map((payload, place) => [payload, found[place] as string]))
}

/** The positions of tensors that could have the same bytes. */
function groupAlike(items: readonly Item[]): number[][] {
  const groups = new Map<string, number[]>()
  for (const [i, { stored }] of items.entries()) {
    if (!stored?.data || stored.data.byteLength === 0) continue
    const { dtype, shape, data } = stored
    const key = JSON.stringify([dtype.id, shape, data.byteLength])
    const group = groups.get(key)
    if (group) group.push(i)
    else groups.set(key, [i])
  }
  return [...groups.values()].filter((group) => group.length > 1)
}

/** Nanoseconds per value, by what it becomes. */
function valueCost({ kind, group }: DType): number {
  if (kind === 'block') return group.elements >= 256 ? valueCosts.encodeLongBlock : valueCosts.encodeBlock
  return group.bytes / group.elements >= 4 ? valueCosts.widen : valueCosts.narrow
}

/** The same for the bytes of a payload: those that are made of packed weights take longer. */
function byteCost(dtype: DType, data: Payload): number {
  const values = valueCost(dtype) + (isUnpacked(recipeOf(data)) ? valueCosts.unpack : 0)
  return (values * dtype.group.elements) / dtype.group.bytes
}

const isUnpacked = (recipe: Recipe | undefined): boolean =>
  recipe !== undefined && recipe.kind !== 'range' && (recipe.kind === 'made' || isUnpacked(recipe.tensor.data))

/** How much sooner two threads have a byte than one, and more threads accordingly; less than nothing where they have it later. */
const gainOf = (cost: number, { threads }: WorkerPool): number => cost - byteCosts.handOver / Math.max(1, threads - 1)

/** The tensors, such that the threads that there are when they are written make those that are worth it. */
export function sharedOut(tensors: readonly Tensor[], threads: RunThreads): readonly Tensor[] {
  const isShared = tensors.some(({ data }) => data && isRecoded(data))
  if (!isShared) return tensors
  const gains = new Map<WorkerPool, number>()
  const make: InThreads['make'] = (pool, data, cost) => {
    // Of the result: its tensors are kept anyway.
    const gain = gains.get(pool) ?? totalGain(shared, pool)
    gains.set(pool, gain)
    return gainOf(cost, pool) > 0 && isWorthComputing(pool, gain) ? pooled(data, pool, cost) : undefined
  }
  const byCost = new Map<number, InThreads>()
  const inThreads = (cost: number): InThreads => {
    const known = byCost.get(cost) ?? { threads, cost, make }
    byCost.set(cost, known)
    return known
  }
  // What tensors share, they share afterwards, too.
  const made = new Map<Payload, Payload>()
  const shared = tensors.map((tensor: Tensor) => {
    const { data, dtype } = tensor
    if (!data || !isRecoded(data)) return tensor
    const sharedData = made.get(data) ?? late(data, inThreads(byteCost(dtype, data)))
    made.set(data, sharedData)
    return { ...tensor, data: sharedData }
  })
  return shared
}

function totalGain(tensors: readonly Tensor[], pool: WorkerPool): number {
  let gain = 0
  for (const { data, dtype } of tensors)
    if (data && isRecoded(data)) gain += data.byteLength * Math.max(0, gainOf(byteCost(dtype, data), pool))
  return gain
}
