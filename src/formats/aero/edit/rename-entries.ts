// Gives tensors other names in the index as it is stored; everything else about them, their hashes too, stays the same byte for byte.
import { joinBytes } from '../../../bytes/index.js'
import { strictReport } from '../../../errors/index.js'
import { MsgpackReader, MsgpackWriter } from '../../../wire/msgpack/index.js'
import { skipValue } from '../index/tagged.js'

/** `nameOf` gives the new name of the entry at a position; undefined leaves its name as it is. */
export function renameEntries(index: Uint8Array, nameOf: (entry: number) => string | undefined): Uint8Array {
  const reader = new MsgpackReader(index, strictReport('TIDX'))
  const pieces: Uint8Array[] = []
  let copied = 0
  const replaceText = (name: string): void => {
    const start = reader.position
    skipValue(reader)
    const writer = new MsgpackWriter()
    writer.str(name)
    pieces.push(index.subarray(copied, start), writer.finish())
    copied = reader.position
  }
  for (let pairs = enter(reader); pairs > 0; pairs--) {
    if (readKey(reader) !== 'tensors') {
      skipValue(reader)
      continue
    }
    const count = enter(reader)
    for (let entry = 0; entry < count; entry++) {
      const name = nameOf(entry)
      for (let fields = enter(reader); fields > 0; fields--) {
        if (readKey(reader) === 'name' && name !== undefined) replaceText(name)
        else skipValue(reader)
      }
    }
  }
  pieces.push(index.subarray(copied))
  return joinBytes(pieces)
}

/** The number of items of a list, or of pairs of a map. The index was parsed before, so it is known to be right. */
function enter(reader: MsgpackReader): number {
  reader.next()
  return reader.length
}

const decoder = new TextDecoder()

function readKey(reader: MsgpackReader): string {
  reader.next()
  return decoder.decode(reader.take(reader.length))
}
