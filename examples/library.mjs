import { convert, hash, openModel, readTensor } from 'tare/node'

const model = await openModel('tiny-mlp.safetensors')
for (const { name, dtype, shape } of model.tensors) console.log(name, dtype.id, shape)

const { data } = await readTensor(model, 'layers.0.weight', { as: 'f32', slice: [[0, 2]] })
console.log(data.length, (await hash(model)).fingerprint)

const { plan, files } = await convert(model, 'half.gguf', { cast: 'f16' })
console.log(plan.loss, files[0].size)
await model.close()
