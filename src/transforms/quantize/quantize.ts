// Quantizes a tensor to one of MCF's or ggml's types. Nothing is computed before the payload is read.
import { countElements, defaultWindow } from '../../bytes/index.js'
import { viewOf } from '../../bytes/views.js'
import { type DType, dtypeById } from '../../dtypes/index.js'
import { blockLayout, type Domain, type Method, rawLayout } from '../../dtypes/mcf/layout.js'
import type { QuantInfo } from '../../dtypes/mcf/types.js'
import { failWith, usageCodes } from '../../errors/index.js'
import { blockKernels, blockValues, type CodeSet, tileBlocks } from '../../kernels/mcf/index.js'
import type { Payload, Tensor } from '../../model/index.js'
import { byteCosts } from '../../threads/costs.js'
import type { RunThreads, WorkerPool } from '../../threads/index.js'
import { castTensor } from '../cast.js'
import { fileOf } from '../map-elements.js'
import { late, pooled } from '../pooled.js'
import { rowMajor } from '../reorder.js'
import { bandPayload } from './bands.js'
import { type BlockLimits, blockPayload, type Manner, type Mode } from './blocks.js'
import { acceptedShapes, type BlockMethod, quantizedSize, requireMethod } from './method.js'
import { floatsOf, rawPayload, refuseElement } from './raw.js'
import { rowsPayload, whyNotWeighted } from './rows.js'
import type { Clip, Matrix } from './tiles.js'

export type { Clip, CodeSet, Mode }

export interface QuantizeOptions {
  /** `search` for the scales with the smallest error (default), or match the reference program byte for byte. */
  readonly mode?: Mode | undefined
  /**
   * `all` also uses the most negative code, which the format's specification leaves unused, and scales of either sign: the error gets
   * smaller, and readers decode it correctly. For q* and k*, not in reference mode.
   */
  readonly codes?: CodeSet | undefined
  /** Values are clipped to this range first. */
  readonly clip?: Clip | undefined
  /** The range that `scanRange` found, to be stored in the container's records. Nothing is clipped. */
  readonly range?: Clip | undefined
  /** int8 and int4 can have a zero point, for activations. */
  readonly domain?: Domain | undefined
  /**
   * How much the error of each column counts, one after another for a tensor of several matrices. For ggml's types, and for q* and k* in
   * search mode.
   */
  readonly importance?: Float32Array | undefined
  /** Memory limits, for tests. */
  readonly limits?: BlockLimits | undefined
  /** The threads that quantize large tensors, chosen when they are written. */
  readonly threads?: RunThreads | undefined
}

export function quantizeTensor(tensor: Tensor, methodName: string, options: QuantizeOptions = {}): Tensor {
  const method = requireMethod(methodName)
  const { clip, range, domain = 'weights', mode, codes } = options
  const refuse = (message: string): never =>
    failWith(usageCodes.option, { file: fileOf(tensor.data), path: tensor.name, message })
  if (method.family === 'ggml') return inBlocks(tensor, method, options, refuse)
  if (method.family !== 'int' && domain !== 'weights') refuse(`${method.id} is for weights only`)
  if (codes === 'all' && mode === 'reference') refuse('the reference never uses all codes')
  if (clip && !(clip[0] <= clip[1])) refuse(`the range from ${clip[0]} to ${clip[1]} is empty`)
  const size = quantizedSize(method, tensor.shape, domain)
  if (size === undefined)
    refuse(`[${tensor.shape.join(', ')}] is not a shape for ${method.id}, which takes matrices only`)
  const columns = tensor.shape.at(-1) ?? 0
  if (options.importance && isSearched(method, mode) && options.importance.length !== columns)
    refuse(`there are ${options.importance.length} importance weights for this tensor, which has ${columns} columns`)
  const dtype = dtypeById(method.id) as DType
  const info = quantInfo(clip ?? range, clip !== undefined, domain)
  const extra = { ...withoutQuantInfo(tensor), ...(info && { quantInfo: { ...info } }) }
  const quantized: Tensor = { ...tensor, dtype, encoding: undefined, quant: undefined, order: 'row', extra }
  if (!tensor.data) return quantized
  return { ...quantized, data: payloadOf(method, tensor, floatsOf(tensor), options) }
}

/** Whether scales are searched for, so that weights of columns matter. */
const isSearched = ({ family }: Method, mode: Mode = 'search'): boolean => family !== 'int' && mode === 'search'

