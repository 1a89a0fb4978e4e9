// Where two byte arrays first differ. An environment with something faster than a loop registers it.

type ByteEquality = (a: Uint8Array, b: Uint8Array) => boolean

let nativeEquality: ByteEquality | undefined

/** Replaces the test for equality in this process by a faster one. */
export function registerByteEquality(isEqual: ByteEquality): void {
  nativeEquality = isEqual
}

/** The index of the first byte that differs, or -1. Only the length of the shorter one is compared. */
export function firstDifference(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.byteLength, b.byteLength)
  if (nativeEquality?.(a.subarray(0, length), b.subarray(0, length))) return -1
  const words = Math.floor(length / 32) * 8
  const equal = words === 0 ? 0 : equalWords(wordsOf(a, words), wordsOf(b, words))
  for (let i = equal * 4; i < length; i++) if (a[i] !== b[i]) return i
  return -1
}

function wordsOf(bytes: Uint8Array, count: number): Int32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice(0, count * 4)
  return new Int32Array(aligned.buffer, aligned.byteOffset, count)
}

/** How many leading words are equal, in steps of eight. */
function equalWords(x: Int32Array, y: Int32Array): number {
  for (let i = 0; i < x.length; i += 8) {
    const difference =
      (x[i]! ^ y[i]!) |
      (x[i + 1]! ^ y[i + 1]!) |
      (x[i + 2]! ^ y[i + 2]!) |
      (x[i + 3]! ^ y[i + 3]!) |
      (x[i + 4]! ^ y[i + 4]!) |
      (x[i + 5]! ^ y[i + 5]!) |
      (x[i + 6]! ^ y[i + 6]!) |
      (x[i + 7]! ^ y[i + 7]!)
    if (difference !== 0) return i
  }
  return x.length
}
