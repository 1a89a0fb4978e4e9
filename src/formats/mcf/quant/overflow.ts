import type { Method } from '../../../dtypes/mcf/layout.js'
import type { QuantInfo } from '../../../dtypes/mcf/types.js'
import type { Tensor } from '../../../model/index.js'

/** Whether the recorded range needs a scale that f16 does not have: then infinity is the writer's doing and no damage. */
export function explainsOverflow(tensor: Tensor, { bits }: Method): boolean {
  const info = tensor.extra?.quantInfo as QuantInfo | undefined
  if (!info) return false
  const largest = Math.max(Math.abs(Number(info.minClip)), Math.abs(Number(info.maxClip)))
  return largest / (2 ** (bits - 1) - 1) > 65504
}
