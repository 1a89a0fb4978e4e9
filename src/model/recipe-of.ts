import type { Tensor } from './model.js'
import type { Payload } from './payload.js'
import type { Recipe, TensorRecipe } from './recipe.js'

/** Undefined if only this thread can produce the bytes, or there are none. */
export function tensorRecipe(tensor: Tensor): TensorRecipe | undefined {
  const data = recipeOf(tensor.data)
  const { name, dtype, encoding, shape, order } = tensor
  return data && { name, dtype: dtype.id, encoding: encoding?.id, shape, order, data }
}

export function recipeOf(payload: Payload | null): Recipe | undefined {
  if (payload?.recipe) return payload.recipe()
  const origin = payload?.origin
  const handle = origin?.source.handle
  return handle && { kind: 'range', handle, offset: origin!.offset, length: origin!.length }
}
