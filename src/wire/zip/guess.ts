// What the first bytes tell about an archive, without reading its directory.
import { signatures } from './structs.js'

/** Whether the bytes begin like an archive, an empty one included. */
export function startsLikeZip(head: Uint8Array): boolean {
  if (head.byteLength < 4) return false
  const signature = new DataView(head.buffer, head.byteOffset, head.byteLength).getUint32(0, true)
  return signature === signatures.local || signature === signatures.end
}

/** Names of members whose local headers lie in these bytes. A guess that helps to recognise what is inside, nothing more. */
export function* guessMemberNames(head: Uint8Array): Generator<string, void, void> {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  for (let at = head.indexOf(0x50); at >= 0 && at + 30 <= head.byteLength; at = head.indexOf(0x50, at + 1)) {
    if (view.getUint32(at, true) !== signatures.local) continue
    const end = at + 30 + view.getUint16(at + 26, true)
    if (end <= head.byteLength) yield new TextDecoder().decode(head.subarray(at + 30, end))
  }
}
