// Sums that stay accurate over billions of values. Kernels add blocks of 1024 values in a few plain accumulators and pass the total of each
// block to a compensated sum, which keeps what every addition loses. The error is that of one block: below 1e-13, relative.
export const blockCount = 1024

export interface Sum {
  total: number
  lost: number
}

export const createSum = (): Sum => ({ total: 0, lost: 0 })

export function addTo(sum: Sum, value: number): void {
  const total = sum.total + value
  sum.lost += Math.abs(sum.total) >= Math.abs(value) ? sum.total - total + value : value - total + sum.total
  sum.total = total
}

export const sumOf = (sum: Sum): number => sum.total + sum.lost

/**
 * A power of two that brings numbers between `low` and `high`, and their distances, to a size where squares and quotients neither
 * overflow nor vanish; 1 for all ordinary ranges.
 */
export function scaleFor(low: number, high: number): number {
  const range = high - low
  if (range === 0 || (range > 2 ** -400 && range < 2 ** 400)) return 1
  return range > 1 ? 2 ** -640 : 2 ** 640
}
