// Runs of neighbouring values in the order of storage, as f32. A run takes one read of the stored bytes (one per region for types that keep
// scales and codes apart), and the buffer for these bytes is used again. Payloads that can only be streamed are streamed once, so runs must
// be asked for in ascending order.
import { releaseWindow, takeEvenWindow } from '../bytes/index.js'
import { readLittleEndian } from '../bytes/views.js'
import { type DType, f32, isReal, type RegionReader } from '../dtypes/index.js'
import { failWith, usageCodes, writeCodes } from '../errors/index.js'
import { whyUnreadable } from '../inspect/preview.js'
import type { Payload, Tensor } from '../model/index.js'
import { castTensor } from '../transforms/cast.js'
import { fileOf } from './plane.js'

export interface Spans {
  /** Runs can be asked for in any order, also by several at once that have spans of their own. */
  readonly isRandom: boolean
  /** Fills `target` with the values from stored element `first` on. */
  read(first: number, target: Float32Array): Promise<void>
  /** Gives buffers back. */
  close(): Promise<void>
}

/** What the bytes of a tensor mean, or a refusal where they cannot be decoded to f32. */
export function requireValues(tensor: Tensor): { readonly type: DType; readonly data: Payload } {
  const type = tensor.encoding ?? tensor.dtype
  const why = type.regions || isReal(type) ? whyUnreadable(tensor) : `values of type ${type.id} cannot be decoded`
  if (why !== undefined) failWith(usageCodes['no-codec'], { file: fileOf(tensor), path: tensor.name, message: why })
  return { type, data: tensor.data! }
}

export function openSpans(tensor: Tensor, signal?: AbortSignal): Spans {
  const { type, data } = requireValues(tensor)
  if (!data.read) return streamedSpans(castTensor(tensor, f32).data!, signal)
  const { regions } = type
  if (!regions) return decodedSpans(type, data, signal)
  return {
    isRandom: true,
    read: (first, target) => regions.decode(data as RegionReader, tensor.shape, first, target, signal),
    async close() {},
  }
}

function decodedSpans({ codec, group }: DType, data: Payload, signal: AbortSignal | undefined): Spans {
  // The same decoder as a cast to f32 takes.
  const decode = codec!.toF32Bits ?? codec!.toF32
  let buffer: Uint8Array | undefined
  const bytesAt = async (offset: number, length: number): Promise<Uint8Array> => {
    const { source, offset: start } = data.origin ?? {}
    if (!source?.readInto) return data.read!(offset, length, signal)
    if (!buffer || buffer.byteLength < length) {
      if (buffer) releaseWindow(buffer)
      buffer = takeEvenWindow(length)
    }
    const target = buffer.subarray(0, length)
    // A window ends here: a server is not asked for what lies behind it, which browsers would hold in memory.
    await source.readInto(start! + offset, target, { signal, isLast: true })
    return target
  }
  let scratch = new Float32Array()
  return {
    isRandom: true,
    async read(first, target) {
      const skip = first % group.elements
      const offset = ((first - skip) / group.elements) * group.bytes
      const groups = Math.ceil((skip + target.length) / group.elements)
      // The last group of a tensor may be incomplete.
      const bytes = await bytesAt(offset, Math.min(groups * group.bytes, data.byteLength - offset))
      if (skip === 0) return decode(bytes, target)
      if (scratch.length < skip + target.length) scratch = new Float32Array(skip + target.length)
      const values = scratch.subarray(0, skip + target.length)
      decode(bytes, values)
      copyBits(values.subarray(skip), target)
    },
    async close() {
      if (buffer) releaseWindow(buffer)
      buffer = undefined
    },
  }
}

/** As integers: a NaN must not change. */
export function copyBits(source: Float32Array, target: Float32Array): void {
  new Uint32Array(target.buffer, target.byteOffset, target.length).set(
    new Uint32Array(source.buffer, source.byteOffset, source.length),
  )
}

const streamWindow = 1 << 20

function streamedSpans(values: Payload, signal: AbortSignal | undefined): Spans {
  const chunks = values.chunks(streamWindow, signal)[Symbol.asyncIterator]()
  let chunk: Uint8Array = new Uint8Array()
  let start = 0
  return {
    isRandom: false,
    async read(first, target) {
      for (let at = 4 * first, done = 0; done < target.byteLength; ) {
        while (at >= start + chunk.byteLength) {
          start += chunk.byteLength
          const next = await chunks.next()
          if (next.done) return refuseEnd(values, start)
          chunk = next.value
        }
        const part = chunk.subarray(at - start, at - start + target.byteLength - done)
        readLittleEndian(part, target.subarray(done / 4, (done + part.byteLength) / 4))
        at += part.byteLength
        done += part.byteLength
      }
    },
    async close() {
      await chunks.return?.()
    },
  }
}

const refuseEnd = (values: Payload, came: number): never =>
  failWith(writeCodes['layout-mismatch'], {
    file: values.origin?.source.name ?? 'tensor',
    message: `a payload of ${values.byteLength} bytes gave ${came}`,
  })
