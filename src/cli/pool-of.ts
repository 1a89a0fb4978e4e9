import { openPool, type WorkerPool } from '../node.js'
import type { Context } from './context.js'

const pools = new WeakMap<AbortSignal, { readonly pool: WorkerPool | undefined }>()

/** The threads of this command: the same for all of its work. None is started before there is something to do for it. */
export function poolOf({ signal, threads }: Context): WorkerPool | undefined {
  const known = pools.get(signal) ?? { pool: openPool({ threads }) }
  pools.set(signal, known)
  return known.pool
}
