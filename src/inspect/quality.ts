// How far the values of one tensor are from those of another: what quantizing, or any other conversion, has cost.
import { countElements, defaultWindow } from '../bytes/index.js'
import { viewOf } from '../dtypes/views.js'
import { failWith, ioCodes, usageCodes } from '../errors/index.js'
import { addTo, blockCount, createSum, type Sum, sumOf } from '../kernels/stats-sum.js'
import type { Model, Payload, Tensor } from '../model/index.js'
import { decodedPayload } from '../transforms/decode.js'
import { rowMajor } from '../transforms/reorder.js'

export interface TensorQuality {
  readonly name: string
  /** Element types before and after. */
  readonly from: string
  readonly to: string
  readonly count: number
  /** Stored bits per value after, everything that the tensor takes included. */
  readonly bitsPerWeight: number
  readonly rmse: number
  readonly maxError: number
  /** The row-major number of the element with the largest error. */
  readonly maxErrorAt: number
  /** Signal to noise in decibels; null when there is no error, or no signal. */
  readonly snr: number | null
  /** The cosine of the angle between the two as vectors; null when one of them is all zeros. */
  readonly cosine: number | null
}

export interface QualityOptions {
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

export interface ModelQuality {
  /** Tensors whose type has changed, in the order of the original. */
  readonly tensors: readonly TensorQuality[]
  /** All of them as one. Absent when there are none. */
  readonly total?: TensorQuality
}

interface Meter {
  count: number
  /** Σ(a−b)², Σa², Σb², Σab. */
  readonly error: Sum
  readonly before: Sum
  readonly after: Sum
  readonly product: Sum
  maxError: number
  maxErrorAt: number
}

const createMeter = (): Meter => ({
  count: 0,
  error: createSum(),
  before: createSum(),
  after: createSum(),
  product: createSum(),
  maxError: 0,
  maxErrorAt: 0,
})

/** Compares two tensors of the same shape, window by window. */
export async function tensorQuality(
  original: Tensor,
  other: Tensor,
  options: QualityOptions = {},
): Promise<TensorQuality> {
  const meter = createMeter()
  await measure(meter, original, other, options.signal)
  return resultOf(meter, original.name, typeOf(original), typeOf(other), other.data?.byteLength ?? 0)
}

/** Compares every tensor that has another type in `other`, by name. */
export async function modelQuality(original: Model, other: Model, options: QualityOptions = {}): Promise<ModelQuality> {
  const byName = new Map(other.tensors.map((tensor) => [tensor.name, tensor]))
  const pairs = original.tensors.flatMap((tensor) => {
    const match = byName.get(tensor.name)
    return match && tensor.data && match.data && typeOf(match) !== typeOf(tensor) ? [[tensor, match] as const] : []
  })
  const total = pairs.reduce((sum, [tensor]) => sum + (countElements(tensor.shape) ?? 0), 0)
  const all = createMeter()
  const tensors: TensorQuality[] = []
  for (const [tensor, match] of pairs) {
    const meter = createMeter()
    await measure(meter, tensor, match, options.signal)
    tensors.push(resultOf(meter, tensor.name, typeOf(tensor), typeOf(match), match.data!.byteLength))
    merge(all, meter)
    options.onProgress?.({ done: all.count, total, path: tensor.name })
  }
  if (tensors.length === 0) return { tensors }
  const size = pairs.reduce((sum, [, { data }]) => sum + data!.byteLength, 0)
  const types = (pick: (each: TensorQuality) => string): string => [...new Set(tensors.map(pick))].join(', ')
  return {
    tensors,
    total: resultOf(
      all,
      'total',
      types((each) => each.from),
      types((each) => each.to),
      size,
    ),
  }
}

const typeOf = (tensor: Tensor): string => (tensor.encoding ?? tensor.dtype).id

async function measure(meter: Meter, original: Tensor, other: Tensor, signal?: AbortSignal): Promise<void> {
  if (original.shape.join() !== other.shape.join()) {
    const message = `[${original.shape.join(', ')}] cannot be compared with [${other.shape.join(', ')}]`
    failWith(usageCodes.option, { file: '', path: original.name, message })
  }
  const [before, after] = [original, other].map((tensor) => {
    return floatsOf(tensor).chunks(defaultWindow, signal)[Symbol.asyncIterator]()
  }) as [AsyncIterator<Uint8Array>, AsyncIterator<Uint8Array>]
  try {
    for (;;) {
      const [a, b] = [await before.next(), await after.next()]
      if (a.done && b.done) return
      if (a.done || b.done || a.value.byteLength !== b.value.byteLength)
        failWith(ioCodes['short-read'], { file: '', path: original.name, message: 'one of the two ends too early' })
      const count = a.value.byteLength / 4
      addWindow(meter, viewOf(Float32Array, a.value, count), viewOf(Float32Array, b.value, count))
    }
  } finally {
    await Promise.all([before.return?.(), after.return?.()])
  }
}

function floatsOf(tensor: Tensor): Payload {
  const values = tensor.data && decodedPayload(rowMajor(tensor), 'f32')
  const message = `values of type ${typeOf(tensor)} cannot be decoded`
  return values ?? failWith(usageCodes['no-codec'], { file: '', path: tensor.name, message })
}

function addWindow(meter: Meter, a: Float32Array, b: Float32Array): void {
  for (let from = 0; from < a.length; from += blockCount) {
    let [error, before, after, product] = [0, 0, 0, 0]
    for (let i = from; i < Math.min(from + blockCount, a.length); i++) {
      const [x, y] = [a[i]!, b[i]!]
      const rest = x - y
      error += rest * rest
      before += x * x
      after += y * y
      product += x * y
      if (Math.abs(rest) > meter.maxError) {
        meter.maxError = Math.abs(rest)
        meter.maxErrorAt = meter.count + i
      }
    }
    addTo(meter.error, error)
    addTo(meter.before, before)
    addTo(meter.after, after)
    addTo(meter.product, product)
  }
  meter.count += a.length
}

function merge(all: Meter, { count, error, before, after, product, maxError, maxErrorAt }: Meter): void {
  addTo(all.error, sumOf(error))
  addTo(all.before, sumOf(before))
  addTo(all.after, sumOf(after))
  addTo(all.product, sumOf(product))
  if (maxError > all.maxError) {
    all.maxError = maxError
    all.maxErrorAt = all.count + maxErrorAt
  }
  all.count += count
}

function resultOf(meter: Meter, name: string, from: string, to: string, size: number): TensorQuality {
  const { count, maxError, maxErrorAt } = meter
  const [error, before, after, product] = [meter.error, meter.before, meter.after, meter.product].map(sumOf) as [
    number,
    number,
    number,
    number,
  ]
  return {
    ...{ name, from, to, count },
    bitsPerWeight: count === 0 ? 0 : (8 * size) / count,
    rmse: count === 0 ? 0 : Math.sqrt(error / count),
    ...{ maxError, maxErrorAt },
    snr: error > 0 && before > 0 ? 10 * Math.log10(before / error) : null,
    cosine: before > 0 && after > 0 ? Math.min(1, product / Math.sqrt(before) / Math.sqrt(after)) : null,
  }
}
