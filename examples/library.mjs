import { closeModel, hashModel, openInput, openModel, openOutput, planConversion, runConversion } from 'tare/node'

const model = await openModel(await openInput('tiny-mlp.safetensors'))
for (const { name, dtype, shape } of model.tensors) console.log(name, dtype.id, shape)
console.log((await hashModel(model)).fingerprint)

const conversion = await planConversion(model, 'safetensors', { name: 'half.safetensors', cast: 'f16' })
console.log(conversion.plan.loss, conversion.plan.size)
await runConversion(conversion, (name) => openOutput(name))
await closeModel(model)
