// Names that OINF's character set cannot hold are escaped on the way in and restored on the way out.
//
// A run of bytes that have no place here becomes `-_`, two lower case hex digits for each byte of the name's UTF-8, `_-`:
// "blk/0 w" is stored as "blk-_2f_-0-_20_-w". The empty name is "-__-". A legal name that already holds such a run has the "-" of
// every "-_" escaped, so nothing can be read in two ways; all other legal names stay as they are. Only what this scheme would have
// produced is unescaped: any other name that resembles it is taken as it stands.
import { decodeLossy, decodeUtf8, encodeUtf8 } from '../../bytes/index.js'
import { isLegalByte, isPlainText } from './strings.js'

const dash = 0x2d
const underscore = 0x5f
const escapeRun = /-_((?:[0-9a-f]{2})*)_-/

/** A name as the model has it; `raw` where it is not UTF-8. */
export interface Name {
  readonly text: string
  readonly raw?: Uint8Array | undefined
}

export const looksEscaped = (stored: string): boolean => stored.includes('-_') && escapeRun.test(stored)

/** Keys under which tare keeps what OINF has no type for; see stow.ts. */
export const reservedPrefix = 'tare.oinf.'

/** Where version 1, which has no quantization, keeps that of a tensor: the payload of version 2, as an array of u8. */
export const quantPrefix = `${reservedPrefix}quant.`
export const quantKey = (storedName: string): string => quantPrefix + storedName

/** What stands in the file for a name. */
export function escapeName(name: string | Uint8Array): string {
  if (typeof name === 'string') {
    if (isPlainText(name) && !looksEscaped(name)) return name
    return escapeBytes(encodeUtf8(name))
  }
  const text = decodeUtf8(name)
  return text === undefined ? escapeBytes(name) : escapeName(text)
}

/** The same for a metadata key: one that starts like a reserved key has its first dot escaped. */
export function escapeKey(key: string): string {
  return key.startsWith(reservedPrefix) ? escapeBytes(encodeUtf8(key), reservedPrefix.indexOf('.')) : escapeName(key)
}

function escapeBytes(bytes: Uint8Array, force = -1): string {
  if (bytes.byteLength === 0) return '-__-'
  let stored = ''
  let run = ''
  for (const [i, byte] of bytes.entries()) {
    const opensRun = byte === dash && bytes[i + 1] === underscore
    if (isLegalByte(byte) && !opensRun && i !== force) {
      if (run !== '') stored += `-_${run}_-`
      run = ''
      stored += String.fromCharCode(byte)
    } else run += byte.toString(16).padStart(2, '0')
  }
  return run === '' ? stored : `${stored}-_${run}_-`
}

/** The name that a stored one stands for. */
export const unescapeName = (stored: string): Name => unescapeWith(stored, escapeName)

export const unescapeKey = (stored: string): string => {
  const { text, raw } = unescapeWith(stored, (name) => (typeof name === 'string' ? escapeKey(name) : escapeName(name)))
  return raw ? stored : text
}

function unescapeWith(stored: string, escapeAgain: (name: string | Uint8Array) => string): Name {
  if (!looksEscaped(stored)) return { text: stored }
  const bytes: number[] = []
  let at = 0
  for (const match of stored.matchAll(new RegExp(escapeRun, 'g'))) {
    pushText(bytes, stored.slice(at, match.index))
    const hex = match[1]!
    for (let i = 0; i < hex.length; i += 2) bytes.push(Number.parseInt(hex.slice(i, i + 2), 16))
    at = match.index + match[0].length
  }
  pushText(bytes, stored.slice(at))
  const raw = Uint8Array.from(bytes)
  const text = decodeUtf8(raw)
  if (escapeAgain(text ?? raw) !== stored) return { text: stored }
  return text === undefined ? { text: decodeLossy(raw), raw } : { text }
}

function pushText(bytes: number[], text: string): void {
  for (const byte of encodeUtf8(text)) bytes.push(byte)
}
