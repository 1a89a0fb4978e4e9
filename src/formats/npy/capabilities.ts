// What NumPy's files can hold: arrays of numbers, in either order. There is no place for anything beside them.
import { encodeUtf8 } from '../../bytes/index.js'
import { type Fit, stowageKey, type Tensor, type WriteCapabilities } from '../../model/index.js'
import { npyDescription } from '../../wire/npy/header.js'
import { maxNameBytes } from '../../wire/zip/structs.js'
import { extension, foreignDescr, unreadKind } from './names.js'

/** The limit of NumPy 2. */
const maxDimensions = 64

function fitArray(tensor: Tensor): Fit<Tensor> {
  const { dtype, data, shape } = tensor
  if (!data) return { fits: false, reason: 'an array cannot be declared without data' }
  if (shape.length > maxDimensions) return { fits: false, reason: `NumPy has at most ${maxDimensions} dimensions` }
  if (npyDescription(dtype.id) !== undefined || foreignDescr(tensor) !== undefined) return { fits: true }
  return { fits: false, reason: `NumPy has no type for ${dtype.id}` }
}

function fitMember(tensor: Tensor): Fit<Tensor> {
  const { name } = tensor
  if (name.includes('\0')) return { fits: false, reason: 'the name of a member cannot hold a NUL' }
  if (encodeUtf8(name + extension).byteLength > maxNameBytes)
    return { fits: false, reason: `the name of a member has at most ${maxNameBytes} bytes` }
  return fitArray(tensor)
}

const nothingElse: Pick<WriteCapabilities, 'metadata' | 'part' | 'order' | 'shards'> = {
  metadata: () => ({ fits: false, reason: 'NumPy files hold arrays and nothing else' }),
  part: () => ({ fits: false, reason: 'NumPy files hold arrays and nothing else' }),
  order: 'both',
  shards: false,
}

/** An NPY file has no place for a name; the file's own name takes its place. */
function fitNameless(tensor: Tensor): Fit<Tensor> {
  const fit = fitArray(tensor)
  return fit.fits && !tensor.isNamedByFile
    ? { fits: true, as: fit.as ?? tensor, loss: 'form', reason: 'the name of the file stands for that of the array' }
    : fit
}

export const npyWrite: WriteCapabilities = { ...nothingElse, tensor: fitNameless, maxTensors: 1 }
export const npzWrite: WriteCapabilities = {
  ...nothingElse,
  part: (part) =>
    part.kind === unreadKind ? { fits: false, reason: 'it could not be read as an array' } : nothingElse.part(part),
  tensor: fitMember,
  metadata: (key, value) =>
    key === stowageKey && value.type === 'str' ? { fits: true } : nothingElse.metadata(key, value),
}
