// What AERO can hold.
import { encodeUtf8 } from '../../bytes/index.js'
import { packed } from '../../dtypes/index.js'
import type { Fit, Model, Part, Tensor, WriteCapabilities } from '../../model/index.js'
import type { Chunk } from './control/chunk.js'
import { numberOfDType, packedAs } from './dtypes.js'
import { chunkKind, indexKind, manifestKind } from './file.js'
import { fitMetadata } from './index/meta-json.js'
import { addedKeys } from './write/names.js'

/** Beyond these the reference's C++ reader gives up. */
const maxNameBytes = 4096
const maxRank = 32

function fitTensor(tensor: Tensor): Fit<Tensor> {
  if (!tensor.data) return { fits: false, reason: 'AERO cannot declare a tensor without data' }
  if (tensor.name.length * 3 > maxNameBytes && encodeUtf8(tensor.name).byteLength > maxNameBytes) {
    return { fits: false, reason: `names have at most ${maxNameBytes} bytes` }
  }
  if (tensor.shape.length > maxRank) return { fits: false, reason: `tensors have at most ${maxRank} dimensions` }
  if (tensor.dtype === packed || numberOfDType(tensor.dtype) !== undefined) return { fits: true }
  const type = packedAs(tensor)
  if (!type) return { fits: false, reason: `AERO has no type for ${tensor.dtype.id}` }
  const reason = `stored as packed, with its type beside it`
  return { fits: true, reason, as: { ...tensor, dtype: packed, encoding: type.dtype } }
}

const ownKinds: readonly string[] = [chunkKind, manifestKind, indexKind]

export const writeCapabilities: WriteCapabilities = {
  order: 'row',
  sorts: { metadata: true },
  shards: true,
  sharesPayloads: true,
  tensor: fitTensor,
  metadata: (_key, value) => fitMetadata(value),
  part(part: Part): Fit<Part> {
    return ownKinds.includes(part.kind) ? { fits: true } : { fits: false, reason: 'AERO cannot store it' }
  },
}

/** The index of a set must not hold weights: readers would look for its tensors there, and not in the parts. */
export const setCapabilities: WriteCapabilities = {
  ...writeCapabilities,
  part(part: Part): Fit<Part> {
    const isShard = part.kind === chunkKind && (part.content as Chunk | undefined)?.fourcc === 'WTSH'
    return isShard ? { fits: false, reason: 'the weights of a set lie in its parts' } : writeCapabilities.part(part)
  },
}

/** The same for one model, whose name may be stated elsewhere than in its metadata. */
export const writeFor =
  (target: string, write: WriteCapabilities) =>
  (model: Model): WriteCapabilities => ({ ...write, addedKeys: (keys) => addedKeys(model, target, keys) })
