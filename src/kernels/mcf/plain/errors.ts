// Errors and least-squares sums in plain TypeScript. Sums of f32 depend on their order, so this follows the four lanes of the compiled kernels
// and adds them as (0 + 2) + (1 + 3).

import { blockValues, type Limits } from '../tile.js'
import { clamp, roundEven } from './pack.js'

const { fround } = Math

type Lanes = [number, number, number, number]

const sumLanes = (lanes: Lanes): number => fround(fround(lanes[0] + lanes[2]) + fround(lanes[1] + lanes[3]))

function addTo(lanes: Lanes, index: number, value: number): void {
  const lane = index % 4
  lanes[lane] = fround(lanes[lane]! + fround(value))
}

/** The squared error of a block under a scale, with the nearest codes. */
export function errorOf(limits: Limits, values: Float32Array, block: number, scale: number): number {
  const inverse = fround(1 / scale)
  const even: Lanes = [0, 0, 0, 0]
  const odd: Lanes = [0, 0, 0, 0]
  for (let i = 0; i < blockValues; i++) {
    const exact = fround(values[block * blockValues + i]! * inverse)
    const rest = fround(exact - roundEven(clamp(exact, limits)))
    addTo(i % 8 < 4 ? even : odd, i, rest * rest)
  }
  const sum = even.map((lane, i) => fround(lane + odd[i]!)) as Lanes
  return fround(sumLanes(sum) * fround(scale * scale))
}

/** Σcx and Σcc for the codes that `inverse` gives. */
export function sumUp(
  limits: Limits,
  values: Float32Array,
  block: number,
  inverse: number,
): { readonly product: number; readonly square: number } {
  const products: Lanes = [0, 0, 0, 0]
  const squares: Lanes = [0, 0, 0, 0]
  for (let i = 0; i < blockValues; i++) {
    const x = values[block * blockValues + i]!
    const code = roundEven(clamp(fround(x * inverse), limits))
    addTo(products, i, code * x)
    addTo(squares, i, code * code)
  }
  return { product: sumLanes(products), square: sumLanes(squares) }
}

/** Σxx: the error of a block that becomes all zeros. */
export function squareSum(values: Float32Array, block: number): number {
  const sum: Lanes = [0, 0, 0, 0]
  for (let i = 0; i < blockValues; i++) addTo(sum, i, values[block * blockValues + i]! ** 2)
  return sumLanes(sum)
}
