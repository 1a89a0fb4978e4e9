// Texts of protocol 0, which is made of lines.
import { encodeUtf8 } from '../../bytes/index.js'

const simple: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  '\\': 92,
  "'": 39,
  '"': 34,
}

/** A quoted Python string with escapes, as bytes. Undefined when it is not quoted. */
export function unescapeBytes(line: Uint8Array): Uint8Array | undefined {
  let [start, end] = [0, line.byteLength]
  while (end > start && line[end - 1]! <= 0x20) end--
  while (start < end && line[start]! <= 0x20) start++
  const quote = line[start]
  if (end - start < 2 || quote !== line[end - 1] || (quote !== 0x27 && quote !== 0x22)) return undefined
  const result = new Uint8Array(end - start)
  let length = 0
  for (let at = start + 1; at < end - 1; at++) {
    if (line[at] !== 0x5c) {
      result[length++] = line[at]!
      continue
    }
    const rest = String.fromCharCode(...line.subarray(at + 1, Math.min(at + 4, end - 1)))
    const numeric = /^(?:x([0-9a-fA-F]{2})|([0-7]{1,3}))/.exec(rest)
    if (numeric) {
      result[length++] = numeric[1] ? Number.parseInt(numeric[1], 16) : Number.parseInt(numeric[2]!, 8) % 256
      at += numeric[0].length
    } else if (rest !== '' && Object.hasOwn(simple, rest[0]!)) {
      result[length++] = simple[rest[0]!]!
      at++
    } else result[length++] = 0x5c // Python leaves what it does not know as it is
  }
  return result.subarray(0, length)
}

/** Latin-1 with \\uXXXX and \\UXXXXXXXX; every other backslash is itself. */
export function unescapeUnicode(text: string): string {
  return text.replaceAll(/\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})/g, (whole, short?: string, long?: string) => {
    const code = Number.parseInt(short ?? long!, 16)
    if (code > 0x10ffff) return whole
    return short ? String.fromCharCode(code) : String.fromCodePoint(code)
  })
}

/** UTF-8 in which halves of surrogate pairs have three bytes, as Python stores them. */
export function encodeLoosely(value: string): Uint8Array {
  const bytes: number[] = []
  for (const character of value) {
    const code = character.codePointAt(0)!
    if (code >= 0xd800 && code < 0xe000) bytes.push(0xed, 0x80 + (Math.floor(code / 64) % 64), 0x80 + (code % 64))
    else for (const byte of encodeUtf8(character)) bytes.push(byte)
  }
  return Uint8Array.from(bytes)
}
