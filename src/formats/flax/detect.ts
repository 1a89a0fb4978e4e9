// MessagePack has no mark. A checkpoint of Flax is known by its first array: a map, perhaps maps in it, and then a value of the extension
// that Flax has for arrays.
import { Shortage } from '../../bytes/index.js'
import { strictReport, TareError } from '../../errors/index.js'
import { MsgpackReader } from '../../wire/msgpack/index.js'
import { arrayTypes, chunkedKey } from './array.js'

/** A list of three values: shape, type, bytes. */
const listOfThree = 0x93

export function holdsArray(head: Uint8Array, size: number): boolean {
  const first = head[0] ?? 0
  const isMap = (first > 0x80 && first < 0x90) || first === 0xde || first === 0xdf
  if (!isMap) return false
  const reader = new MsgpackReader(head, strictReport(''), { end: size })
  try {
    return findArray(reader)
  } catch (error) {
    if (error instanceof Shortage || error instanceof TareError) return false
    throw error
  }
}

/** Goes from value to value, whatever they belong to: only what an array looks like matters. */
function findArray(reader: MsgpackReader): boolean {
  while (reader.remaining > 0) {
    const kind = reader.next()
    if (kind === 'ext') {
      if (arrayTypes.includes(reader.extType)) return reader.peek() === listOfThree
      reader.take(reader.length)
    } else if (kind === 'str') {
      if (reader.takeText(reader.length) === chunkedKey) return true
    } else if (kind === 'bin') reader.take(reader.length)
  }
  return false
}
