import { failWith } from '../errors/index.js'
import type { Tensor } from '../model/index.js'
import { fileOf } from '../transforms/map-elements.js'
import { packedCodes } from './codes.js'

/** Says what is wrong with one of the tensors of a packed weight. */
export function refusePacked(tensor: Tensor, message: string): never {
  return failWith(packedCodes.form, { file: fileOf(tensor.data), path: tensor.name, message })
}

export const shapeOf = ({ shape }: Tensor): string => `[${shape.join(', ')}]`
