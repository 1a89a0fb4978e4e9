// Decodes types that store scales and codes in separate regions. All regions are read in parallel, a few reads per tile of elements, so the
// payload must support random access; otherwise it is kept in memory if it is small.
import { checkAborted, checkRange, countElements, defaultWindow, releaseWindow, takeWindow } from '../bytes/index.js'
import { fillView, littleEndianHost, writeLittleEndian } from '../bytes/views.js'
import type { RegionCodec, RegionReader } from '../dtypes/index.js'
import { failWith } from '../errors/index.js'
import { bytesPayload, type Payload, readPayload, rechunked, type Tensor } from '../model/index.js'
import { transformCodes } from './codes.js'
import { fileOf } from './map-elements.js'

const minElements = 1 << 14
const maxElements = 1 << 18
/** The maximum size of a payload without random access that is kept in memory for decoding. */
const maxBuffered = 1 << 26

/** The maximum memory held while such a payload is decoded. */
export const decodeMemory = (byteLength: number, hasRandomAccess: boolean): number =>
  hasRandomAccess ? 0 : Math.min(byteLength, maxBuffered)

interface Regions {
  readonly codec: RegionCodec
  readonly tensor: Tensor
  readonly data: Payload
  /** The first element of the payload. */
  readonly base: number
  readonly count: number
  readonly width: 4 | 8
}

/** The values as little-endian f32 or f64, or undefined if they cannot be decoded. */
export function decodeRegions(tensor: Tensor, codec: RegionCodec, as: 'f32' | 'f64'): Payload | undefined {
  const { data, shape } = tensor
  const count = countElements(shape)
  if (!data || count === undefined || codec.refusal(shape, data.byteLength) !== undefined) return undefined
  const regions: Regions = { codec, tensor, data, base: 0, count, width: as === 'f32' ? 4 : 8 }
  return payloadOf(regions)
}

function payloadOf(regions: Regions): Payload {
  const { count, width, base } = regions
  const payload: Payload = {
    byteLength: count * width,
    chunks: (window, signal) => rechunked(decodeAll(regions, window, signal), window),
  }
  if (!regions.data.read) return payload
  return {
    ...payload,
    read: (offset, length, signal) => decodePart(regions, offset, length, signal),
    slices: {
      unit: width,
      take: (offset, length) => payloadOf({ ...regions, base: base + offset / width, count: length / width }),
    },
  }
}

async function* decodeAll(
  regions: Regions,
  window: number,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const { count, width, data } = regions
  const reader = await randomAccess(regions, signal)
  const step = Math.min(maxElements, Math.max(minElements, 2 ** Math.floor(Math.log2(window / width))))
  const target = takeWindow(Math.min(step, 2 ** Math.ceil(Math.log2(Math.max(count, 1)))) * width)
  try {
    for (let first = 0; first < count; first += step) {
      checkAborted(signal, fileOf(data))
      const part = target.subarray(0, Math.min(step, count - first) * width)
      await decodeTile(regions, reader, first, part, signal)
      yield part
    }
  } finally {
    releaseWindow(target)
  }
}

async function decodePart(regions: Regions, offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
  const { count, width, data } = regions
  checkRange({ name: fileOf(data), size: count * width }, offset, length)
  const result = new Uint8Array(length)
  const reader = await randomAccess(regions, signal)
  const step = defaultWindow / width
  for (let first = Math.floor(offset / width); first * width < offset + length; first += step) {
    checkAborted(signal, fileOf(data))
    const last = Math.min(first + step, Math.ceil((offset + length) / width))
    const tile = new Uint8Array((last - first) * width)
    await decodeTile(regions, reader, first, tile, signal)
    const skip = Math.max(0, offset - first * width)
    result.set(tile.subarray(skip, offset + length - first * width), first * width + skip - offset)
  }
  return result
}

async function decodeTile(
  { codec, tensor, width, base }: Regions,
  reader: RegionReader,
  first: number,
  target: Uint8Array,
  signal?: AbortSignal,
): Promise<void> {
  const length = target.byteLength / width
  const inPlace = width === 4 && littleEndianHost && target.byteOffset % 4 === 0
  const values = inPlace ? new Float32Array(target.buffer, target.byteOffset, length) : new Float32Array(length)
  await codec.decode(reader, tensor.shape, base + first, values, signal)
  if (inPlace) return
  if (width === 4) writeLittleEndian(values, target)
  else fillView(Float64Array, target, length, (view) => view.set(values))
}

async function randomAccess({ tensor, data }: Regions, signal?: AbortSignal): Promise<RegionReader> {
  if (data.read) return data as RegionReader
  if (data.byteLength > maxBuffered) {
    const message = `${data.byteLength} bytes would have to be kept in memory; the limit is ${maxBuffered}`
    failWith(transformCodes['needs-random-access'], { file: fileOf(data), path: tensor.name, message })
  }
  return bytesPayload(await readPayload(data, signal)) as RegionReader
}
