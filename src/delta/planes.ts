// Two related sets of weights differ in the low bits of their elements, and hardly in the high ones. Behind XOR that leaves elements like
// 00 00 1f a2; a compressor finds more when first bytes lie beside first bytes: that is what byte planes are. They are made for a block at
// a time, so that a delta is made and applied as a stream.

/** Bytes that are rearranged together: a multiple of every element size. */
export const planeBlock = 1 << 20

/** First bytes of all elements, then second ones, and so on. */
export function toPlanes(from: Uint8Array, to: Uint8Array, width: number): void {
  const count = from.byteLength / width
  for (let plane = 0; plane < width; plane++) {
    const start = plane * count
    for (let i = 0, at = plane; i < count; i++, at += width) to[start + i] = from[at]!
  }
}

export function fromPlanes(from: Uint8Array, to: Uint8Array, width: number): void {
  const count = from.byteLength / width
  for (let plane = 0; plane < width; plane++) {
    const start = plane * count
    for (let i = 0, at = plane; i < count; i++, at += width) to[at] = from[start + i]!
  }
}
