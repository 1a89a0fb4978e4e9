// list(file): a line for each tensor of a File that somebody chose or dropped.
import { openModel } from 'tare'

export async function list(file) {
  const model = await openModel(file)
  return model.tensors.map(({ name, dtype, shape }) => `${name} ${dtype.id} ${shape.join('x')}`)
}
