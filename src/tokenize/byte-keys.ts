// Tokens are bytes, and JavaScript's maps want strings. A key is a string with one character for each byte, so that its length, its
// slices and its order are those of the bytes, whether they are UTF-8 or not.
import { encodeUtf8 } from '../bytes/index.js'

const longestCall = 8192 // engines limit how many arguments one call may have

export function keyOfBytes(bytes: Uint8Array): string {
  if (bytes.byteLength <= longestCall) return String.fromCharCode(...bytes)
  let key = ''
  for (let at = 0; at < bytes.byteLength; at += longestCall)
    key += String.fromCharCode(...bytes.subarray(at, at + longestCall))
  return key
}

const isAscii = /^[\x00-\x7f]*$/

export const keyOfText = (text: string): string => (isAscii.test(text) ? text : keyOfBytes(encodeUtf8(text)))

export function bytesOfKey(key: string): Uint8Array {
  const bytes = new Uint8Array(key.length)
  for (let i = 0; i < key.length; i++) bytes[i] = key.charCodeAt(i)
  return bytes
}
