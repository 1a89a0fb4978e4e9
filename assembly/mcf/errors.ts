// Errors and least-squares sums over the values themselves, in f32. Loops over the eight vectors of a block are unrolled by hand: in a loop,
// V8 would rebuild the constants for each vector.
import { clampLanes, largestCode, roundingBias, sumLanes } from './lanes'
import { mirroredLimits, positiveLimits, symmetricLimits } from './memory-map'

/** Stores the codes between which values are rounded, four times each: see starts.ts for why they go through memory. */
export function prepareLimits(bits: i32): void {
  const maxCode = largestCode(bits)
  putLimits(symmetricLimits, -maxCode, maxCode)
  putLimits(positiveLimits, -maxCode - 1, maxCode)
  putLimits(mirroredLimits, -maxCode, maxCode + 1)
}

function putLimits(at: usize, low: f32, high: f32): void {
  v128.store(at, f32x4.splat(low))
  v128.store(at, f32x4.splat(high), 16)
}

function squaredRest(values: usize, inverse: v128, low: v128, high: v128): v128 {
  const bias = f32x4.splat(roundingBias)
  const exact = f32x4.mul(v128.load(values), inverse)
  const rest = f32x4.sub(exact, f32x4.sub(f32x4.add(clampLanes(exact, low, high), bias), bias))
  return f32x4.mul(rest, rest)
}

/** The squared error of a block under a scale, with the nearest codes between limits. */
export function errorOf(values: usize, scale: f32, limits: usize): f32 {
  const low = v128.load(limits)
  const high = v128.load(limits, 16)
  const inverse = f32x4.splat(1 / scale)
  let even = squaredRest(values, inverse, low, high)
  let odd = squaredRest(values + 16, inverse, low, high)
  even = f32x4.add(even, squaredRest(values + 32, inverse, low, high))
  odd = f32x4.add(odd, squaredRest(values + 48, inverse, low, high))
  even = f32x4.add(even, squaredRest(values + 64, inverse, low, high))
  odd = f32x4.add(odd, squaredRest(values + 80, inverse, low, high))
  even = f32x4.add(even, squaredRest(values + 96, inverse, low, high))
  odd = f32x4.add(odd, squaredRest(values + 112, inverse, low, high))
  return sumLanes(f32x4.add(even, odd)) * (scale * scale)
}

export let products: f32 = 0
export let squares: f32 = 0

function codesOf(values: v128, factor: v128, low: v128, high: v128): v128 {
  const bias = f32x4.splat(roundingBias)
  return f32x4.sub(f32x4.add(clampLanes(f32x4.mul(values, factor), low, high), bias), bias)
}

/** Σcx and Σcc for the codes that `inverse` gives, in `products` and `squares`. */
export function sumUp(values: usize, inverse: f32, limits: usize): void {
  const low = v128.load(limits)
  const high = v128.load(limits, 16)
  const factor = f32x4.splat(inverse)
  let x = v128.load(values)
  let code = codesOf(x, factor, low, high)
  let product = f32x4.mul(code, x)
  let square = f32x4.mul(code, code)
  x = v128.load(values, 16)
  code = codesOf(x, factor, low, high)
  product = f32x4.add(product, f32x4.mul(code, x))
  square = f32x4.add(square, f32x4.mul(code, code))
  x = v128.load(values, 32)
  code = codesOf(x, factor, low, high)
  product = f32x4.add(product, f32x4.mul(code, x))
  square = f32x4.add(square, f32x4.mul(code, code))
  x = v128.load(values, 48)
  code = codesOf(x, factor, low, high)
  product = f32x4.add(product, f32x4.mul(code, x))
  square = f32x4.add(square, f32x4.mul(code, code))
  x = v128.load(values, 64)
  code = codesOf(x, factor, low, high)
  product = f32x4.add(product, f32x4.mul(code, x))
  square = f32x4.add(square, f32x4.mul(code, code))
  x = v128.load(values, 80)
  code = codesOf(x, factor, low, high)
  product = f32x4.add(product, f32x4.mul(code, x))
  square = f32x4.add(square, f32x4.mul(code, code))
  x = v128.load(values, 96)
  code = codesOf(x, factor, low, high)
  product = f32x4.add(product, f32x4.mul(code, x))
  square = f32x4.add(square, f32x4.mul(code, code))
  x = v128.load(values, 112)
  code = codesOf(x, factor, low, high)
  product = f32x4.add(product, f32x4.mul(code, x))
  square = f32x4.add(square, f32x4.mul(code, code))
  products = sumLanes(product)
  squares = sumLanes(square)
}

function squared(values: usize): v128 {
  const x = v128.load(values)
  return f32x4.mul(x, x)
}

/** Σxx: the error of a block that becomes all zeros. */
export function squareSum(values: usize): f32 {
  let sum = f32x4.add(squared(values), squared(values + 16))
  sum = f32x4.add(sum, squared(values + 32))
  sum = f32x4.add(sum, squared(values + 48))
  sum = f32x4.add(sum, squared(values + 64))
  sum = f32x4.add(sum, squared(values + 80))
  sum = f32x4.add(sum, squared(values + 96))
  return sumLanes(f32x4.add(sum, squared(values + 112)))
}
