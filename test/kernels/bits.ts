// Comparing long arrays element by element with a matcher takes seconds.

const bytesOf = (view: ArrayBufferView): Uint8Array => new Uint8Array(view.buffer, view.byteOffset, view.byteLength)

/** The byte where two arrays begin to differ, -1 where they do not. */
export function whereBitsDiffer(a: ArrayBufferView, b: ArrayBufferView): number {
  const [first, second] = [bytesOf(a), bytesOf(b)]
  const length = Math.max(first.length, second.length)
  for (let i = 0; i < length; i++) if (first[i] !== second[i]) return i
  return -1
}
