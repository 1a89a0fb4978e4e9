// Size variables that another container has carried.
import type { Part } from '../../model/index.js'

export function restorePart(part: Part): Part | undefined {
  const { kind, content } = part
  if (kind !== 'size-variables' || !(content instanceof Map)) return undefined
  const isWhole = [...content].every(([name, size]) => typeof name === 'string' && isU64(size))
  return isWhole ? part : undefined
}

const isU64 = (value: unknown): boolean => typeof value === 'bigint' && value >= 0n && value < 2n ** 64n
