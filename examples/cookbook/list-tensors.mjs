// node list-tensors.mjs MODEL: names, types and shapes of all tensors.
import { openModel } from 'tare/node'

const model = await openModel(process.argv[2])
for (const { name, dtype, shape } of model.tensors) console.log(name, dtype.id, shape.join('x'))
await model.close()
