// Converts codes to the values they represent. Blocks contain their scales; for other tensors the container states scales and zero points
// beside them: real = scale · (stored − zero point).
import { countElements } from '../bytes/index.js'
import { fillView, viewOf } from '../bytes/views.js'
import { type DType, f64 } from '../dtypes/index.js'
import { failWith, usageCodes } from '../errors/index.js'
import type { Payload, QuantParams, Tensor } from '../model/index.js'
import { castLoss, castTensor } from './cast.js'
import { decodedPayload } from './decode.js'
import { fileOf, mapElements } from './map-elements.js'

const typeOf = ({ encoding, dtype }: Tensor): DType => encoding ?? dtype

/** Whether the tensor stores codes, in blocks or with scales beside it, rather than values. */
export const isQuantized = (tensor: Tensor): boolean => typeOf(tensor).kind === 'block' || tensor.quant !== undefined

/** Why the tensor cannot be dequantized, or undefined if it can. */
export function whyNotDequantized(tensor: Tensor): string | undefined {
  const { shape, data, quant } = tensor
  const type = typeOf(tensor)
  if (!data) return 'it has no data'
  if (!type.codec && !type.regions) return `values of type ${type.id} cannot be decoded`
  if (type.regions) return type.regions.refusal(shape, data.byteLength)
  if (type.kind === 'complex') return 'complex numbers have no scales'
  if (quant?.axis !== undefined && shape[quant.axis] !== quant.scales.length)
    return `it has ${quant.scales.length} scales along axis ${quant.axis} of [${shape.join(', ')}]`
  return undefined
}

/** What is lost besides the codes: scale times code has more digits than a small type holds. */
export function dequantizeLoss(tensor: Tensor, to: DType): 'none' | 'precision' {
  if (!tensor.quant) return castLoss(typeOf(tensor), to)
  const [stored, target] = [typeOf(tensor).values, to.values]
  if (!stored || !target || stored.step < 0) return 'precision'
  const zeros = tensor.quant.zeroPoints ?? [0]
  // Not spread into a call: there can be more zero points than a call takes arguments.
  const farthest = zeros.reduce(
    (max, zero) => Math.max(max, Math.abs(stored.lowest - zero), stored.highest - zero),
    Number.NEGATIVE_INFINITY,
  )
  const bits = Math.ceil(Math.log2(farthest + 1))
  const isExact = tensor.quant.scales.every((scale) => {
    const [mantissa, exponent] = splitFloat(scale)
    const isWithin = exponent >= target.step && Math.abs(scale) * farthest <= target.highest
    return isWithin && bits + Math.log2(mantissa + 1) <= target.precision
  })
  return isExact ? 'none' : 'precision'
}

/** A positive float as an odd integer times a power of two. */
function splitFloat(value: number): [mantissa: number, exponent: number] {
  if (!(value > 0 && value < Number.POSITIVE_INFINITY)) return [2 ** 53, Number.NEGATIVE_INFINITY]
  let [mantissa, exponent] = [value, 0]
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2
    exponent--
  }
  while (mantissa % 2 === 0) {
    mantissa /= 2
    exponent++
  }
  return [mantissa, exponent]
}

/** The values as floats of the given type, in stored order. Annotations about the codes are dropped. */
export function dequantizeTensor(tensor: Tensor, to: DType): Tensor {
  const why = whyNotDequantized(tensor)
  if (why !== undefined)
    failWith(usageCodes['no-codec'], { file: fileOf(tensor.data), path: tensor.name, message: why })
  const { quant, extra, ...rest } = tensor
  if (!quant) return castTensor(rest, to)
  const data = scaledPayload(decodedPayload(tensor, 'f64')!, tensor.shape, tensor.order, quant)
  return castTensor({ ...rest, dtype: f64, encoding: undefined, data, ...(extra && { extra }) }, to)
}

/** Stored numbers as f64, each converted to scale · (number − zero point). */
export function scaledPayload(
  input: Payload,
  shape: readonly number[],
  order: Tensor['order'],
  { axis, scales, zeroPoints }: QuantParams,
): Payload {
  const faster = axis === undefined ? [] : order === 'row' ? shape.slice(axis + 1) : shape.slice(0, axis)
  const inner = countElements(faster)!
  const channels = axis === undefined ? 1 : shape[axis]!
  return mapElements({
    input,
    shape,
    from: f64.group,
    to: f64.group,
    convert(source, target, first, count) {
      const stored = viewOf(Float64Array, source, count)
      fillView(Float64Array, target, count, (values) => {
        for (let i = 0; i < count; i++) {
          const channel = channels === 1 ? 0 : Math.floor((first + i) / inner) % channels
          values[i] = scales[channel]! * (stored[i]! - (zeroPoints?.[channel] ?? 0))
        }
      })
    },
  })
}
