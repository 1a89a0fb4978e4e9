// node remote-tensor.mjs ADDRESS TENSOR: reads one tensor of a file on a server, and downloads no more than that.
import { openModel, readTensor } from 'tare/node'

const model = await openModel(process.argv[2], { cache: false })
const { shape, data } = await readTensor(model, process.argv[3])
console.log(shape, data.length)
await model.close()
