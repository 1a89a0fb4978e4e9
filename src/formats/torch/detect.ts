// How files of PyTorch begin.
import { decodeLossy } from '../../bytes/index.js'

/** How far to look for the beginning of an index's weight map. */
export const headSize = 65_536

/** PROTO with a version that Python has had; protocols 0 and 1 begin with anything at all. */
export function isPickle(head: Uint8Array): boolean {
  return head[0] === 0x80 && head[1] !== undefined && head[1] >= 2 && head[1] <= 5
}

/** A pickle of PyTorch's magic number: PROTO, perhaps FRAME and its length, LONG1 of ten bytes. */
export function isMagicPickle(head: Uint8Array): boolean {
  const at = head[2] === 0x95 ? 11 : 2
  const magic = [0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19]
  return isPickle(head) && magic.every((byte, i) => head[at + i] === byte)
}

/** JSON text with a weight map of `.bin` files near its beginning. */
export function looksLikeIndex(head: Uint8Array): boolean {
  if (![0x7b, 0x20, 0x09, 0x0a, 0x0d, 0xef].includes(head[0] ?? 0)) return false
  const text = decodeLossy(head.subarray(0, headSize)).trimStart()
  return text.startsWith('{') && /"weight_map"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*"[^"]*\.bin"/i.test(text)
}

/** What TorchServe keeps in an archive about it: which of the members is the model, among other things. */
export const manifestName = 'MAR-INF/MANIFEST.json'

/** A member that such a manifest can name: there, other names are not a chance. */
export const isNamedModel = (name: string): boolean => /^[^/]+\.(pt|pth|bin|ckpt)$/i.test(name)

/** A member of an archive that is itself a file of PyTorch. */
export const isModelMember = (name: string): boolean => /^[^/]+\.(pt|pth)$/i.test(name)
