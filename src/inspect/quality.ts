// How far the values of one tensor are from those of another: what quantizing, or any other conversion, has cost.
import { countElements, defaultWindow } from '../bytes/index.js'
import { viewOf } from '../bytes/views.js'
import { failWith, usageCodes } from '../errors/index.js'
import { compareWindows, createMeter, distanceOf, type Meter, mergeMeter } from '../kernels/numbers/compare.js'
import type { Model, Payload, Tensor } from '../model/index.js'
import { decodedPayload } from '../transforms/decode.js'
import { rowMajor } from '../transforms/reorder.js'
import { sideBySide } from '../transforms/side-by-side.js'

export interface TensorQuality {
  readonly name: string
  /** Element types before and after. */
  readonly from: string
  readonly to: string
  readonly count: number
  /** Stored bits per value after the conversion, including everything the tensor takes. */
  readonly bitsPerWeight: number
  /** NaN when a value is finite on one side only, or NaN on one side only. */
  readonly rmse: number
  readonly maxError: number
  /** The row-major index of the element with the largest error. */
  readonly maxErrorAt: number
  /** Signal-to-noise ratio in decibels; null when there is no error, or no signal. */
  readonly snr: number | null
  /** The cosine of the angle between the two as vectors; null when one of them is all zeros. */
  readonly cosine: number | null
  /** With importance weights: the root of the mean squared error, every column weighed by them. */
  readonly weightedRmse?: number | undefined
}

export interface QualityOptions {
  /** Importance weights of the columns, by the name of a tensor. */
  readonly importance?: ReadonlyMap<string, Float32Array> | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

export interface ModelQuality {
  /** Tensors whose type has changed, in the order of the original. */
  readonly tensors: readonly TensorQuality[]
  /** All of them taken together. Absent if there are none. */
  readonly total?: TensorQuality
}

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

/** Compares every tensor whose type differs in `other`, by name. */
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
    const weighted = weigher(tensor, options.importance?.get(tensor.name))
    await measure(meter, tensor, match, options.signal, weighted)
    const result = resultOf(meter, tensor.name, typeOf(tensor), typeOf(match), match.data!.byteLength)
    tensors.push(weighted ? { ...result, weightedRmse: weighted.rmse() } : result)
    mergeMeter(all, meter)
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

interface Weigher {
  add(a: Float32Array, b: Float32Array, first: number): void
  rmse(): number
}

/** Undefined without weights, or with weights that do not go with the shape. */
function weigher({ shape }: Tensor, importance: Float32Array | undefined): Weigher | undefined {
  const columns = shape.at(-1) ?? 0
  const perMatrix = columns * (shape.at(-2) ?? 1)
  if (!importance || columns === 0 || importance.length % columns !== 0) return undefined
  const matrices = importance.length / columns
  let [error, sum] = [0, 0]
  return {
    add(a, b, first) {
      for (let i = 0; i < a.length; i++) {
        const at = first + i
        const matrix = matrices === 1 ? 0 : Math.floor(at / perMatrix) % matrices
        const weight = importance[matrix * columns + (at % columns)]!
        error += weight * (a[i]! - b[i]!) ** 2
        sum += weight
      }
    },
    rmse: () => (sum === 0 ? 0 : Math.sqrt(error / sum)),
  }
}

async function measure(
  meter: Meter,
  original: Tensor,
  other: Tensor,
  signal?: AbortSignal,
  weighted?: Weigher,
): Promise<void> {
  if (original.shape.join() !== other.shape.join()) {
    const message = `[${original.shape.join(', ')}] cannot be compared with [${other.shape.join(', ')}]`
    failWith(usageCodes.option, { file: '', path: original.name, message })
  }
  for await (const { a, b, offset } of sideBySide(floatsOf(original), floatsOf(other), defaultWindow, signal)) {
    const count = a.byteLength / 4
    const [left, right] = [viewOf(Float32Array, a, count), viewOf(Float32Array, b, count)]
    compareWindows(meter, { a: left, b: right })
    weighted?.add(left, right, offset / 4)
  }
}

function floatsOf(tensor: Tensor): Payload {
  const values = tensor.data && decodedPayload(rowMajor(tensor), 'f32')
  const message = `values of type ${typeOf(tensor)} cannot be decoded`
  return values ?? failWith(usageCodes['no-codec'], { file: '', path: tensor.name, message })
}

function resultOf(meter: Meter, name: string, from: string, to: string, size: number): TensorQuality {
  const { count, maxAbs, maxAbsAt, nonFinite } = meter
  const distance = nonFinite > 0 ? { rmse: Number.NaN, snr: null, cosine: null } : distanceOf(meter)
  const bitsPerWeight = count === 0 ? 0 : (8 * size) / count
  return { name, from, to, count, bitsPerWeight, maxError: maxAbs, maxErrorAt: maxAbsAt, ...distance }
}
