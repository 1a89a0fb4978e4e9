// How the reference library cuts a text into words. It looks at bytes: ASCII white space separates, A to Z become small, and everything
// else stays as it is. There is no Unicode in it, so U+00A0 is no space, É stays É, and punctuation stays with its word.
import { keyOfText } from './byte-keys.js'

/** The words of a text, as keys. */
export function splitReference(text: string): string[] {
  const lower = keyOfText(text).replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  return lower.split(/[\t-\r ]+/).filter((word) => word !== '')
}
