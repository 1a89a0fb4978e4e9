// Scales for codes of either sign. The extreme value first gets the lowest code, the one without a counterpart; then other scales around that
// one are tried, or single codes are changed, as long as the weighted error shrinks.
import { extremeOf, nearestInt, nearestWithin, negligible } from './arithmetic.js'

const { fround } = Math

/**
 * Fits `count` values from `from` on with codes from -limit to limit - 1, which are stored as 0 to 2 * limit - 1. The weights start at
 * `weightsFrom`; without any, the squares of the values serve. Returns the scale.
 */
export function fitSigned(
  values: Float32Array,
  from: number,
  count: number,
  limit: number,
  weights: Float32Array | undefined,
  weightsFrom: number,
  codes: Int8Array,
  codesFrom: number,
): number {
  const extreme = extremeOf(values, from, count)
  if (Math.abs(extreme) < negligible) {
    codes.fill(0, codesFrom, codesFrom + count)
    return 0
  }
  let scale = 0
  let best = 0
  for (let trial = 0; trial <= 18; trial++) {
    // The obvious scale first, then in tenths around it.
    const tenths = trial === 0 ? 0 : trial < 10 ? trial - 10 : trial - 9
    const factor = fround(-fround(limit + fround(fround(0.1) * tenths)) / extreme)
    let sumXL = 0
    let sumLL = 0
    for (let i = 0; i < count; i++) {
      const value = values[from + i]!
      const code = nearestWithin(fround(factor * value), -limit, limit - 1)
      const weight = weights ? weights[weightsFrom + i]! : fround(value * value)
      sumXL = fround(sumXL + fround(fround(weight * value) * code))
      sumLL = fround(sumLL + fround(fround(weight * code) * code))
    }
    const isBetter = trial === 0 || (sumLL > 0 && fround(sumXL * sumXL) > fround(best * sumLL))
    if (!isBetter) continue
    scale = sumLL === 0 ? 0 : fround(sumXL / sumLL)
    best = fround(scale * sumXL)
    for (let i = 0; i < count; i++) {
      codes[codesFrom + i] = limit + nearestWithin(fround(factor * values[from + i]!), -limit, limit - 1)
    }
  }
  return scale
}

/** As Q3_K does it without importance weights: one scale, then the codes one by one. */
export function fitByCodes(
  values: Float32Array,
  from: number,
  count: number,
  limit: number,
  codes: Int8Array,
  codesFrom: number,
): number {
  const extreme = extremeOf(values, from, count)
  codes.fill(0, codesFrom, codesFrom + count)
  if (Math.abs(extreme) < negligible) return 0
  const factor = fround(-limit / extreme)
  let sumXL = 0
  let sumLL = 0
  for (let i = 0; i < count; i++) {
    const value = values[from + i]!
    const code = nearestWithin(fround(factor * value), -limit, limit - 1)
    const weight = fround(value * value)
    codes[codesFrom + i] = code
    sumXL = fround(sumXL + fround(fround(weight * value) * code))
    sumLL = fround(sumLL + fround(fround(weight * code) * code))
  }
  for (let round = 0, changed = 1; round < 5 && changed > 0; round++) {
    changed = 0
    for (let i = 0; i < count; i++) {
      const value = values[from + i]!
      const code = codes[codesFrom + i]!
      const weight = fround(value * value)
      let otherXL = fround(sumXL - fround(fround(weight * value) * code))
      if (!(otherXL > 0)) continue
      let otherLL = fround(sumLL - fround(fround(weight * code) * code))
      const next = nearestWithin(fround(fround(value * otherLL) / otherXL), -limit, limit - 1)
      if (next === code) continue
      otherXL = fround(otherXL + fround(fround(weight * value) * next))
      otherLL = fround(otherLL + fround(fround(weight * next) * next))
      if (!(otherLL > 0) || !isCloser(otherXL, otherLL, sumXL, sumLL)) continue
      codes[codesFrom + i] = next
      sumXL = otherXL
      sumLL = otherLL
      changed++
    }
  }
  for (let i = 0; i < count; i++) codes[codesFrom + i]! += limit
  return sumLL > 0 ? fround(sumXL / sumLL) : 0
}

/** Whether sums of products and squares leave a smaller error than others. */
const isCloser = (sumXL: number, sumLL: number, thanXL: number, thanLL: number): boolean =>
  fround(fround(sumXL * sumXL) * thanLL) > fround(fround(thanXL * thanXL) * sumLL)

/**
 * Fits values that should be positive with codes from 0 to `limit`. Negative ones get codes that wrap around in eight bits, as in ggml; callers
 * use the scale alone where there can be any.
 */
export function fitPositive(
  values: Float32Array,
  count: number,
  limit: number,
  weights: Float32Array,
  codes: Uint8Array,
): number {
  let max = 0
  for (let i = 0; i < count; i++) if (values[i]! >= max) max = values[i]!
  if (max < negligible) {
    codes.fill(0, 0, count)
    return 0
  }
  let factor = factorOfLeastError(values, count, limit, max, weights, codes)
  let sumXL = 0
  let sumLL = 0
  for (let i = 0; i < count; i++) {
    const code = Math.min(limit, nearestInt(fround(factor * values[i]!)))
    const weight = weights[i]!
    codes[i] = code
    sumXL = fround(sumXL + fround(fround(weight * values[i]!) * code))
    sumLL = fround(sumLL + fround(fround(weight * code) * code))
  }
  for (let round = 0, changed = 1; round < 5 && changed > 0; round++) {
    changed = 0
    for (let i = 0; i < count; i++) {
      const value = values[i]!
      const weight = weights[i]!
      const code = codes[i]!
      let otherXL = fround(sumXL - fround(fround(weight * value) * code))
      let otherLL = fround(sumLL - fround(fround(weight * code) * code))
      if (!(otherXL > 0 && otherLL > 0)) continue
      const next = Math.min(limit, nearestInt(fround(fround(value * otherLL) / otherXL)))
      if (next === code) continue
      otherXL = fround(otherXL + fround(fround(weight * value) * next))
      otherLL = fround(otherLL + fround(fround(weight * next) * next))
      if (!isCloser(otherXL, otherLL, sumXL, sumLL)) continue
      codes[i] = next
      sumXL = otherXL
      sumLL = otherLL
      changed++
    }
  }
  factor = sumLL > 0 ? fround(sumXL / sumLL) : 0
  return factor
}

/** The factor, of nine around the obvious one, whose rounded codes leave the least error. */
function factorOfLeastError(
  values: Float32Array,
  count: number,
  limit: number,
  max: number,
  weights: Float32Array,
  codes: Uint8Array,
): number {
  let best = fround(limit / max)
  let minError = 0
  for (let trial = 0; trial <= 8; trial++) {
    const tenths = trial === 0 ? 0 : trial < 5 ? trial - 5 : trial - 4
    const factor = trial === 0 ? best : fround(fround(fround(fround(0.1) * tenths) + limit) / max)
    const scale = fround(1 / factor)
    let error = 0
    for (let i = 0; i < count; i++) {
      const nearest = nearestInt(fround(factor * values[i]!))
      if (trial === 0) codes[i] = nearest
      const code = trial === 0 ? codes[i]! : Math.min(limit, nearest)
      const rest = fround(values[i]! - fround(scale * code))
      error = fround(error + fround(fround(weights[i]! * rest) * rest))
    }
    if (trial > 0 && !(error < minError)) continue
    minError = error
    best = factor
  }
  return best
}
