import { compareBytes, compareUtf8, encodeUtf8 } from './text.js'

/** A name, or its bytes where they are not text. */
export type Name = string | Uint8Array

/** Orders names by their bytes. */
export function compareNames(a: Name, b: Name): number {
  if (isText(a) && isText(b)) return compareUtf8(a, b)
  return compareBytes(bytesOf(a), bytesOf(b))
}

/** Half of a surrogate pair is encoded as U+FFFD, so its own code unit says nothing about its place. */
const isText = (name: Name): name is string => typeof name === 'string' && name.isWellFormed()

const bytesOf = (name: Name): Uint8Array => (typeof name === 'string' ? encodeUtf8(name) : name)
