// What is recoded can be made by several threads. That is no gain for everything: bytes that another thread has made have to be copied to
// where this one finds them, and widening values takes less time than that.
import type { DType } from '../../dtypes/index.js'
import type { Payload, Tensor } from '../../model/index.js'
import { byteCosts, valueCosts } from '../../threads/costs.js'
import { isWorthComputing, type RunThreads, type WorkerPool } from '../../threads/index.js'
import { isRecoded, late, pooled } from '../../transforms/pooled.js'

/** Nanoseconds per value, by what it becomes. */
function valueCost({ kind, group }: DType): number {
  if (kind === 'block') return group.elements >= 256 ? valueCosts.encodeLongBlock : valueCosts.encodeBlock
  return group.bytes / group.elements >= 4 ? valueCosts.widen : valueCosts.narrow
}

const byteCost = (dtype: DType): number => (valueCost(dtype) * dtype.group.elements) / dtype.group.bytes

/** How much sooner two threads have a byte than one, and more threads accordingly; less than nothing where they have it later. */
const gainOf = (dtype: DType, { threads }: WorkerPool): number =>
  byteCost(dtype) - byteCosts.handOver / Math.max(1, threads - 1)

/** The tensors, such that the threads that there are when they are written make those that are worth it. */
export function sharedOut(tensors: readonly Tensor[], threads: RunThreads): readonly Tensor[] {
  const recoded = tensors.flatMap(({ data, dtype }) => (data && isRecoded(data) ? [{ data, dtype }] : []))
  if (recoded.length === 0) return tensors
  const worth = new Map<WorkerPool, boolean>()
  const isWorthIt = (pool: WorkerPool): boolean => {
    const known = worth.get(pool) ?? isWorthComputing(pool, totalGain(recoded, pool))
    worth.set(pool, known)
    return known
  }
  // What tensors share, they share afterwards, too.
  const made = new Map<Payload, Payload>()
  return tensors.map((tensor: Tensor) => {
    const { data, dtype } = tensor
    if (!data || !isRecoded(data)) return tensor
    const inThreads = (pool: WorkerPool): Payload | undefined =>
      gainOf(dtype, pool) > 0 && isWorthIt(pool) ? pooled(data, pool, byteCost(dtype)) : undefined
    const shared = made.get(data) ?? late(data, threads, inThreads)
    made.set(data, shared)
    return { ...tensor, data: shared }
  })
}

function totalGain(recoded: readonly { data: Payload; dtype: DType }[], pool: WorkerPool): number {
  let gain = 0
  for (const { data, dtype } of recoded) gain += data.byteLength * Math.max(0, gainOf(dtype, pool))
  return gain
}
