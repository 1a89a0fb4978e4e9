// What each quantization method would cost a tensor: stored bits per value and signal-to-noise ratio, measured on a sample of its rows.
import { f32 } from '../dtypes/index.js'
import { TareError, writeCodes } from '../errors/index.js'
import { tensorQuality } from '../inspect/quality.js'
import { bytesPayload, readPayload, type Tensor } from '../model/index.js'
import { methodNames, needsWeights, quantizedSize, requireMethod } from '../transforms/quantize/method.js'
import { quantizeTensor } from '../transforms/quantize/quantize.js'
import { rowMajor } from '../transforms/reorder.js'
import { sampleBands, storedMatrix } from '../windows/bands.js'

/** Which methods are measured, and on how much of a tensor. */
export interface MeasureOptions {
  /** Default: all that accept the shape and need no importance weights. Those that cannot hold the values are left out. */
  readonly methods?: readonly string[] | undefined
  /** How many values are sampled, at least a row. Default: 2^16. */
  readonly values?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Called before each method. */
  readonly onProgress?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

export interface MethodPoint {
  readonly method: string
  readonly bitsPerWeight: number
  /** In decibels; null when there is no error, or no signal. */
  readonly snr: number | null
  readonly rmse: number
}

/** What each quantization method costs a tensor, measured on a sample of its rows. */
export interface MeasuredMethods {
  /** In ascending order of bits. */
  readonly points: readonly MethodPoint[]
  /** Rows and columns that were measured. */
  readonly rows: number
  readonly columns: number
  readonly isSample: boolean
}

/** Quantizes a sample of the rows of a tensor by each method, and measures the error. */
export async function measureMethods(tensor: Tensor, options: MeasureOptions = {}): Promise<MeasuredMethods> {
  const sample = await sampleRows(tensor, options.values ?? 1 << 16, options.signal)
  const [rows = 0, columns = 0] = sample.shape
  const names = (options.methods ?? methodNames())
    .map(requireMethod)
    .filter((method) => rows > 0 && !needsWeights(method) && quantizedSize(method, sample.shape) !== undefined)
  const points: MethodPoint[] = []
  for (const [done, method] of names.entries()) {
    options.onProgress?.({ done, total: names.length, path: tensor.name })
    // Lets other work of a page's worker go on, and an abort arrive.
    await new Promise((resume) => setTimeout(resume))
    options.signal?.throwIfAborted()
    const quantized = await quantizedSample(sample, method.id, options.signal)
    if (!quantized) continue
    const { bitsPerWeight, snr, rmse } = await tensorQuality(sample, quantized, options)
    points.push({ method: method.id, bitsPerWeight, snr, rmse })
  }
  points.sort((a, b) => a.bitsPerWeight - b.bitsPerWeight)
  return { points, rows, columns, isSample: rows < storedMatrix(tensor).height }
}

/** Undefined where a method has no scale for values so large. */
async function quantizedSample(sample: Tensor, method: string, signal?: AbortSignal): Promise<Tensor | undefined> {
  try {
    const quantized = quantizeTensor(sample, method)
    return { ...quantized, data: bytesPayload(await readPayload(quantized.data!, signal)) }
  } catch (error) {
    if (error instanceof TareError && error.code === writeCodes['value-range'].code) return undefined
    throw error
  }
}

/** Whole rows as f32 in memory. Values that no method takes (NaN, infinities) become 0. */
async function sampleRows(tensor: Tensor, wanted: number, signal: AbortSignal | undefined): Promise<Tensor> {
  const stored = rowMajor(tensor)
  const { width, height } = storedMatrix(stored)
  const rows = Math.min(height, Math.max(1, Math.floor(wanted / Math.max(1, width))))
  const pieces: Float32Array[] = []
  for await (const { values } of sampleBands(stored, { bands: Math.min(rows, 32), values: rows * width, signal }))
    pieces.push(values.slice())
  const count = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const all = new Float32Array(count)
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  for (let i = 0; i < count; i++) if (!Number.isFinite(all[i]!)) all[i] = 0
  const shape = [width === 0 ? 0 : count / width, width]
  const bytes = new Uint8Array(all.buffer)
  return { name: tensor.name, dtype: f32, shape, order: 'row', role: 'weight', data: bytesPayload(bytes) }
}
