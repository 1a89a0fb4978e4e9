// The thread jobs of this room, and their handlers.
import { blockLayout, type Domain } from '../dtypes/mcf/layout.js'
import { methodOf } from '../dtypes/mcf/types.js'
import type { Tensor, TensorRecipe } from '../model/index.js'
import { tensorRecipe } from '../model/model.js'
import { fillsWindow, type Job, type JobHandler } from '../threads/index.js'
import { fileOf } from './map-elements.js'
import { sliceMaker } from './pooled.js'
import type { BandData } from './quantize/bands.js'
import { quantizeInto } from './quantize/blocks.js'
import { scanRange } from './quantize/quantize.js'
import { floatsOf } from './quantize/raw.js'
import { type Makers, rebuildTensor } from './rebuild.js'

const quantizer = (makers: Makers): JobHandler =>
  fillsWindow(async (data, bytes, { open, signal, advance }) => {
    const { method: id, manner, clip, firstRow, rows, want, head, ...given } = data as BandData
    const method = methodOf(id)!
    const tensor = rebuildTensor(given.tensor, open, makers)
    const columns = tensor.shape[1]!
    const row = columns * 4
    const values = floatsOf(tensor).slices!.take(firstRow * row, rows * row)
    const layout = blockLayout(method, [rows, columns])!
    const matrix = { tensor, type: method.id, rows, columns, base: firstRow, values, clip }
    await quantizeInto(bytes, method, layout, matrix, manner, want, head, signal)
    advance(rows * row)
  })

interface RangeData {
  readonly tensor: TensorRecipe
  readonly domain: Domain
}

/** Finds the range of a tensor's values; undefined if other threads cannot read them. */
export function rangeJob(tensor: Tensor, domain: Domain): Job | undefined {
  const recipe = tensorRecipe(tensor)
  const data = recipe && ({ tensor: recipe, domain } satisfies RangeData)
  return data && { kind: 'range', data, file: fileOf(tensor.data), offset: tensor.data?.origin?.offset ?? 0 }
}

const ranger =
  (makers: Makers): JobHandler =>
  async (data, _, { open, signal, advance }) => {
    const { tensor, domain } = data as RangeData
    const rebuilt = rebuildTensor(tensor, open, makers)
    const found = await scanRange(rebuilt, domain, signal)
    advance(rebuilt.data!.byteLength)
    return found
  }

/** `makers` make what rooms beyond this one have described. */
export const transformJobs = (makers: Makers): Readonly<Record<string, JobHandler>> => ({
  slice: sliceMaker(makers),
  quantize: quantizer(makers),
  range: ranger(makers),
})
