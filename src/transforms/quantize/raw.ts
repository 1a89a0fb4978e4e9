// The payload of an int8 or int4 tensor: one scale for the whole tensor and, for activations, a zero point.
//
//   weights      scale = max|x| / 127 (or 7), codes from -127 to 127, so that zero is code 0
//   activations  scale = (max − min) / 255 (or 15), codes from -128 to 127, zero point = the code of zero, a whole number
import { defaultWindow } from '../../bytes/index.js'
import { viewOf } from '../../bytes/views.js'
import type { Method, RawLayout } from '../../dtypes/mcf/layout.js'
import { failWith, usageCodes, writeCodes } from '../../errors/index.js'
import { f32ToWhole, type WholeScale } from '../../kernels/numbers/whole.js'
import { lazyPayload, type Payload, payloadRange, type Slices, type Tensor } from '../../model/index.js'
import { tensorRecipe } from '../../model/model.js'
import { byteCosts } from '../../threads/costs.js'
import { decodedPayload } from '../decode.js'
import { fileOf, mapElements } from '../map-elements.js'
import { rowMajor } from '../reorder.js'
import type { Clip } from './tiles.js'

export interface RawScale {
  readonly scale: number
  readonly zero: number
  readonly lowest: number
  readonly highest: number
}

/** The range of an asymmetric type always includes zero: otherwise zero would have no code. */
export function rawScale(method: Method, domain: RawLayout['domain'], [min, max]: Clip): RawScale {
  const highest = 2 ** (method.bits - 1) - 1
  const { fround } = Math
  if (domain === 'weights') {
    return {
      scale: fround(fround(Math.max(Math.abs(min), Math.abs(max))) / highest),
      zero: 0,
      lowest: -highest,
      highest,
    }
  }
  const lowest = -highest - 1
  const [low, high] = [fround(Math.min(min, 0)), fround(Math.max(max, 0))]
  const scale = fround(fround(high - low) / (highest - lowest))
  const zero = scale === 0 ? 0 : Math.min(Math.max(roundEven(lowest - low / scale), lowest), highest)
  return { scale, zero, lowest, highest }
}

/** For magnitudes below 2^51. */
const roundEven = (value: number): number => value + 1.5 * 2 ** 52 - 1.5 * 2 ** 52

/**
 * `findRange` is called when the payload is read, unless the range is known, and `share`, which may leave the codes to other threads. Only with
 * a known range can it be made from the middle.
 */
export function rawPayload(
  method: Method,
  layout: RawLayout,
  tensor: Tensor,
  known: Clip | undefined,
  findRange: (signal?: AbortSignal) => Promise<Clip>,
  share: (codes: Payload) => Payload,
): Payload {
  const { byteLength, codesOffset } = layout
  const codesOf = (scale: RawScale, range: Clip): Payload =>
    share(wholePayload(tensor, method.bits as 4 | 8, wholeScale(scale, range)))
  const scaleOf = (range: Clip): RawScale => {
    const scale = rawScale(method, layout.domain, range)
    if (Number.isFinite(scale.scale)) return scale
    const message = `the range from ${range[0]} to ${range[1]} is too wide for a scale`
    return failWith(writeCodes['value-range'], { file: fileOf(tensor.data), path: tensor.name, message })
  }
  const part = (from: number, to: number): Payload =>
    lazyPayload(to - from, async function* (signal) {
      const range = known ?? (await findRange(signal))
      const scale = scaleOf(range)
      if (from < codesOffset) yield headOf(layout, scale).subarray(from, to)
      const first = Math.max(from, codesOffset)
      if (first >= to) return
      const codes = payloadRange(codesOf(scale, range), first - codesOffset, to - first)
      yield* codes.chunks(defaultWindow, signal)
    })
  const cost = (byteCosts.whole * 32) / method.bits
  const slices: Slices = { unit: 1, take: (offset, length) => part(offset, offset + length) }
  return { ...part(0, byteLength), cost, ...(known && { slices }) }
}

function wholeScale({ scale, ...limits }: RawScale, [min, max]: Clip): WholeScale {
  return { ...limits, factor: scale === 0 ? 0 : 1 / scale, min, max }
}

/** The codes of a tensor's values in row order. */
export function wholePayload(tensor: Tensor, bits: 4 | 8, scale: WholeScale): Payload {
  return mapElements({
    input: floatsOf(tensor),
    shape: tensor.shape,
    from: { elements: 1, bytes: 4 },
    to: { elements: 8 / bits, bytes: 1 },
    convert(source, target, first, count) {
      const values = viewOf(Float32Array, source, count)
      const bad = f32ToWhole(bits, values, target, scale)
      if (bad >= 0) refuseElement(tensor, `int${bits}`, first + bad, values[bad]!)
    },
    recipe() {
      const made = tensorRecipe(tensor)
      return made && { kind: 'whole', tensor: made, bits, scale }
    },
  })
}

/** The values in row order, as f32. */
export function floatsOf(tensor: Tensor): Payload {
  const values = decodedPayload(rowMajor(tensor), 'f32')
  if (values) return values
  const message = `values of type ${(tensor.encoding ?? tensor.dtype).id} cannot be decoded`
  return failWith(usageCodes['no-codec'], { file: fileOf(tensor.data), path: tensor.name, message })
}

export function refuseElement(tensor: Tensor, type: string, element: number, value: number): never {
  const message = `element ${element} is ${value}, which ${type} cannot hold`
  failWith(writeCodes['value-range'], { file: fileOf(tensor.data), path: tensor.name, message })
}

function headOf(layout: RawLayout, { scale, zero }: RawScale): Uint8Array {
  const bytes = new Uint8Array(layout.codesOffset)
  const view = new DataView(bytes.buffer)
  view.setFloat32(0, scale, true)
  if (layout.zeroOffset !== undefined) view.setFloat32(layout.zeroOffset, zero, true)
  return bytes
}
