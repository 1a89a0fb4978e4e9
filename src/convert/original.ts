// What a written model is to be compared with. Tensors that were renamed or unpacked on their way are found by planning the same way without
// quantizing.
import type { Model, Tensor } from '../model/index.js'
import { type ConvertOptions, planConversion } from './plan.js'

/** The model with its tensors under the names, and in the shapes, that they have in `written`. Those that `written` lacks are left out. */
export async function asWritten(
  original: Model,
  written: Model,
  target: string,
  options: Pick<ConvertOptions, 'name' | 'signal' | 'extra'>,
): Promise<Model> {
  const own = byName(original)
  const fits = (tensor: Tensor | undefined, { shape }: Tensor): boolean => tensor?.shape.join() === shape.join()
  if (written.tensors.every((tensor) => fits(own.get(tensor.name), tensor))) return original
  const made = byName((await planConversion(original, target, { ...options, unpack: true })).model)
  const tensors = written.tensors.flatMap((tensor) => {
    const found = [own.get(tensor.name), made.get(tensor.name)].find((each) => fits(each, tensor))
    return found ? [found] : []
  })
  return { ...original, tensors }
}

const byName = ({ tensors }: Model): Map<string, Tensor> => new Map(tensors.map((tensor) => [tensor.name, tensor]))
