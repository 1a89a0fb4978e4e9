// The values of a tensor as floats, whatever its type.

import { fillView } from '../bytes/views.js'
import { f32, f64, isReal } from '../dtypes/index.js'
import type { Payload, Tensor } from '../model/index.js'
import { tensorRecipe } from '../model/model.js'
import { decodeRegions } from './decode-regions.js'
import { mapElements } from './map-elements.js'

/** The values as little-endian f32 or f64, in stored order. Undefined if there is no data or no decoder. */
export function decodedPayload(tensor: Tensor, as: 'f32' | 'f64'): Payload | undefined {
  const from = tensor.encoding ?? tensor.dtype
  const to = as === 'f32' ? f32 : f64
  const recipe: Payload['recipe'] = () => {
    const made = tensorRecipe(tensor)
    return made && { kind: 'decode', tensor: made, as }
  }
  if (from.regions) {
    const payload = decodeRegions(tensor, from.regions, as)
    return payload && { ...payload, recipe }
  }
  const codec = from.codec
  if (!tensor.data || !codec || !isReal(from)) return undefined
  if (from === to) return tensor.data
  return mapElements({
    input: tensor.data,
    shape: tensor.shape,
    from: from.group,
    to: to.group,
    convert(source, target, _first, length) {
      if (as === 'f32') fillView(Float32Array, target, length, (view) => codec.toF32(source, view))
      else fillView(Float64Array, target, length, (view) => codec.toF64(source, view))
    },
    recipe,
  })
}
