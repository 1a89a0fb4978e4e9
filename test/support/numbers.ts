// Made-up numbers and bytes, and a fast comparison.

const bytesOf = (view: ArrayBufferView): Uint8Array => new Uint8Array(view.buffer, view.byteOffset, view.byteLength)

/** The byte where two arrays begin to differ, or -1. Comparing long arrays element by element with a matcher takes seconds. */
export function whereBitsDiffer(a: ArrayBufferView, b: ArrayBufferView): number {
  const [first, second] = [bytesOf(a), bytesOf(b)]
  const length = Math.max(first.length, second.length)
  for (let i = 0; i < length; i++) if (first[i] !== second[i]) return i
  return -1
}

/** The little-endian bytes of f32 values. */
export const floats = (...values: number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer)

/** Values between -1 and 1, the same for a seed. */
export function noise(seed: number, count: number): Float32Array {
  let state = seed | 1
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return state / 2 ** 31
  })
}

/** Bytes without a pattern, the same each time. */
export function sampleBytes(length: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(length / 4))
  for (let i = 0, x = 1; i < words.length; i++) {
    x = (Math.imul(x, 1_664_525) + 1_013_904_223) >>> 0
    words[i] = x
  }
  return new Uint8Array(words.buffer, 0, length)
}
