// The models that are open in this worker, by the number that the page gave them.
import { type ByteSource, closeModel, type Model, type Tensor } from 'tare/kit'
import type { ModelFiles } from './open.js'

export interface Opened {
  readonly model: Model
  readonly source: ByteSource
  /** To open it once more, for a check that reads it from the start. */
  readonly from: ModelFiles
}

const opened = new Map<number, Opened>()

export async function setOpened(id: number, next: Opened): Promise<void> {
  await closeOpened(id)
  opened.set(id, next)
}

export async function closeOpened(id: number): Promise<void> {
  const old = opened.get(id)
  opened.delete(id)
  if (old) await closeModel(old.model)
}

export function requireOpened(id: number): Opened {
  const found = opened.get(id)
  if (!found) throw new Error(`model ${id} is not open`)
  return found
}

export function requireTensor(id: number, index: number): Tensor {
  const tensor = requireOpened(id).model.tensors[index]
  if (!tensor) throw new Error(`model ${id} has no tensor number ${index}`)
  return tensor
}
