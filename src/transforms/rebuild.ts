// Rebuilds a payload from its recipe, in another thread.
import type { ByteSource, SourceHandle } from '../bytes/index.js'
import { type DType, dtypeById } from '../dtypes/index.js'
import { type Payload, type Recipe, rangePayload, type Tensor, type TensorRecipe } from '../model/index.js'
import { castTensor } from './cast.js'
import { decodedPayload } from './decode.js'
import { rowsPayload } from './quantize/rows.js'

export type OpenHandle = (handle: SourceHandle) => ByteSource

export function rebuildTensor({ dtype, encoding, data, ...rest }: TensorRecipe, open: OpenHandle): Tensor {
  return {
    ...rest,
    role: 'weight',
    dtype: requireDType(dtype),
    encoding: encoding === undefined ? undefined : requireDType(encoding),
    data: rebuildPayload(data, open),
  }
}

export function rebuildPayload(recipe: Recipe, open: OpenHandle): Payload {
  if (recipe.kind === 'range') return rangePayload(open(recipe.handle), recipe.offset, recipe.length)
  const tensor = rebuildTensor(recipe.tensor, open)
  if (recipe.kind === 'cast') return castTensor(tensor, requireDType(recipe.to), recipe).data!
  if (recipe.kind === 'rows') return rowsPayload(tensor, requireDType(recipe.to), recipe)
  return decodedPayload(tensor, recipe.as)!
}

function requireDType(id: string): DType {
  const dtype = dtypeById(id)
  if (!dtype) throw new Error(`there is no type ${id}`)
  return dtype
}
