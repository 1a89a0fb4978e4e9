// Tensors with the same type, shape and bytes are given one payload, for targets that store a payload once however many tensors have it.

import { digestPayload } from '../inspect/digest-payloads.js'
import type { Tensor } from '../model/index.js'
import { type ActionLog, noter } from './action-log.js'

/** Only tensors that agree in type and shape with another one are read. `names` are what they are called in the plan. */
export async function sharePayloads(
  tensors: readonly Tensor[],
  names: readonly string[],
  actions: ActionLog,
  signal: AbortSignal | undefined,
): Promise<Tensor[]> {
  const shared = [...tensors]
  for (const group of groupAlike(tensors)) {
    const first = new Map<string, number>()
    for (const i of group) {
      const tensor = tensors.at(i)!
      const digest = await digestPayload(tensor.data!, 'blake3', signal)
      const same = first.get(digest)
      if (same === undefined) {
        first.set(digest, i)
        continue
      }
      shared[i] = { ...tensor, data: tensors.at(same)!.data }
      const reason = 'stored once, as one that has the same bytes'
      noter(actions, 'tensor', names.at(i)!)('copy', 'none', { requested: true, reason, to: names.at(same)! })
    }
  }
  return shared
}

/** The positions of tensors that could have the same bytes. */
function groupAlike(tensors: readonly Tensor[]): number[][] {
  const groups = new Map<string, number[]>()
  for (const [i, { dtype, shape, data }] of tensors.entries()) {
    if (!data || data.byteLength === 0) continue
    const key = JSON.stringify([dtype.id, shape, data.byteLength])
    const group = groups.get(key)
    if (group) group.push(i)
    else groups.set(key, [i])
  }
  return [...groups.values()].filter((group) => group.length > 1)
}
