// Quantizes a model that exists only as arithmetic into a sink that only counts: what is left is the memory that the work itself takes.
import { planQuantization } from '../dist/convert/quantize.js'
import { CountingSink, openModel, runConversion } from '../dist/node.js'
import { peakMemory } from './harness.mjs'

const size = Number(process.argv[2])
const text = new TextEncoder().encode(
  JSON.stringify({ w: { dtype: 'F32', shape: [size / 4 / 8192, 8192], data_offsets: [0, size] } }),
)
const head = new Uint8Array(8 + text.byteLength)
new DataView(head.buffer).setBigUint64(0, BigInt(text.byteLength), true)
head.set(text, 8)

const source = {
  name: 'virtual.safetensors',
  size: head.byteLength + size,
  async read(offset, length) {
    const bytes = new Uint8Array(length)
    await this.readInto(offset, bytes)
    return bytes
  },
  async readInto(offset, target) {
    if (offset < head.byteLength) target.set(head.subarray(offset, offset + target.byteLength))
    else target.fill(60 + (offset % 5))
  },
  async close() {},
}
const start = performance.now()
const model = await openModel(source)
const conversion = await planQuantization(model, 'mcf', { name: 'out.mcf', method: 'k4' })
const sink = new CountingSink()
await runConversion(conversion, async () => sink)
if (sink.position !== conversion.plan.size)
  throw new Error(`${sink.position} bytes came, ${conversion.plan.size} were planned`)
process.stdout.write(`${JSON.stringify({ seconds: (performance.now() - start) / 1000, memory: peakMemory() })}\n`)
