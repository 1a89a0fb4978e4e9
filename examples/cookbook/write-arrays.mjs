// node write-arrays.mjs OUTPUT: a model from typed arrays, in the format that the name says.
import { writeModel } from 'tare/node'

const w = { shape: [2, 3], data: Float32Array.of(1, 2, 3, 4, 5, 6) }
const half = { shape: [2], data: Float32Array.of(0.5, 0.25), dtype: 'f16' }
const { files } = await writeModel({ tensors: { w, half }, metadata: { author: 'me' } }, process.argv[2])
console.log(files[0].name, files[0].size)
