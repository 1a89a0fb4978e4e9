// Encodes f32 values to blocks of one ggml type, against a copy of as many values in the same process. Prints JSON.
import { dtypeById, f32 } from '../../dist/dtypes/index.js'
import { bytesPayload } from '../../dist/model/index.js'
import { castTensor } from '../../dist/transforms/cast.js'
import { alignedBytes, fillNormal } from '../builders/normal.mjs'
import { answer, race } from '../harness/measure.mjs'

const [type, countText] = process.argv.slice(2)
const count = Number(countText)
const [values, copy] = [alignedBytes(4 * count), alignedBytes(4 * count)]
fillNormal(new Float32Array(values.buffer), 1, 0.02)

const dtype = dtypeById(`ggml.${type}`)
const shape = [count / 4096, 4096]
const tensor = { name: 'w', dtype: f32, shape, order: 'row', role: 'weight', data: bytesPayload(values) }
const encoded = castTensor(tensor, dtype).data
const encode = async () => {
  let given = 0
  for await (const chunk of encoded.chunks(1 << 20)) given += chunk.byteLength
  if (given !== dtype.byteLength(shape)) throw new Error('blocks are missing')
}
const times = await race(encode, async () => copy.set(values))
answer({ ...times, bytes: 4 * count })
