// Rebuilds a payload from its recipe, in another thread.
import type { ByteSource, SourceHandle } from '../bytes/index.js'
import { type DType, dtypeById } from '../dtypes/index.js'
import {
  type MadeRecipe,
  type Payload,
  type Recipe,
  rangePayload,
  type Tensor,
  type TensorRecipe,
} from '../model/index.js'
import { castTensor } from './cast.js'
import { decodedPayload } from './decode.js'
import { wholePayload } from './quantize/raw.js'
import { rowsPayload } from './quantize/rows.js'

export type OpenHandle = (handle: SourceHandle) => ByteSource

/** Makes what rooms beyond this one have described. */
export type Maker = (recipe: MadeRecipe, rebuild: (tensor: TensorRecipe) => Tensor) => Payload
export type Makers = Readonly<Record<string, Maker>>

export function rebuildTensor(
  { dtype, encoding, data, ...rest }: TensorRecipe,
  open: OpenHandle,
  makers: Makers,
): Tensor {
  return {
    ...rest,
    role: 'weight',
    dtype: requireDType(dtype),
    encoding: encoding === undefined ? undefined : requireDType(encoding),
    data: rebuildPayload(data, open, makers),
  }
}

export function rebuildPayload(recipe: Recipe, open: OpenHandle, makers: Makers): Payload {
  if (recipe.kind === 'range') return rangePayload(open(recipe.handle), recipe.offset, recipe.length)
  if (recipe.kind === 'made') {
    const maker = makers[recipe.by]
    if (!maker) throw new Error(`nobody here makes what is ${recipe.by}`)
    return maker(recipe, (tensor) => rebuildTensor(tensor, open, makers))
  }
  const tensor = rebuildTensor(recipe.tensor, open, makers)
  if (recipe.kind === 'cast') return castTensor(tensor, requireDType(recipe.to), recipe).data!
  if (recipe.kind === 'rows') return rowsPayload(tensor, requireDType(recipe.to), recipe)
  if (recipe.kind === 'whole') return wholePayload(tensor, recipe.bits, recipe.scale)
  return decodedPayload(tensor, recipe.as)!
}

function requireDType(id: string): DType {
  const dtype = dtypeById(id)
  if (!dtype) throw new Error(`there is no type ${id}`)
  return dtype
}
