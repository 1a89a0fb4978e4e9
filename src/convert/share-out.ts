// What is recoded can be made by several threads. That is no gain for everything: bytes that another thread has made have to be copied to
// where this one finds them, and widening values takes less time than that.
import type { DType } from '../dtypes/index.js'
import type { Payload, Tensor } from '../model/index.js'
import { isWorthComputing, type WorkerPool } from '../threads/index.js'
import { isRecoded, pooled } from '../transforms/pooled.js'

/** Nanoseconds for a value, about, by what it becomes: blocks of many values take a search for their scales. */
function valueCost({ kind, group }: DType): number {
  if (kind === 'block') return group.elements >= 256 ? 40 : 1.6
  return group.bytes / group.elements >= 4 ? 0.4 : 0.8
}

const byteCost = (dtype: DType): number => (valueCost(dtype) * dtype.group.elements) / dtype.group.bytes

/** Nanoseconds for a byte on its way from the thread that has made it. */
const handingCost = 0.3

/** How much sooner two threads have a byte than one, and more threads accordingly; less than nothing where they have it later. */
const gainOf = (dtype: DType, threads: number): number => byteCost(dtype) - handingCost / Math.max(1, threads - 1)

export function sharedOut(tensors: readonly Tensor[], pool: WorkerPool | undefined): readonly Tensor[] {
  if (!pool) return tensors
  const gain = tensors.reduce(
    (sum, { data, dtype }) =>
      sum + (data && isMeant(data, dtype, pool) ? data.byteLength * gainOf(dtype, pool.threads) : 0),
    0,
  )
  if (!isWorthComputing(pool, gain)) return tensors
  // What tensors share, they share afterwards, too.
  const made = new Map<Payload, Payload>()
  return tensors.map((tensor: Tensor) => {
    const { data, dtype } = tensor
    if (!data || !isMeant(data, dtype, pool)) return tensor
    const shared = made.get(data) ?? pooled(data, pool, byteCost(dtype))
    made.set(data, shared)
    return { ...tensor, data: shared }
  })
}

const isMeant = (data: Payload, dtype: DType, { threads }: WorkerPool): boolean =>
  isRecoded(data) && gainOf(dtype, threads) > 0
