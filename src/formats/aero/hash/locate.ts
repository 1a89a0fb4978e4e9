// Where a tensor of a model lies: in the file itself or, for a set, in one of its parts.
import type { Model, Tensor } from '../../../model/index.js'
import { type AeroFile, fileOf } from '../file.js'
import { positionOf } from '../index/position-of.js'
import { setOf } from '../set/read-set.js'

export interface Located {
  readonly file: AeroFile
  /** In the file's table of tensors. */
  readonly position: number
}

/** Undefined for bytes that are not those of the file. */
export async function locate(model: Model, tensor: Tensor): Promise<Located | undefined> {
  const file = fileOf(model)
  const set = file ? undefined : setOf(model)
  const own = file?.table.tensors ?? set?.tensors ?? []
  const position = positionOf(own, tensor.name)
  if (position === undefined || own[position]!.data !== tensor.data) return undefined
  return file ? { file, position } : set!.locate(position)
}
