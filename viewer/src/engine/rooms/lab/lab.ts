// What the Quantize lab asks: a crop before and after a method, all methods on a tensor, and the methods on each kind of tensor of the
// model, to spend a budget on.
import {
  bytesPayload,
  dtypeById,
  type MethodChoice,
  type MethodPoint,
  measureMethods,
  methodNames,
  planMethods,
  quantizeTensor,
  readPayload,
  readWindow,
  type Tensor,
} from 'tare/kit'
import type { Call } from '../../calls.js'
import type { CallContext, Handlers } from '../../serve.js'
import { type Crop, measured } from '../compare.js'
import { requireOpened, requireTensorNamed } from '../models/opened.js'
import { infoOf, type TensorRef } from '../tensor/tensor.js'
import { type KindOfTensor, kindsOf } from './lab-kinds.js'

export interface LabCrop {
  readonly rows: number
  readonly columns: number
  readonly original: Float32Array
  readonly result: Float32Array
  /** result − original. */
  readonly error: Float32Array
  readonly rmse: number
  readonly maxAbs: number
  /** In decibels; null when there is no error, or no signal. */
  readonly snr: number | null
  readonly bitsPerWeight: number
}

export interface MeasuredKind extends KindOfTensor {
  /** What each method costs the largest of them; the error of the others is taken to be alike. */
  readonly points: readonly MethodPoint[]
  /** Mean of the squared values, which turns a ratio into an error. */
  readonly power: number
}

export interface LabStart {
  readonly methods: readonly string[]
  readonly tensor?: TensorRef | undefined
  readonly rows: number
  readonly columns: number
  /** Why there is no tensor. */
  readonly reason?: string | undefined
}

export interface LabCalls {
  /** The tensor to begin with: the one that is named, or else the largest that can be quantized; and all methods. */
  labStart: Call<{ readonly model: number; readonly tensor?: string | undefined }, LabStart>
  labCrop: Call<
    { readonly model: number; readonly tensor: string; readonly method: string; readonly crop: Crop },
    LabCrop
  >
  /** Of all that can be quantized, with `family` as the methods to choose from. */
  labKinds: Call<{ readonly model: number; readonly methods: readonly string[] }, readonly MeasuredKind[]>
  /** What a choice of methods would make of the model. */
  labPlan: Call<
    {
      readonly model: number
      readonly method: string
      readonly rules: readonly (readonly [glob: string, method: string])[]
    },
    {
      readonly before: number
      readonly after: number
      readonly quantized: number
      readonly kept: readonly MethodChoice[]
    }
  >
}

export const labHandlers: Handlers = { labStart, labCrop, labKinds, labPlan }

function labStart({ model, tensor: wanted }: LabCalls['labStart']['ask']): LabStart {
  const { tensors } = requireOpened(model).model
  const methods = methodNames()
  const named = tensors.findIndex(({ name }) => name === wanted)
  const index = named >= 0 ? named : largestMatrix(tensors)
  if (index === undefined)
    return { methods, rows: 0, columns: 0, reason: 'This model has no matrix that could be quantized.' }
  const { ref } = infoOf(model, index)
  return { methods, tensor: ref, rows: ref.shape.at(-2) ?? 1, columns: ref.shape.at(-1) ?? 1 }
}

function largestMatrix(tensors: readonly Tensor[]): number | undefined {
  let [largest, size]: [number | undefined, number] = [undefined, 0]
  for (const [i, { shape, data }] of tensors.entries())
    if (shape.length === 2 && data && data.byteLength > size) [largest, size] = [i, data.byteLength]
  return largest
}

async function labCrop(
  { model, tensor: name, method, crop }: LabCalls['labCrop']['ask'],
  { signal, move }: CallContext,
): Promise<LabCrop> {
  const tensor = requireTensorNamed(model, name)
  const { row, column, height, width, fixed } = crop
  const rows = [row, row + height] as const
  const window = await readWindow(tensor, { rows, columns: [column, column + width], fixed, signal })
  const original = window.data
  const piece = matrixOf(tensor.name, original, window.rows, window.columns)
  const quantized = quantizeTensor(piece, method)
  const stored = await readPayload(quantized.data!, signal)
  const { data: result } = await readWindow({ ...quantized, data: bytesPayload(stored) }, { signal })
  const { difference: error, rmse, maxAbs } = measured(original, result)
  move(original.buffer, result.buffer, error.buffer)
  const bitsPerWeight = (stored.byteLength * 8) / Math.max(1, original.length)
  return {
    rows: window.rows,
    columns: window.columns,
    original,
    result,
    error,
    rmse,
    maxAbs,
    snr: snrOf(original, rmse),
    bitsPerWeight,
  }
}

/** Values that no method takes become 0, as they do where methods are measured. */
function matrixOf(name: string, values: Float32Array, rows: number, columns: number): Tensor {
  const finite = values.map((value) => (Number.isFinite(value) ? value : 0))
  const data = bytesPayload(new Uint8Array(finite.buffer))
  return { name, dtype: dtypeById('f32')!, shape: [rows, columns], order: 'row', role: 'weight', data }
}

export const powerOf = (values: Float32Array): number => {
  let [sum, count] = [0, 0]
  for (const value of values) {
    if (!Number.isFinite(value)) continue
    sum += value * value
    count++
  }
  return count === 0 ? 0 : sum / count
}

function snrOf(values: Float32Array, rmse: number): number | null {
  const power = powerOf(values)
  return rmse === 0 || power === 0 ? null : 10 * Math.log10(power / (rmse * rmse))
}

/** Values of one tensor that stand for all of its kind. */
const kindSample = 1 << 14

async function labKinds(
  { model, methods }: LabCalls['labKinds']['ask'],
  { signal, progress }: CallContext,
): Promise<MeasuredKind[]> {
  const opened = requireOpened(model).model
  const kinds = kindsOf(opened, methods[0] ?? 'q8_0')
  const found: MeasuredKind[] = []
  for (const [done, kind] of kinds.entries()) {
    progress({ done, total: kinds.length })
    const tensor = requireTensorNamed(model, kind.example)
    const { points } = await measureMethods(tensor, { methods, values: kindSample, signal })
    // Both are known for every method: power = rmse² · 10^(snr / 10).
    const point = points.find(({ snr, rmse }) => snr !== null && rmse > 0)
    found.push({ ...kind, points, power: point ? point.rmse ** 2 * 10 ** (point.snr! / 10) : 0 })
  }
  return found
}

function labPlan({ model, method, rules }: LabCalls['labPlan']['ask']): LabCalls['labPlan']['answer'] {
  const choices = planMethods(requireOpened(model).model, { method, tensorMethod: rules, requantize: true })
  const sum = (key: 'sizeBefore' | 'sizeAfter'): number => choices.reduce((total, each) => total + each[key], 0)
  const kept = choices.filter((each) => each.method === undefined)
  return {
    before: sum('sizeBefore'),
    after: sum('sizeAfter'),
    quantized: choices.length - kept.length,
    kept: kept.slice(0, 200),
  }
}
