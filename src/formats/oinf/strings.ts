// Strings are restricted to letters, digits, ".", "_" and "-", and are never empty.
import { decodeLossy } from '../../bytes/index.js'
import type { Report } from '../../errors/index.js'
import { codes } from './codes.js'

const isLegal = new Uint8Array(256)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-')
  isLegal[character.charCodeAt(0)] = 1

export const isLegalByte = (byte: number): boolean => isLegal[byte] === 1

const legalText = /^[A-Za-z0-9._-]+$/

/** Whether OINF can hold the text as a string. */
export const isPlainText = (text: string): boolean => legalText.test(text)

/** The text, whatever it is; what is wrong with it is reported. `offset` is that of the first byte. */
export function readText(bytes: Uint8Array, offset: number, path: () => string, report: Report): string {
  const end = bytes.byteLength
  let bad = 0
  while (bad < end && isLegal[bytes[bad]!] === 1) bad++
  if (end === 0) report.report(codes['string-empty'], { offset, path: path(), message: 'the text has no characters' })
  else if (bad < end) {
    // reference: the pattern ends in "$", which in Python also matches before a last line feed
    const isSlip = bad === end - 1 && bad > 0 && bytes[bad] === 0x0a
    const found = `0x${bytes[bad]!.toString(16).padStart(2, '0')}`
    const message = isSlip
      ? 'the text ends in a line feed, which the reference lets through by mistake'
      : `byte ${bad} is ${found}; only letters, digits, ".", "_" and "-" are allowed`
    report.report(codes[isSlip ? 'string-newline' : 'string-charset'], {
      offset: offset + bad,
      length: 1,
      path: path(),
      message,
    })
  }
  return decodeLossy(bytes)
}
