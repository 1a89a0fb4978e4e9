import { decodeUtf8, toHex } from '../../bytes/index.js'
import type { Text } from './texts.js'

/** What tells names apart: their text, or their bytes where they are none. No text has the character in front of those. */
export const nameKey = (bytes: Uint8Array): string => decodeUtf8(bytes) ?? `\ud800${toHex(bytes)}`

export const textKey = ({ value, bytes }: Text): string => (bytes ? nameKey(bytes) : value)
