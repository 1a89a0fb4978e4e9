// node read-tensor.mjs MODEL TENSOR: the first values of a tensor, whatever its type.
import { openModel, readTensor } from 'tare/node'

const model = await openModel(process.argv[2])
const { dtype, shape, data } = await readTensor(model, process.argv[3], { as: 'f32' })
console.log(dtype, shape, data.subarray(0, 4))
await model.close()
