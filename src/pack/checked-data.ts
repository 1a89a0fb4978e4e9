// Data of a file on its way into a tensor. Unlike a conversion between formats, which may round to infinity, values that do not fit the type
// are refused: a description states what the file must contain.
import { swapBytes } from '../bytes/views.js'
import { type DType, isReal, t2 } from '../dtypes/index.js'
import type { Payload, Tensor } from '../model/index.js'
import { castLoss, castTensor } from '../transforms/cast.js'
import { mapElements } from '../transforms/map-elements.js'
import { packCodes } from './codes.js'
import { encodeValues, isEncodable } from './encode.js'
import { type Field, fail } from './field.js'

/** Numbers encoded at a time, so that intermediate values stay small. A multiple of every group. */
const runLength = 4096

/** The tensor as `to`. A value that does not fit fails the read of the payload with an error that names `field`. */
export function checkedCast(tensor: Tensor, to: DType, field: Field): Tensor {
  const from = tensor.dtype
  if (from.id === to.id || !tensor.data) return tensor
  if (!isReal(from) || !isEncodable(to))
    return fail(field, packCodes.dtype, `the file holds ${from.id}, which cannot be converted to ${to.id}`)
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

/** Byte-swaps big-endian elements. The two halves of a complex number are swapped separately. */
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

/**
 * The same bytes, checked: they can be invalid for their type, as booleans beyond 1, the fourth code of a ternary element, or bits after the
 * last element of a packed type. An invalid byte fails the read with an error that names `field`.
 */
export function checkedElements(input: Payload, dtype: DType, count: number, field: Field): Payload {
  const { elements } = dtype.group
  const used = dtype.group.bytes === 1 ? ((count % elements) * 8) / elements : 0
  const isOdd = dtype.kind === 'bool' ? isNotBoolean : dtype === t2 ? hasFourthCode : undefined
  if (used === 0 && !isOdd) return input
  const end = input.byteLength
  return {
    byteLength: end,
    async *chunks(window, signal) {
      let at = 0
      for await (const chunk of input.chunks(window, signal)) {
        const odd = isOdd ? chunk.findIndex(isOdd) : -1
        const isTail = used > 0 && at + chunk.byteLength === end && chunk.at(-1)! >= 2 ** used
        if (isTail && (odd < 0 || odd === chunk.byteLength - 1))
          fail(field, packCodes['value-range'], `byte ${end - 1}: bits after the last element are 1`)
        if (odd >= 0) {
          const message =
            isOdd === isNotBoolean ? `${chunk[odd]} does not fit bool` : 'a code that is none of -1, 0 and 1'
          fail(field, packCodes['value-range'], `byte ${at + odd}: ${message}`)
        }
        at += chunk.byteLength
        yield chunk
      }
    },
  }
}

const isNotBoolean = (byte: number): boolean => byte > 1

/** Whether one of the four two-bit codes is binary 10. */
const hasFourthCode = (byte: number): boolean => ((byte >> 1) & ~byte & 0x55) !== 0
