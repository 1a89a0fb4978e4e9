/** The position of the first of `count` ascending numbers that is not below `limit`; `count` when all are. */
export function lowerBound(count: number, numberAt: (i: number) => number, limit: number): number {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (numberAt(middle) < limit) low = middle + 1
    else high = middle
  }
  return low
}
