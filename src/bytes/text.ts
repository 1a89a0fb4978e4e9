// Text and bytes: UTF-8 both ways, strict, with the byte position of what is wrong; hexadecimal digits and base64.
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lossyDecoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

export const encodeUtf8 = (text: string): Uint8Array => encoder.encode(text)

/** How many bytes `encodeUtf8` makes: half of a surrogate pair becomes U+FFFD. */
export function utf8Length(text: string): number {
  let length = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) length++
    else return length + encoder.encode(text.slice(i)).byteLength
  }
  return length
}

/** The same text in memory of its own: what was cut from a long text keeps all of that alive. */
export const ownText = (text: string): string => JSON.parse(JSON.stringify(text))

/** The text, or undefined when the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes)
  } catch {
    return undefined
  }
}

const maxShort = 64
/** Codes of short texts, by length: `String.fromCharCode` is fastest on a plain array that has the right length already. */
const rooms: number[][] = []

/** The text of a few bytes when all of them are ASCII, as names are; several times as fast as a decoder. Otherwise undefined. */
export function shortAscii(bytes: Uint8Array, start: number, length: number): string | undefined {
  if (length > maxShort) return undefined
  rooms[length] ??= new Array<number>(length).fill(0)
  const room = rooms[length]!
  for (let i = 0; i < length; i++) {
    const byte = bytes[start + i]!
    if (byte > 0x7f) return undefined
    room[i] = byte
  }
  return String.fromCharCode.apply(null, room)
}

/** Always a text; what is not UTF-8 becomes U+FFFD. Only for showing. */
export const decodeLossy = (bytes: Uint8Array): string => lossyDecoder.decode(bytes)

/** The position of the first byte that is not part of valid UTF-8, or -1. */
export function findInvalidUtf8(bytes: Uint8Array): number {
  if (decodeUtf8(bytes) !== undefined) return -1
  for (let at = 0; ; ) {
    const length = characterLength(bytes, at)
    if (length === 0) return at
    at += length
  }
}

/** In bytes; 0 where no whole character begins. */
function characterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at]
  if (first === undefined) return 0
  if (first < 0x80) return 1
  if (first < 0xc2 || first > 0xf4) return 0
  // What could be written shorter, halves of surrogate pairs, and what is beyond Unicode is excluded by the second byte.
  const second = bytes[at + 1] ?? 0
  const lowest = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const highest = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  if (second < lowest || second > highest) return 0
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  for (let i = 2; i < length; i++) if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return 0
  return length
}

/** Orders two strings by their UTF-8 bytes, which differs from JavaScript's order for characters beyond U+FFFF. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return surrogatesLast(x) - surrogatesLast(y)
  }
  return a.length - b.length
}

// Surrogates stand for U+10000 and up, so they sort after U+E000..U+FFFF although their code units are smaller.
function surrogatesLast(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.byteLength, b.byteLength)
  for (let i = 0; i < length; i++) {
    const difference = a[i]! - b[i]!
    if (difference !== 0) return difference
  }
  return a.byteLength - b.byteLength
}

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
