// Bytes as text, and back.
import { decodeLossy } from './text.js'

export function toHex(bytes: Uint8Array): string {
  const digits = new Uint8Array(2 * bytes.byteLength)
  for (let i = 0; i < bytes.byteLength; i++) {
    digits[2 * i] = hexDigit(bytes[i]! >> 4)
    digits[2 * i + 1] = hexDigit(bytes[i]! & 15)
  }
  return decodeLossy(digits)
}

const hexDigit = (value: number): number => value + (value < 10 ? 0x30 : 0x57)

/** Anything but a hexadecimal digit counts as zero: a caller that must know compares with `toHex` of the result. */
export function fromHex(text: string): Uint8Array {
  const bytes = new Uint8Array(Math.floor(text.length / 2))
  for (let i = 0; i < bytes.byteLength; i++) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)
  return bytes
}

/** As many bytes as `String.fromCharCode` takes at once without trouble; a multiple of three, so that pieces join. */
const pieceBytes = 3 << 13

export function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let at = 0; at < bytes.byteLength; at += pieceBytes)
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + pieceBytes))))
  return pieces.join('')
}

/** Undefined when the text is not base64. */
export function fromBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}
