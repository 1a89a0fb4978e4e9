// Tensors by name.
import type { Tensor } from '../../../model/index.js'

const positions = new WeakMap<readonly Tensor[], ReadonlyMap<string, number>>()

export function positionOf(tensors: readonly Tensor[], name: string): number | undefined {
  const known = positions.get(tensors) ?? firstPositions(tensors)
  positions.set(tensors, known)
  return known.get(name)
}

function firstPositions(tensors: readonly Tensor[]): Map<string, number> {
  const found = new Map<string, number>()
  for (const [i, { name }] of tensors.entries()) if (!found.has(name)) found.set(name, i)
  return found
}
