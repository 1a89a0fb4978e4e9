// Numbers in the description itself.
import { countElements } from '../bytes/index.js'
import type { DType } from '../dtypes/index.js'
import { packCodes } from './codes.js'
import { encodeValues, isEncodable } from './encode.js'
import { type Field, fail } from './field.js'
import { requireShape, type Shape } from './shape.js'
import { failAt, type Values } from './values.js'

/** The values as bytes of the type; fails at the first one that does not fit. */
export function encodeField(field: Field, dtype: DType, values: Values): Uint8Array {
  if (!isEncodable(dtype))
    fail(field, packCodes.dtype, `${dtype.id} cannot be written as numbers; give its bytes in a file`)
  const encoded = encodeValues(dtype, values)
  if (encoded instanceof Uint8Array) return encoded
  return failAt(field, values.shape, encoded.index, packCodes['value-range'], encoded.message)
}

/** The shape of inline values. A flat list may have any shape with as many elements. */
export function shapeOfValues(values: Values, shape: Shape | undefined): readonly number[] {
  if (!shape) return values.shape
  const isFlat = values.shape.length === 1 && countOf(shape.dims) === values.items.length
  if (!isFlat) requireShape(shape, values.shape, 'the data')
  return shape.dims
}

/** A zero dimension means no elements, however large the others. */
export const countOf = (dims: readonly number[]): number | undefined => (dims.includes(0) ? 0 : countElements(dims))
