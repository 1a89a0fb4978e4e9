import type { CodeLevels } from '../../../engine/rooms/tensor/code-levels.js'
import type { CellFacts } from '../../../engine/rooms/tensor/tiles.js'

/** What the codes stand for in the block of a cell or, without one, in a typical block; the smallest first. */
export function levelsOf({ first, counts, scale, offset }: CodeLevels, facts: CellFacts | undefined): number[] {
  const [factor, shift] = facts?.scale === undefined ? [scale, offset] : [facts.scale, facts.offset ?? 0]
  return counts.map((_, i) => factor * (first + i) + shift).sort((a, b) => a - b)
}