/** ggml types have no records. Without importance weights and in search mode they are plain casts. */
function inBlocks(
  tensor: Tensor,
  method: BlockMethod,
  options: QuantizeOptions,
  refuse: (why: string) => never,
): Tensor {
  const { clip, domain = 'weights', mode = 'search', codes = 'symmetric', importance } = options
  const isPlain = !clip && domain === 'weights' && codes === 'symmetric'
  if (!isPlain) refuse(`clipping, activations and all codes are for MCF's methods, not ${method.id}`)
  if (quantizedSize(method, tensor.shape) === undefined)
    refuse(`[${tensor.shape.join(', ')}] is not a shape for ${method.id}, which takes ${acceptedShapes(method)}`)
  const why = whyNotWeighted(tensor.shape, method.dtype, importance)
  if (why !== undefined) refuse(why)
  const inOrder = rowMajor(tensor)
  const isWeighted = importance !== undefined && method.dtype.codec!.rows!.weights !== 'ignored'
  const isCast = !isWeighted && mode === 'search'
  const coded: Tensor = isCast
    ? castTensor(inOrder, method.dtype)
    : {
        ...inOrder,
        dtype: method.dtype,
        encoding: undefined,
        data: inOrder.data && encodedRows(inOrder, method, options),
      }
  // Nothing to take away: a copy with two fields more would be three times as large.
  if (!tensor.quant && !tensor.extra) return coded
  return { ...coded, quant: undefined, extra: withoutQuantInfo(tensor) }
}

function encodedRows(tensor: Tensor, method: BlockMethod, { mode, importance }: QuantizeOptions): Payload {
  return rowsPayload(tensor, method.dtype, { importance, isReference: mode === 'reference' })
}

function payloadOf(method: Method, tensor: Tensor, values: Payload, options: QuantizeOptions): Payload {
  const { clip, range, domain = 'weights', mode = 'search', codes = 'symmetric', limits, threads } = options
  if (method.family === 'int') {
    const findRange = (signal?: AbortSignal): Promise<Clip> => scanRange(tensor, domain, signal)
    const cost = (byteCosts.whole * 32) / method.bits
    const share = (made: Payload): Payload => (threads?.pool ? pooled(made, threads.pool, cost) : made)
    return rawPayload(method, rawLayout(method, tensor.shape, domain)!, tensor, clip ?? range, findRange, share)
  }
  const [rows, columns] = tensor.shape as [number, number]
  const layout = blockLayout(method, tensor.shape)!
  const manner: Manner = { mode, codes, ...(isSearched(method, mode) && { importance: options.importance }) }
  const matrix: Matrix = { tensor, type: method.id, rows, columns, values, clip }
  const payload = blockPayload(method, layout, matrix, manner, limits)
  const inBands = (pool: WorkerPool): Payload | undefined =>
    bandPayload(method, layout, tensor, values, { manner, clip, limits, pool })
  return threads ? late(payload, { threads, make: inBands }) : payload
}

/**
 * A record states the range that values were clipped to; without clipping, the largest magnitude in both directions, or the minimum and
 * maximum for activations.
 */
function quantInfo(range: Clip | undefined, isClip: boolean, domain: Domain): QuantInfo | undefined {
  if (!range) return undefined
  const [min, max] = range
  if (isClip || domain === 'activations') return { domain, minClip: Math.fround(min), maxClip: Math.fround(max) }
  const magnitude = Math.max(Math.abs(min), Math.abs(max))
  return { domain, minClip: -magnitude, maxClip: magnitude }
}

function withoutQuantInfo({ extra }: Tensor): NonNullable<Tensor['extra']> {
  const { quantInfo: _old, ...rest } = extra ?? {}
  return rest
}

/**
 * The range of a tensor's values: for weights the largest magnitude in both directions, for activations the minimum and maximum. Non-finite
 * values fail with write/value-range.
 */
export async function scanRange(tensor: Tensor, domain: Domain = 'weights', signal?: AbortSignal): Promise<Clip> {
  const count = countElements(tensor.shape) ?? 0
  let range: Clip = domain === 'weights' ? [-0, 0] : [Infinity, -Infinity]
  let first = 0
  for await (const chunk of floatsOf(tensor).chunks(defaultWindow, signal)) {
    const floats = viewOf(Float32Array, chunk, chunk.byteLength / 4)
    const next = domain === 'weights' ? magnitudeOf(floats) : endsOf(floats)
    if (!next) {
      const bad = floats.findIndex((value) => !Number.isFinite(value))
      refuseElement(tensor, 'a quantized type', first + bad, floats[bad]!)
    }
    range = [Math.min(range[0], next[0]), Math.max(range[1], next[1])]
    first += floats.length
  }
  return count === 0 ? [-0, 0] : range
}

function magnitudeOf(floats: Float32Array): Clip | undefined {
  const kernels = blockKernels()
  const step = tileBlocks * blockValues
  let maxBits = 0
  for (let at = 0; at < floats.length; at += step) {
    const part = floats.subarray(at, at + step)
    maxBits = Math.max(maxBits, kernels.load(part.length % blockValues === 0 ? part : filledUp(part)))
  }
  if (maxBits >= 0x7f800000) return undefined
  const magnitude = new Float32Array(Uint32Array.of(maxBits).buffer)[0]!
  return [-magnitude, magnitude]
}

function filledUp(part: Float32Array): Float32Array {
  const filled = new Float32Array(Math.ceil(part.length / blockValues) * blockValues)
  filled.set(part)
  return filled
}

function endsOf(floats: Float32Array): Clip | undefined {
  let min = Infinity
  let max = -Infinity
  for (const value of floats) {
    if (value - value !== 0) return undefined
    if (value < min) min = value
    if (value > max) max = value
  }
  return [min, max]
}
