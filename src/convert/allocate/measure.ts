// The options of a tensor: which methods it could take, how large it would be, and how large the error is on a sample of its rows. Errors are
// relative to the values of the tensor: the sum of squares would give all bits to the tensors with the largest values, and none to small
// ones. With importance weights every column counts by its weight.
import { countElements } from '../../bytes/index.js'
import { bytesPayload, readPayload, type Tensor, type TensorRecipe } from '../../model/index.js'
import { tensorRecipe } from '../../model/model.js'
import { makePacked } from '../../packed/index.js'
import type { Job, JobHandler } from '../../threads/index.js'
import { dequantizeTensor } from '../../transforms/dequantize.js'
import { quantizedSize, requireMethod } from '../../transforms/quantize/method.js'
import { needsMatrix } from '../../transforms/quantize/mixes/choose-types.js'
import { type QuantizeOptions, quantizeTensor } from '../../transforms/quantize/quantize.js'
import { rebuildTensor } from '../../transforms/rebuild.js'
import type { Option } from './allocate.js'
import { numbersOf, type Sample, sampleRows } from './sample-rows.js'

export const keepWord = 'keep'

const blocksOf256 = ['q2_k', 'q3_k', 'iq4_xs', 'q4_k', 'q5_k', 'q6_k', 'q8_0']
const blocksOf32 = ['q4_0', 'iq4_nl', 'q5_0', 'q5_1', 'q8_0']
/** Only with importance weights. */
const weightedBlocks = ['iq1_m', 'iq2_xxs', 'iq2_xs', 'iq2_s', 'iq3_xxs', 'iq3_s']
const ofMcf = ['k2', 'k3', 'k4', 'k6', 'q8']

/** The methods that are tried for a tensor. */
export function candidatesFor(shape: readonly number[], isGgml: boolean, isWeighted: boolean): readonly string[] {
  if (!isGgml) return ofMcf
  if ((shape.at(-1) ?? 1) % 256 !== 0) return blocksOf32
  return isWeighted ? [...weightedBlocks, ...blocksOf256] : blocksOf256.filter((type) => !needsMatrix(type))
}

export interface MeasureOptions extends Pick<QuantizeOptions, 'mode' | 'codes'> {
  readonly isGgml: boolean
  readonly importance?: Float32Array | undefined
  readonly signal?: AbortSignal | undefined
}

/** The error counts as often as the tensor has values, so that the sum over a model is an average. */
export async function measureOptions(tensor: Tensor, options: MeasureOptions): Promise<Option[]> {
  const { isGgml, importance, signal } = options
  const elements = countElements(tensor.shape) ?? 0
  const samples = await sampleRows(tensor, importance, signal)
  const found: Option[] = [{ method: keepWord, bytes: tensor.data!.byteLength, error: 0 }]
  for (const method of candidatesFor(tensor.shape, isGgml, importance !== undefined)) {
    const bytes = quantizedSize(requireMethod(method), tensor.shape)
    if (bytes === undefined) continue
    found.push({ method, bytes, error: elements * (await relativeError(samples, method, options)) })
  }
  return found
}

type MeasureData = Omit<MeasureOptions, 'signal'> & { readonly tensor: TensorRecipe }

/** Undefined if other threads cannot read the tensor. */
export function measureJob(tensor: Tensor, options: MeasureOptions): Job | undefined {
  const recipe = tensor.quant ? undefined : tensorRecipe(tensor)
  const { isGgml, importance, mode, codes } = options
  const data: MeasureData | undefined = recipe && { tensor: recipe, isGgml, importance, mode, codes }
  return data && { kind: 'measure', data, file: tensor.name, offset: tensor.data?.origin?.offset ?? 0 }
}

/** Runs in a worker. */
export const measureInWorker: JobHandler = (data, _, { open, signal }) => {
  const { tensor, ...options } = data as MeasureData
  return measureOptions(rebuildTensor(tensor, open, { packed: makePacked }), { ...options, signal })
}

async function relativeError(
  samples: readonly Sample[],
  method: string,
  { mode, codes, signal }: MeasureOptions,
): Promise<number> {
  let [error, energy] = [0, 0]
  for (const { rows, importance } of samples) {
    const quantized = quantizeTensor(rows, method, { mode, codes, importance })
    const coded = { ...quantized, data: bytesPayload(await readPayload(quantized.data!, signal)) }
    const [before, after] = [
      await numbersOf(rows, signal),
      await numbersOf(dequantizeTensor(coded, rows.dtype), signal),
    ]
    const columns = rows.shape[1]!
    for (let i = 0; i < before.length; i++) {
      const weight = importance ? importance[i % columns]! : 1
      error += weight * (before[i]! - after[i]!) ** 2
      energy += weight * before[i]! ** 2
    }
  }
  return energy === 0 ? 0 : error / energy
}
