// Super-scales and sub-scales tried on the values themselves. Scales are magnitudes here: for negative ones, the limits of the codes are mirrored.
import { errorOf, products, squares, sumUp } from './errors'
import { bestSuper, middleSub, storableF16 } from './estimate-supers'
import { f16Value, truncatedF16 } from './f16-scales'
import { otherSubTable, plainTable, scaleTable, squareTable, subTable } from './memory-map'
import { subScaleFor } from './reference'

function scaleWith(superScale: f32, sub: f32): f32 {
  return superScale * (sub / 32)
}

/** Writes the best sub-scale of each block for a super-scale to `subTable`. Returns the error. */
function chooseSubs(values: usize, count: i32, superScale: f32, side: usize, limits: usize): f32 {
  let total: f32 = 0
  for (let block = 0; block < count; block++) {
    const at = <usize>block * 4
    const scale = load<f32>(scaleTable + side + at)
    const square = load<f32>(squareTable + at)
    let sub: f32 = 0
    let error = square
    if (scale > 0) {
      const middle = middleSub(scale * (32 / superScale))
      sub = middle
      error = errorOf(values + 32 * at, scaleWith(superScale, middle), limits)
      const below = middle === 1 ? square : errorOf(values + 32 * at, scaleWith(superScale, middle - 1), limits)
      if (below < error) {
        error = below
        sub = middle - 1
      }
      const above = errorOf(values + 32 * at, scaleWith(superScale, middle + 1), limits)
      if (above < error) {
        error = above
        sub = middle + 1
      }
    }
    store<f32>(subTable + at, sub)
    total += error
  }
  return total
}

/** The super-scale that suits the codes of the chosen sub-scales; 0 when all codes are zeros. */
function refinedSuper(values: usize, count: i32, superScale: f32, limits: usize): f32 {
  let product: f32 = 0
  let square: f32 = 0
  for (let block = 0; block < count; block++) {
    const sub = load<f32>(subTable + 4 * block)
    if (sub === 0) continue
    sumUp(values + 128 * block, 1 / scaleWith(superScale, sub), limits)
    const weight: f32 = sub / 32
    product += weight * products
    square += weight * weight * squares
  }
  return square === 0 ? <f32>0 : product / square
}

/** The error of the sub-scales in a table. */
function errorWith(values: usize, count: i32, superScale: f32, subs: usize, limits: usize): f32 {
  let total: f32 = 0
  for (let block = 0; block < count; block++) {
    const sub = load<f32>(subs + 4 * block)
    if (sub === 0) total += load<f32>(squareTable + 4 * block)
    else total += errorOf(values + 128 * block, scaleWith(superScale, sub), limits)
  }
  return total
}

/** The super-scale that `searchSide` or `tryReference` found. */
export let foundSuper: f32 = 0

/** The best super-scale, in `foundSuper`, and sub-scales, in `subTable`, for codes between limits. Returns the error. */
export function searchSide(bits: i32, values: usize, count: i32, side: usize, limits: usize): f32 {
  foundSuper = bestSuper(bits, count, side)
  const error = chooseSubs(values, count, foundSuper, side, limits)
  const refined = refinedSuper(values, count, foundSuper, limits)
  if (refined === 0) return error
  const other = f16Value(storableF16(refined))
  const otherError = errorWith(values, count, other, subTable, limits)
  if (otherError >= error) return error
  foundSuper = other
  return otherError
}

/** Takes the reference's choice if its error is below the given one: scales from the largest magnitudes, the largest of which is `plain`. */
export function tryReference(values: usize, count: i32, plain: f32, limits: usize, error: f32): bool {
  const cut = truncatedF16(plain)
  if (cut === 0 || cut >= 0x7c00) return false
  for (let block = 0; block < count; block++) {
    const sub = subScaleFor(load<f32>(plainTable + 4 * block), plain)
    store<f32>(otherSubTable + 4 * block, <f32>sub)
  }
  if (errorWith(values, count, f16Value(cut), otherSubTable, limits) >= error) return false
  foundSuper = f16Value(cut)
  memory.copy(subTable, otherSubTable, 32)
  return true
}
