// The numbers of a tensor in row-major order, in a form that represents each of them exactly: f32, f64, or a high and a low half for 64-bit
// integers. Scales that a container states beside the tensor are applied. A complex number is two numbers.

import { viewOf } from '../bytes/views.js'
import { type DType, f32, f64, i64, u64 } from '../dtypes/index.js'
import { TareError } from '../errors/index.js'
import { whyUnreadable } from '../inspect/preview.js'
import type { Payload, Tensor } from '../model/index.js'
import { castLoss } from '../transforms/cast.js'
import { decodedPayload } from '../transforms/decode.js'
import { scaledPayload } from '../transforms/dequantize.js'
import { rowMajor } from '../transforms/reorder.js'

/** From narrow to wide; each form represents everything the ones before it do. */
export type NumberForm = 'f32' | 'f64' | 'wide'

export interface RealValues {
  /** The narrowest lossless form. */
  readonly form: NumberForm
  /** How many numbers make up one element. */
  readonly width: 1 | 2
  readonly numbers: Tensor
}

/** The numbers, or why they cannot be read. */
export function realValues(tensor: Tensor): RealValues | string {
  const reason = whyUnreadable(tensor)
  if (reason !== undefined) return reason
  const type = tensor.encoding ?? tensor.dtype
  const { part } = type
  if (!part) return { form: tensor.quant ? 'f64' : formOf(type), width: 1, numbers: tensor }
  const numbers = inRowOrder({ ...tensor, dtype: type, encoding: undefined })
  if (typeof numbers === 'string') return numbers
  return { form: formOf(part), width: 2, numbers: { ...numbers, dtype: part, shape: [...tensor.shape, 2] } }
}

function formOf(type: DType): NumberForm {
  if (castLoss(type, f32) === 'none') return 'f32'
  return castLoss(type, f64) === 'none' ? 'f64' : 'wide'
}

/** The tensor with its elements in row-major order, or why that is impossible. */
export function inRowOrder(tensor: Tensor): Tensor | string {
  try {
    return rowMajor(tensor)
  } catch (error) {
    if (error instanceof TareError) return error.finding.message
    throw error
  }
}

/** Windows for `readNumbers`, or why there are none. */
export function numberStream({ numbers: tensor }: RealValues, form: NumberForm): Payload | string {
  if (isWide(tensor) && !tensor.quant) {
    const ordered = inRowOrder(tensor)
    return typeof ordered === 'string' ? ordered : ordered.data!
  }
  const as = form === 'f32' ? 'f32' : 'f64'
  const data = decodedPayload(tensor, as)
  if (!data) return `values of type ${(tensor.encoding ?? tensor.dtype).id} cannot be decoded`
  // Decoding comes first: elements smaller than a byte cannot be moved.
  const ordered = inRowOrder({ ...tensor, dtype: as === 'f32' ? f32 : f64, encoding: undefined, data })
  if (typeof ordered === 'string') return ordered
  return tensor.quant ? scaledPayload(ordered.data!, tensor.shape, 'row', tensor.quant) : ordered.data!
}

const isWide = ({ dtype, encoding }: Tensor): boolean => (encoding ?? dtype) === i64 || (encoding ?? dtype) === u64

/** One window of numbers. Where f64 rounds them, `high` · 2^32 + `low` is exact, with `low` from 0 up to 2^32. */
export interface NumberWindow {
  readonly values: Float32Array | Float64Array
  readonly high?: Float64Array
  readonly low?: Float64Array
}

export function readNumbers({ numbers }: RealValues, form: NumberForm, bytes: Uint8Array): NumberWindow {
  if (form === 'f32') return { values: viewOf(Float32Array, bytes, bytes.byteLength / 4) }
  const count = bytes.byteLength / 8
  if (form === 'f64') return { values: viewOf(Float64Array, bytes, count) }
  const [high, low] = [new Float64Array(count), new Float64Array(count)]
  if (isWide(numbers) && !numbers.quant) {
    const words = viewOf(Uint32Array, bytes, count * 2)
    const isSigned = (numbers.encoding ?? numbers.dtype) === i64
    for (let i = 0; i < count; i++) {
      low[i] = words[2 * i]!
      high[i] = isSigned ? words[2 * i + 1]! | 0 : words[2 * i + 1]!
    }
  } else {
    const values = viewOf(Float64Array, bytes, count)
    for (let i = 0; i < count; i++) {
      const value = values[i]!
      high[i] = Number.isFinite(value) ? Math.floor(value / twoTo32) : value
      low[i] = Number.isFinite(value) ? value - high[i]! * twoTo32 : 0
    }
  }
  return { values: Float64Array.from(high, (each, i) => each * twoTo32 + low[i]!), high, low }
}

const twoTo32 = 2 ** 32

/** a − b, rounded once; zero only when they are the same number. */
export function exactDifferences(a: NumberWindow, b: NumberWindow): Float64Array | undefined {
  const [ah, al, bh, bl] = [a.high, a.low, b.high, b.low]
  if (!ah || !al || !bh || !bl) return undefined
  return Float64Array.from(ah, (high, i) => (high - bh[i]!) * twoTo32 + (al[i]! - bl[i]!))
}
