// The search for good scales. The obvious scale maps the largest value to the largest code; a slightly smaller or larger one often fits
// the rest better. So eight to twenty scales around it are tried: each gives codes by rounding, and for these codes the best scale
// (and minimum) follows by least squares. The trial with the smallest error wins. ggml lets large values count more; here all count the same,
// since nothing is known about what a value will be multiplied with, and the squared error of the products is then the least.

export interface ScaleAndMin {
  scale: number
  /** What is subtracted: never negative. */
  min: number
  /** The squared error that remains, and a little for what rounding always leaves. */
  error: number
}

/** How the scales to try are laid out: from `limit + start` steps over the range on, `step` apart. `count` is the number of the last one. */
export interface Trials {
  readonly limit: number
  readonly start: number
  readonly step: number
  readonly count: number
  /** Where one value lies far from the others, places between codes are tried, too: this many quarters of a step down and up. */
  readonly quarters: number
}

/** Of the sum of squares. */
const rounding = 1e-7

const sums = { x: 0, gain: 0, scale: 0, offset: 0 }

/** The scale s and minimum m for which s * code - m comes closest to the values, with codes from 0 to `limit`. */
export function fitScaleAndMin(
  values: Float32Array,
  from: number,
  count: number,
  trials: Trials,
  result: ScaleAndMin,
): void {
  let low = 0
  let high = values[from]!
  sums.x = 0
  let sumXX = 0
  for (let i = 0; i < count; i++) {
    const value = values[from + i]!
    if (value < low) low = value
    if (value > high) high = value
    sums.x += value
    sumXX += value * value
  }
  result.scale = 0
  result.min = -low
  result.error = sumXX * rounding
  if (!(high > low)) return
  result.scale = (high - low) / trials.limit
  let bestGain = Number.NEGATIVE_INFINITY
  // Trials that differ in rounding errors only count as equal, so that sub-blocks of a kind get the same scale.
  let needed = bestGain
  for (let trial = 0; trial <= trials.count; trial++) {
    const factor = (trials.limit + trials.start + trials.step * trial) / (high - low)
    if (!tryCodes(values, from, count, trials.limit, factor, low) || sums.gain <= needed) continue
    bestGain = sums.gain
    needed = bestGain + Math.abs(bestGain) * 1e-9
    result.scale = sums.scale
    result.min = -sums.offset
  }
  // One value stretches the steps until the others take two or three codes, and where these lie decides about the error.
  const isStretched = (high - low) * (high - low) > sumXX - (sums.x * sums.x) / count
  for (let quarter = -trials.quarters; isStretched && quarter <= trials.quarters; quarter++) {
    if (quarter === 0) continue
    for (let trial = 0; trial <= trials.count; trial += 4) {
      const factor = (trials.limit + trials.start + trials.step * trial) / (high - low)
      const shifted = low + quarter / (4 * factor)
      if (!tryCodes(values, from, count, trials.limit, factor, shifted) || sums.gain <= needed) continue
      bestGain = sums.gain
      needed = bestGain + Math.abs(bestGain) * 1e-9
      result.scale = sums.scale
      result.min = -sums.offset
    }
  }
  // Better codes for the scale and minimum found, better scale and minimum for these, until nothing improves.
  for (let round = 0; round < 4; round++) {
    if (!tryCodes(values, from, count, trials.limit, 1 / result.scale, -result.min)) break
    if (sums.gain <= bestGain + Math.abs(bestGain) * 1e-9) break
    bestGain = sums.gain
    result.scale = sums.scale
    result.min = -sums.offset
  }
  result.error += Math.max(0, sumXX - bestGain)
}

/** Rounds (value - low) * factor to codes and solves for the best scale and offset. False when these codes determine neither. */
function tryCodes(
  values: Float32Array,
  from: number,
  count: number,
  limit: number,
  factor: number,
  low: number,
): boolean {
  let sumL = 0
  let sumLL = 0
  let sumXL = 0
  for (let i = 0; i < count; i++) {
    const value = values[from + i]!
    let code = (factor * (value - low) + 0.5) | 0
    if (code < 0) code = 0
    else if (code > limit) code = limit
    sumL += code
    sumLL += code * code
    sumXL += code * value
  }
  const determinant = count * sumLL - sumL * sumL
  sums.scale = (count * sumXL - sums.x * sumL) / determinant
  sums.offset = (sumLL * sums.x - sumL * sumXL) / determinant
  // Codes that are all the same determine one of the two.
  if (!(determinant > 0) || sums.offset > 0) {
    sums.offset = 0
    sums.scale = sumXL / sumLL
  }
  sums.gain = sums.scale * sumXL + sums.offset * sums.x
  return sums.scale > 0
}

/** The squared error of rounding to the codes from 0 to `limit`. */
export function errorOf(
  values: Float32Array,
  from: number,
  count: number,
  scale: number,
  min: number,
  limit: number,
): number {
  const factor = scale === 0 ? 0 : 1 / scale
  let error = 0
  for (let i = 0; i < count; i++) {
    const shifted = values[from + i]! + min
    let code = (shifted * factor + 0.5) | 0
    if (code < 0) code = 0
    else if (code > limit) code = limit
    const rest = shifted - scale * code
    error += rest * rest
  }
  return error
}
