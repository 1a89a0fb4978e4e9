import { type ByteSource, type NoStats, statsOfTensors, type Tensor, type TensorStats } from '../../kit-node.js'
import type { Context } from '../context.js'
import { assertUnchanged } from './run-inputs.js'
import type { Tensors } from './tensors.js'

export interface Measured {
  readonly tensor: Tensor
  readonly stats: TensorStats | NoStats
}

/** The statistics of all tensors, with one progress bar over all of them. */
export async function measureTensors(
  context: Context,
  source: ByteSource,
  tensors: Tensors,
  options: { readonly bins?: number; readonly exact?: boolean },
): Promise<Measured[]> {
  const { console, signal, pool } = context
  const threads = { signal, pool, onProgress: console.progress.update }
  const measured: Measured[] = []
  for await (const stats of statsOfTensors(tensors, { ...options, ...threads })) {
    measured.push({ tensor: tensors.at(measured.length)!, stats })
  }
  await assertUnchanged([source])
  return measured
}
