// How the files of a checkpoint are known. .metadata is a pickle that names the class Metadata first; the others are archives of
// torch.save in a row, which begin like any file of PyTorch, so only their names tell.
import { decodeLossy, fileNameOf } from '../../bytes/index.js'
import { startsLikeZip } from '../../wire/zip/guess.js'

export const metadataName = '.metadata'

/** `__0_0.distcp`: the rank that wrote it, and a number. */
export const partName = /^__\d+_\d+\.distcp$/

const className = /torch\.distributed\.checkpoint\.metadata[^a-zA-Z]+Metadata/

/** PROTO with a version that Python has had. */
const isPickle = (head: Uint8Array): boolean =>
  head[0] === 0x80 && head[1] !== undefined && head[1] >= 2 && head[1] <= 5

export function isMetadata(head: Uint8Array, name: string): boolean {
  if (!isPickle(head)) return false
  return fileNameOf(name) === metadataName || className.test(decodeLossy(head.subarray(0, 256)))
}

export const isPart = (head: Uint8Array, name: string): boolean =>
  partName.test(fileNameOf(name)) && startsLikeZip(head)
