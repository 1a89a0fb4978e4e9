// Another element type for the data of a file, converted while it is read. Unlike a conversion between formats, where rounding to
// infinity is what the target does, nothing here may leave the range of the type: a description states what the file is to hold.

import { swapBytes } from '../bytes/views.js'
import type { DType } from '../dtypes/index.js'
import { isReal } from '../dtypes/index.js'
import type { Payload, Tensor } from '../model/index.js'
import { castLoss, castTensor } from '../transforms/cast.js'
import { mapElements } from '../transforms/map-elements.js'
import { packCodes } from './codes.js'
import { encodeValues, isEncodable } from './encode.js'
import { type Field, fail } from './field.js'

/** Numbers encoded at a time, so that what lies between stays small. A multiple of every group. */
const runLength = 4096

/** The tensor as `to`; a value that does not fit ends the reading of its payload with an error that names `field`. */
export function checkedCast(tensor: Tensor, to: DType, field: Field): Tensor {
  const from = tensor.dtype
  if (from.id === to.id || !tensor.data) return tensor
  if (!isReal(from) || !isEncodable(to))
    return fail(field, packCodes.dtype, `the file holds ${from.id}, and there is no way from that to ${to.id}`)
  if (castLoss(from, to) === 'none') return castTensor(tensor, to)
  const data = mapElements({
    input: tensor.data,
    shape: tensor.shape,
    from: from.group,
    to: to.group,
    convert(source, target, first, count) {
      for (let at = 0; at < count; at += runLength) {
        const items = decodeRun(from, source, at, Math.min(runLength, count - at))
        const encoded = encodeValues(to, { items, kind: 'int' })
        if (!(encoded instanceof Uint8Array))
          fail(field, packCodes['value-range'], `element ${first + at + encoded.index}: ${encoded.message}`)
        target.set(encoded, (at / to.group.elements) * to.group.bytes)
      }
    },
  })
  return { ...tensor, dtype: to, data }
}

function decodeRun(from: DType, source: Uint8Array, at: number, count: number): ArrayLike<number | bigint> {
  const bytes = source.subarray((at / from.group.elements) * from.group.bytes)
  if (from.kind !== 'float' && from.group.bytes === 8)
    return Array.from({ length: count }, (_, i) => from.codec!.element(bytes, i) as bigint)
  const numbers = new Float64Array(count)
  from.codec!.toF64(bytes, numbers)
  return numbers
}

/** Big-endian elements, turned round. The two halves of a complex number are turned one by one. */
export function littleEndian(input: Payload, dtype: DType, shape: readonly number[]): Payload {
  const { group } = dtype
  const width = dtype.kind === 'complex' ? group.bytes / 2 : group.bytes
  return mapElements({
    input,
    shape,
    from: group,
    to: group,
    convert(source, target) {
      target.set(source)
      swapBytes(target, width)
    },
  })
}
