// Errors and least-squares sums over the values themselves, in f32.
import { clampLanes, roundingBias, sumLanes } from './lanes'

/** The squared error of a block under a scale, with the nearest codes. */
export function errorOf(values: usize, scale: f32, most: f32): f32 {
  const bias = f32x4.splat(roundingBias)
  const low = f32x4.splat(-most)
  const high = f32x4.splat(most)
  const inverse = f32x4.splat(1 / scale)
  let even = f32x4.splat(0)
  let odd = f32x4.splat(0)
  for (let at: usize = 0; at < 128; at += 32) {
    const a = f32x4.mul(v128.load(values + at), inverse)
    const restA = f32x4.sub(a, f32x4.sub(f32x4.add(clampLanes(a, low, high), bias), bias))
    even = f32x4.add(even, f32x4.mul(restA, restA))
    const b = f32x4.mul(v128.load(values + at, 16), inverse)
    const restB = f32x4.sub(b, f32x4.sub(f32x4.add(clampLanes(b, low, high), bias), bias))
    odd = f32x4.add(odd, f32x4.mul(restB, restB))
  }
  return sumLanes(f32x4.add(even, odd)) * (scale * scale)
}

export let products: f32 = 0
export let squares: f32 = 0

/** Σcx and Σcc for the codes that `inverse` gives, in `products` and `squares`. */
export function sumUp(values: usize, inverse: f32, most: f32): void {
  const bias = f32x4.splat(roundingBias)
  const low = f32x4.splat(-most)
  const high = f32x4.splat(most)
  const factor = f32x4.splat(inverse)
  let product = f32x4.splat(0)
  let square = f32x4.splat(0)
  for (let at: usize = 0; at < 128; at += 16) {
    const x = v128.load(values + at)
    const code = f32x4.sub(f32x4.add(clampLanes(f32x4.mul(x, factor), low, high), bias), bias)
    product = f32x4.add(product, f32x4.mul(code, x))
    square = f32x4.add(square, f32x4.mul(code, code))
  }
  products = sumLanes(product)
  squares = sumLanes(square)
}

/** Σxx: the error of a block that becomes all zeros. */
export function squareSum(values: usize): f32 {
  let sum = f32x4.splat(0)
  for (let at: usize = 0; at < 128; at += 16) {
    const x = v128.load(values + at)
    sum = f32x4.add(sum, f32x4.mul(x, x))
  }
  return sumLanes(sum)
}
