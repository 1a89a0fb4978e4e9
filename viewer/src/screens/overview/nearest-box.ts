// Moving through a treemap by arrow keys: the nearest box in a direction, measured between middles, where what lies aside counts double.
import type { Box } from 'tare/kit'

export type Direction = 'left' | 'right' | 'up' | 'down'

const middle = ({ x, y, width, height }: Box): readonly [number, number] => [x + width / 2, y + height / 2]

/** The index of the box; `at` where there is none on that side. */
export function nearestBox(boxes: readonly Box[], at: number, direction: Direction): number {
  const from = boxes[at]
  if (!from) return 0
  const [x, y] = middle(from)
  let best = at
  let least = Number.POSITIVE_INFINITY
  for (const [i, box] of boxes.entries()) {
    if (i === at) continue
    const [cx, cy] = middle(box)
    const [dx, dy] = [cx - x, cy - y]
    const along = { left: -dx, right: dx, up: -dy, down: dy }[direction]
    const aside = direction === 'left' || direction === 'right' ? Math.abs(dy) : Math.abs(dx)
    if (along <= 0.5) continue
    const distance = along + 2 * aside
    if (distance < least) [best, least] = [i, distance]
  }
  return best
}
