import { bytesPayload, dtypeById, openOutput, planConversion, runConversion } from '../../dist/kit-node.js'

/** A model of equal tensors that share their data. */
export function modelOf(count, shape, payloadOf) {
  const length = 4 * shape.reduce((product, dim) => product * dim, 1)
  const data = payloadOf(length)
  const tensors = Array.from({ length: count }, (_, i) => ({
    name: `layer${i}.w`,
    dtype: dtypeById('f32'),
    shape,
    order: 'column',
    role: 'weight',
    data,
  }))
  return { format: 'bench', metadata: new Map(), tensors, parts: [], files: [] }
}

/** Writes such a model and gives back its size. */
export async function writeModel(path, count, shape) {
  const model = modelOf(count, shape, (length) => bytesPayload(new Uint8Array(length).fill(63)))
  const conversion = await planConversion(model, 'primitiv', { name: path })
  await runConversion(conversion, () => openOutput(path))
  return conversion.plan.size
}
