// Names of members. They are UTF-8 when a flag says so, otherwise the character set of the first IBM PC (code page 437), whose lower
// half is ASCII; Python's zipfile reads them the same way.
import { decodeUtf8 } from '../../bytes/index.js'
import { shortAscii } from '../../bytes/text.js'

const upperHalf =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0'

/** The text, or undefined when it is marked as UTF-8 and is not. */
export function decodeMemberName(
  bytes: Uint8Array,
  start: number,
  length: number,
  isUtf8: boolean,
): string | undefined {
  const ascii = shortAscii(bytes, start, length)
  if (ascii !== undefined) return ascii
  const name = bytes.subarray(start, start + length)
  if (isUtf8) return decodeUtf8(name)
  let text = ''
  for (const byte of name) text += byte < 0x80 ? String.fromCharCode(byte) : upperHalf[byte - 0x80]
  return text
}

/**
 * Whether unpacking a member of this name would write outside the folder it is unpacked into. Every unpacker takes a slash at the beginning
 * away, and tensors of exported graphs are often called `/layer/MatMul`.
 */
export function leadsElsewhere(name: string): boolean {
  return /^(\\|[A-Za-z]:)/.test(name) || (name.includes('..') && /(^|[/\\])\.\.([/\\]|$)/.test(name))
}
