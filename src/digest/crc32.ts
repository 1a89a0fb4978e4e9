// CRC-32 of a stream, and of two pieces put together from the CRCs of the pieces: a file with a checksum over a section and another one over
// everything needs each byte to be hashed only once.
//
// A CRC is a remainder of polynomials over GF(2). Appending n bytes multiplies the remainder of what came before by x^(8n); the rest is
// addition, which is xor. Polynomials are kept with their bits reversed, as CRC-32 has them: the topmost bit is x^0.
import type { Hasher } from './types.js'

const polynomial = 0xedb88320

/** The product of two remainders. */
function multiply(a: number, b: number): number {
  let product = 0
  let factor = b
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= factor
    factor = (factor & 1) !== 0 ? (factor >>> 1) ^ polynomial : factor >>> 1
  }
  return product >>> 0
}

let lastLength = 0
let lastShift = 0x80000000

/** x^(8·length). Pieces often have the same length. */
function shiftBy(length: number): number {
  if (length === lastLength) return lastShift
  lastLength = length
  lastShift = powerFor(length)
  return lastShift
}

function powerFor(length: number): number {
  let result = 0x80000000
  let power = 0x00800000 // x^8
  for (let rest = length; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiply(power, result)
    power = multiply(power, power)
  }
  return result
}

/** The CRC-32 of A followed by B, where B has `lengthB` bytes. */
export function combineCrc32(crcA: number, crcB: number, lengthB: number): number {
  return (multiply(shiftBy(lengthB), crcA) ^ crcB) >>> 0
}

/** A hasher around a function that continues the checksum of what came before. */
export function crc32Hasher(update: (bytes: Uint8Array, value: number) => number): Hasher {
  let value = 0
  return {
    update(bytes) {
      value = update(bytes, value)
    },
    digest() {
      const digest = new Uint8Array(4)
      new DataView(digest.buffer).setUint32(0, value)
      return digest
    },
    pieces: {
      sumOf: (bytes) => update(bytes, 0),
      append(sum, length) {
        value = combineCrc32(value, sum, length)
      },
    },
  }
}
