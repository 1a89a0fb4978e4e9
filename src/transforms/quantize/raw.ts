// The payload of an int8 or int4 tensor: one scale for the whole tensor and, for activations, a zero point.
//
//   weights      scale = max|x| / 127 (or 7), codes from -127 to 127, so that zero is code 0
//   activations  scale = (max − min) / 255 (or 15), codes from -128 to 127, zero point = the code of zero, a whole number
import { defaultWindow } from '../../bytes/index.js'
import { viewOf } from '../../bytes/views.js'
import type { Method, RawLayout } from '../../dtypes/mcf/layout.js'
import { failWith, writeCodes } from '../../errors/index.js'
import { lazyPayload, type Payload, type Tensor } from '../../model/index.js'
import { fileOf } from '../map-elements.js'
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

/** `findRange` is called when the payload is read. */
export function rawPayload(
  method: Method,
  layout: RawLayout,
  tensor: Tensor,
  values: Payload,
  findRange: (signal?: AbortSignal) => Promise<Clip>,
): Payload {
  return lazyPayload(layout.byteLength, async function* (signal) {
    const range = await findRange(signal)
    const scale = rawScale(method, layout.domain, range)
    if (!Number.isFinite(scale.scale)) {
      const message = `the range from ${range[0]} to ${range[1]} is too wide for a scale`
      failWith(writeCodes['value-range'], { file: fileOf(tensor.data), path: tensor.name, message })
    }
    yield headOf(layout, scale)
    let first = 0
    for await (const chunk of values.chunks(defaultWindow, signal)) {
      const floats = viewOf(Float32Array, chunk, chunk.byteLength / 4)
      const codes = new Int8Array(floats.length)
      const bad = encodeValues(floats, range, scale, codes)
      if (bad >= 0) refuseElement(tensor, method.id, first + bad, floats[bad]!)
      yield method.bits === 8 ? new Uint8Array(codes.buffer) : packPairs(codes)
      first += floats.length
    }
  })
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

/** Returns the index of the first non-finite value, or -1. */
function encodeValues(
  values: Float32Array,
  [min, max]: Clip,
  { scale, zero, lowest, highest }: RawScale,
  codes: Int8Array,
): number {
  const inverse = scale === 0 ? 0 : 1 / scale
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (value - value !== 0) return i
    const clipped = value < min ? min : value > max ? max : value
    const code = roundEven(clipped * inverse + zero)
    codes[i] = code < lowest ? lowest : code > highest ? highest : code
  }
  return -1
}

/** The lower half of a byte comes first. Windows hold an even number of values, so only the tensor's last can be unpaired. */
function packPairs(codes: Int8Array): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(codes.length / 2))
  for (let i = 0; i < bytes.length; i++) bytes[i] = (codes[2 * i]! & 15) | ((codes[2 * i + 1] ?? 0) << 4)
  return bytes
}
