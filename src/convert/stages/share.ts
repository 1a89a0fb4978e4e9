// Tensors with the same type, shape and bytes are given one payload, for targets that store a payload once however many tensors have it.

import { digestPayload } from '../../inspect/digest-payloads.js'
import { type ActionLog, noter } from '../actions.js'
import { type Item, type State, withActions } from './state.js'

/** Only tensors that agree in type and shape with another one are read. */
export async function share(state: State): Promise<State> {
  const { items, write, options } = state
  if (!options.dedup || !write.sharesPayloads) return state
  const shared = [...items]
  const actions: ActionLog = []
  for (const group of groupAlike(items)) {
    const first = new Map<string, Item>()
    for (const i of group) {
      const item = items[i]!
      const digest = await digestPayload(item.stored!.data!, 'blake3', options.signal)
      const same = first.get(digest)
      if (!same) {
        first.set(digest, item)
        continue
      }
      shared[i] = { ...item, stored: { ...item.stored!, data: same.stored!.data } }
      const reason = 'stored once, as one that has the same bytes'
      const note = noter(actions, 'tensor', item.original.name)
      note('copy', 'none', { requested: true, reason, to: same.original.name })
    }
  }
  return withActions({ ...state, items: shared }, actions)
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
