// Names on their way to a target that has them as plain text, while the model has bytes that are no text, paths, or statistics of parameters.
import type { Tensor, WriteCapabilities } from '../../model/index.js'
import { isAmbiguous } from '../../stow/index.js'
import type { Note } from '../actions.js'

/** What the target is asked to hold: a name that it cannot keep byte by byte goes by the text that stands for it. */
export function withNameFor(tensor: Tensor, { paths, rawNames }: WriteCapabilities): Tensor {
  const isKept = !tensor.rawName || paths || (rawNames && !tensor.path)
  return isKept ? tensor : { ...tensor, rawName: undefined }
}

/** Says what a stored name does not tell any more, where nothing remembers it. */
export function noteLostName(tensor: Tensor, stored: Tensor, { paths }: WriteCapabilities, note: Note): void {
  const { name, path, rawName, role } = tensor
  if (paths) return
  if (rawName && !stored.rawName) {
    const reason = `its name is not UTF-8; the text ${JSON.stringify(name)} stands for the bytes`
    note('map', 'content', { reason })
  }
  if (path && isAmbiguous(path, tensor)) {
    note('map', 'form', { reason: `its path ${JSON.stringify(path)} does not follow from the name` })
  }
  if (role === 'state') note('map', 'form', { reason: 'only its name says that it is a statistic of a parameter' })
}
