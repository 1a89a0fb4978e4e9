// int8 and int4 are in the document, and no program but tare reads or writes them as the document has them; the reference's own pack command
// writes bare codes under these types. A file in which tare has put them says so in ModelInfo: they are meant, and their scales are there.
import { isBareCodes } from '../../../dtypes/mcf/layout.js'
import { methodOf } from '../../../dtypes/mcf/types.js'
import { type Metadata, type MetaValue, type Tensor, text } from '../../../model/index.js'

export const intMarkKey = 'tare.int-payloads'
const meaning = 'as documented'

/** Whether the tensor is int8 or int4 with its scale. */
function isDocumentedInt({ dtype, shape, data }: Tensor): boolean {
  const method = methodOf(dtype.id)
  return method?.family === 'int' && data !== null && !isBareCodes(method, shape, data.byteLength)
}

export const hasDocumentedInts = (tensors: readonly Tensor[]): boolean => tensors.some(isDocumentedInt)

/** The entry of ModelInfo that goes with these tensors, if any. */
export const intMarkFor = (tensors: readonly Tensor[]): readonly (readonly [string, MetaValue])[] =>
  hasDocumentedInts(tensors) ? [[intMarkKey, text(meaning)]] : []

export function hasIntMark(extras: Metadata | undefined): boolean {
  const value = extras?.get(intMarkKey)
  return value?.type === 'str' && value.value === meaning && !value.bytes
}
