// Codes of a few bits, one after the other from the lowest bit of the first byte on. Words are little-endian, so that codes which cross the
// end of a word (3, 5 and 6 bits) need no care of their own.

/** Fills `codes` from the bits that begin at byte `start`. */
export function readCodes(bytes: Uint8Array, start: number, bits: number, codes: Uint8Array): void {
  if (bits === 8) {
    codes.set(bytes.subarray(start, start + codes.length))
    return
  }
  if (bits === 4) {
    for (let i = 0, at = start; i < codes.length; i += 2, at++) {
      codes[i] = bytes[at]! & 15
      codes[i + 1] = bytes[at]! >>> 4
    }
    return
  }
  const mask = (1 << bits) - 1
  let [held, count, at] = [0, 0, start]
  for (let i = 0; i < codes.length; i++) {
    if (count < bits) {
      held |= bytes[at++]! << count
      count += 8
    }
    codes[i] = held & mask
    held >>>= bits
    count -= bits
  }
}

export function codeAt(bytes: Uint8Array, start: number, index: number, bits: number): number {
  const bit = index * bits
  const at = start + Math.floor(bit / 8)
  const pair = bytes[at]! | ((bytes[at + 1] ?? 0) << 8)
  return (pair >>> (bit % 8)) & ((1 << bits) - 1)
}

/** The bytes of the 32-bit words that a row of codes takes. */
export const wordBytes = (count: number, bits: number): number => 4 * Math.ceil((count * bits) / 32)
