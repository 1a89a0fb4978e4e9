// Rectangles whose areas are proportional to sizes and that are as close to squares as a simple rule makes them: items are put into a strip
// along the shorter side as long as that makes the worst of them more square; then the next strip begins in what is left.

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** One box for each size, in the given order; sizes of 0 get boxes without area. Sort descending for the best shapes. */
export function squarify(sizes: readonly number[], box: Box): Box[] {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const boxes: Box[] = []
  let rest = box
  let left = total
  for (let start = 0; start < sizes.length; ) {
    const area = rest.width * rest.height
    const perUnit = left > 0 ? area / left : 0
    const side = Math.min(rest.width, rest.height)
    let end = start + 1
    let sum = sizes[start]!
    let [smallest, largest] = [sum, sum]
    let worst = worstRatio(smallest, largest, sum, perUnit, side)
    while (end < sizes.length) {
      const size = sizes[end]!
      const ratio = worstRatio(Math.min(smallest, size), Math.max(largest, size), sum + size, perUnit, side)
      if (ratio > worst) break
      ;[worst, sum, smallest, largest] = [ratio, sum + size, Math.min(smallest, size), Math.max(largest, size)]
      end++
    }
    rest = placeStrip(sizes.slice(start, end), sum, left, rest, boxes)
    left -= sum
    start = end
  }
  return boxes
}

function worstRatio(smallest: number, largest: number, sum: number, perUnit: number, side: number): number {
  const area = sum * perUnit
  if (area === 0 || smallest === 0) return Number.POSITIVE_INFINITY
  const scale = (side * side) / (area * area)
  return Math.max(scale * largest * perUnit, 1 / (scale * smallest * perUnit))
}

/** Adds the boxes of a strip, and returns what is left beside it. */
function placeStrip(sizes: readonly number[], sum: number, left: number, rest: Box, boxes: Box[]): Box {
  const { x, y, width, height } = rest
  const share = left > 0 ? sum / left : 0
  const isTall = width >= height
  const depth = (isTall ? width : height) * share
  let at = 0
  for (const size of sizes) {
    const length = (isTall ? height : width) * (sum > 0 ? size / sum : 0)
    boxes.push(isTall ? { x, y: y + at, width: depth, height: length } : { x: x + at, y, width: length, height: depth })
    at += length
  }
  return isTall
    ? { x: x + depth, y, width: Math.max(0, width - depth), height }
    : { x, y: y + depth, width, height: Math.max(0, height - depth) }
}
