// Decodes blocks of one ggml type to f32, against a copy of as many values in the same process. Prints JSON.
import { dtypeById } from '../../dist/dtypes/index.js'
import { bytesPayload } from '../../dist/model/index.js'
import { decodedPayload } from '../../dist/transforms/decode.js'
import { answer, race } from '../harness/measure.mjs'

const [type, countText] = process.argv.slice(2)
const count = Number(countText)
// Page-aligned, as the windows are that files are read into.
const aligned = () => new Float32Array(new WebAssembly.Memory({ initial: (count * 4) / 65536 }).buffer)
const values = aligned()
const copy = aligned()
for (let i = 0; i < count; i++) values[i] = Math.sin(i * 0.37) * 0.1

const dtype = dtypeById(`ggml.${type}`)
const sample = 1 << 16
const bytes = new Uint8Array(dtype.byteLength([count]))
dtype.codec.fromF32(values.subarray(0, sample), bytes)
const step = dtype.byteLength([sample])
for (let at = step; at < bytes.length; at += step) bytes.copyWithin(at, 0, step)

const tensor = {
  name: 'w',
  dtype,
  shape: [count / 4096, 4096],
  order: 'row',
  role: 'weight',
  data: bytesPayload(bytes),
}
const decoded = decodedPayload(tensor, 'f32')
const decode = async () => {
  let given = 0
  for await (const chunk of decoded.chunks(1 << 20)) given += chunk.byteLength
  if (given !== 4 * count) throw new Error('values are missing')
}
const times = await race(decode, async () => copy.set(values), 10)
answer({ ...times, bytes: 4 * count })
