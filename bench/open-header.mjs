import { MemorySource, openModel } from '../dist/node.js'
import { peakMemory, race } from './harness.mjs'

const count = Number(process.argv[2])
const header = Object.create(null)
for (let i = 0; i < count; i++) {
  const name = `model.layers.${i % 80}.mlp.experts.${Math.floor(i / 80)}.gate_proj.weight`
  header[name] = { dtype: 'BF16', shape: [4, 8], data_offsets: [i * 64, i * 64 + 64] }
}
const text = new TextEncoder().encode(JSON.stringify(header))
const file = new Uint8Array(8 + text.byteLength + count * 64)
new DataView(file.buffer).setBigUint64(0, BigInt(text.byteLength), true)
file.set(text, 8)
const source = new MemorySource(file, 'many.safetensors')
const decoder = new TextDecoder()

const times = await race(
  async () => {
    const model = await openModel(source)
    if (model.tensors.length !== count) throw new Error('tensors are missing')
  },
  async () => JSON.parse(decoder.decode(file.subarray(8, 8 + text.byteLength))),
  count > 100_000 ? 5 : 15,
)
process.stdout.write(`${JSON.stringify({ ...times, memory: peakMemory() })}\n`)
