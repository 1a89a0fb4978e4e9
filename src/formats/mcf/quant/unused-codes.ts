// Finds the most negative code, -2^(bits-1), which symmetric writers never use.
import type { Bits } from '../../../dtypes/mcf/layout.js'

export interface Found {
  readonly count: number
  /** The byte in which the first one begins; -1 when there is none. */
  readonly first: number
}

/** `bytes` starts at a byte where a code starts and ends where one ends. */
export function findMostNegative(bytes: Uint8Array, bits: Bits): Found {
  return bits === 3 || bits === 6 ? findInTriples(bytes, bits) : findInBytes(bytes, bits)
}

const tables = new Map<Bits, Uint8Array>()

/** How many of the codes in each possible byte are the unused one. */
function tableOf(bits: Bits): Uint8Array {
  let table = tables.get(bits)
  if (!table) {
    table = Uint8Array.from({ length: 256 }, (_, byte) => countIn(byte, 8, bits))
    tables.set(bits, table)
  }
  return table
}

function countIn(word: number, width: number, bits: Bits): number {
  let count = 0
  for (let at = 0; at < width; at += bits) if (((word >>> at) & (2 ** bits - 1)) === 2 ** (bits - 1)) count++
  return count
}

function findInBytes(bytes: Uint8Array, bits: Bits): Found {
  const table = tableOf(bits)
  let count = 0
  let first = -1
  for (let i = 0; i < bytes.length; i++) {
    const found = table[bytes[i]!]!
    if (found > 0 && first < 0) first = i
    count += found
  }
  return { count, first }
}

// Three bytes hold four codes of six bits or eight of three. After the exclusive or, the unused code is a lane of zeros; adding the lower
// bits to a lane carries into its top bit unless the lane is zero.
const lanes = {
  3: { top: 0x924924, low: 0x6db6db },
  6: { top: 0x820820, low: 0x7df7df },
} as const

function findInTriples(bytes: Uint8Array, bits: 3 | 6): Found {
  const { top, low } = lanes[bits]
  let count = 0
  let first = -1
  for (let i = 0; i + 2 < bytes.length; i += 3) {
    const word = (bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16)) ^ top
    const zeros = ~(((word & low) + low) | word) & top
    if (zeros === 0) continue
    if (first < 0) first = i
    count += countIn(word ^ top, 24, bits)
  }
  return { count, first }
}
