import { decodeLossy } from './text.js'

/** The text of ASCII bytes. */
export const textOfUnits = (bytes: Uint8Array, from: number, to: number): string =>
  decodeLossy(bytes.subarray(from, to))

/** The text of a few bytes when all of them are ASCII. */
export function asciiText(bytes: Uint8Array, from: number, to: number): string | undefined {
  if (to - from > 256) return undefined
  for (let i = from; i < to; i++) if (bytes[i]! > 0x7f) return undefined
  return textOfUnits(bytes, from, to)
}
