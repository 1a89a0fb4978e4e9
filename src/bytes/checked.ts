// Sizes and offsets are plain numbers up to 2^53-1, and every sum or product that comes from a file is checked. JavaScript's bit
// operators work on 32 bits, so none of them appear here.

export const maxSafe = Number.MAX_SAFE_INTEGER

/** A u64 as a number, or undefined when no file can hold that much. */
export function toSafe(value: bigint): number | undefined {
  return value >= 0n && value <= 9007199254740991n ? Number(value) : undefined
}

/** A u64 of a file as a number, without a bigint on the way; undefined beyond 2^53-1. */
export function sizeAt(view: DataView, offset: number, littleEndian = true): number | undefined {
  const upper = view.getUint32(littleEndian ? offset + 4 : offset, littleEndian)
  if (upper >= 2 ** 21) return undefined
  const lower = view.getUint32(littleEndian ? offset : offset + 4, littleEndian)
  return upper === 0 ? lower : upper * 2 ** 32 + lower // a product is a float for the engine, and floats are slower
}

/** The same; a bigint beyond 2^53-1. */
export const wideAt = (view: DataView, offset: number, littleEndian = true): number | bigint =>
  sizeAt(view, offset, littleEndian) ?? view.getBigUint64(offset, littleEndian)

/** The sum, or undefined when it is beyond 2^53-1. */
export function checkedAdd(a: number, b: number): number | undefined {
  const sum = a + b
  return sum <= maxSafe ? sum : undefined
}

/** The product, or undefined when it is beyond 2^53-1. */
export function checkedMultiply(a: number, b: number): number | undefined {
  const product = a * b
  return product <= maxSafe ? product : undefined
}

/**
 * The number of elements of a shape, or undefined on overflow. Multiplies left to right without looking ahead for a zero, as the
 * safetensors library does: [2^52, 4, 0] overflows, [0, 2^52, 4] does not. A dimension that a number cannot hold exactly overflows anywhere.
 */
export function countElements(shape: readonly number[]): number | undefined {
  let count = 1
  // Every tensor comes by here, and an iterator for each would be garbage.
  for (let axis = 0; axis < shape.length; axis++) {
    const dim = shape[axis]!
    count *= dim
    if (count > maxSafe || dim > maxSafe) return undefined
  }
  return count
}

/** The same for a tensor that a format has accepted: without elements where a dimension is 0, however large the others are. */
export const elementsIn = (shape: readonly number[]): number | undefined =>
  shape.includes(0) ? 0 : countElements(shape)

/** The next multiple of `alignment` (any positive integer). */
export function alignUp(offset: number, alignment: number): number {
  const rest = offset % alignment
  return rest === 0 ? offset : offset + (alignment - rest)
}

export function isPowerOfTwo(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0 && Number.isInteger(Math.log2(value))
}
