// The models that are open in this worker, by the number that the page gave them.
import { type ByteSource, closeModel, findTensor, type Model, type Tensor } from 'tare/kit'
import type { ModelFiles } from './open.js'

export interface Opened {
  readonly model: Model
  readonly source: ByteSource
  /** To open it once more, for a check that reads it from the start. */
  readonly from: ModelFiles
}

const opened = new Map<number, Opened>()

/** What each model is opened from, also where that failed: its bytes can still be looked at. */
const inputs = new Map<number, ModelFiles>()

export const setInput = (id: number, from: ModelFiles): void => void inputs.set(id, from)

export function requireInput(id: number): { readonly from: ModelFiles } {
  const from = inputs.get(id)
  if (!from) throw new Error(`there is no model ${id}`)
  return { from }
}

export async function setOpened(id: number, next: Opened): Promise<void> {
  await closeOpened(id)
  opened.set(id, next)
}

export async function closeOpened(id: number): Promise<void> {
  const old = opened.get(id)
  opened.delete(id)
  if (old) await closeModel(old.model)
}

export const findOpened = (id: number): Opened | undefined => opened.get(id)

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

export const requireTensorNamed = (id: number, name: string): Tensor => findTensor(requireOpened(id).model, name)
