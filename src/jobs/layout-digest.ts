// A digest of a layout: the kind, path and length of every slot, and the bytes of those that the layout holds itself. Two machines whose
// layouts have the same digest make parts of the same file.
import { encodeUtf8, toHex } from '../bytes/index.js'
import { createHasher } from '../digest/index.js'
import { type Layout, slotLength } from '../model/layout.js'

/** Descriptions are hashed together, since there can be millions of slots. */
const batchLength = 1 << 16

export async function digestOfLayout({ files }: Layout): Promise<string> {
  const hasher = await createHasher('blake3')
  let pending = ''
  const flush = (): void => {
    if (pending !== '') hasher.update(encodeUtf8(pending))
    pending = ''
  }
  for (const { name, slots } of files) {
    pending += `file ${JSON.stringify(name)}\n`
    for (const slot of slots) {
      pending += `${slot.kind} ${slotLength(slot)} ${JSON.stringify(slot.path)}\n`
      if (slot.kind !== 'bytes') {
        if (pending.length >= batchLength) flush()
        continue
      }
      flush()
      hasher.update(slot.bytes)
    }
  }
  flush()
  return toHex(hasher.digest())
}
