// Converts a file that exists only as arithmetic into a sink that only counts: what is left is the memory that the work itself takes.
import { CountingSink, openModel, planConversion, runConversion } from '../dist/node.js'
import { peakMemory } from './harness.mjs'

const size = Number(process.argv[2])
const each = 64 << 20
const count = Math.floor(size / each)
const entries = Array.from({ length: count }, (_, i) => [
  `t${i}`,
  { dtype: 'F32', shape: [each / 4], data_offsets: [i * each, (i + 1) * each] },
])
const text = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)))
const head = new Uint8Array(8 + text.byteLength)
new DataView(head.buffer).setBigUint64(0, BigInt(text.byteLength), true)
head.set(text, 8)

const source = {
  name: 'virtual.safetensors',
  size: head.byteLength + count * each,
  async read(offset, length) {
    const bytes = new Uint8Array(length)
    await this.readInto(offset, bytes)
    return bytes
  },
  async readInto(offset, target) {
    if (offset < head.byteLength) target.set(head.subarray(offset, offset + target.byteLength))
    else target.fill(offset % 251)
  },
  async close() {},
}
const start = performance.now()
const model = await openModel(source)
const sink = new CountingSink()
const target = model.format
await runConversion(await planConversion(model, target, { name: 'out' }), async () => sink)
if (Math.abs(sink.position - source.size) > 8) throw new Error(`${sink.position} bytes came out of ${source.size}`)
process.stdout.write(`${JSON.stringify({ seconds: (performance.now() - start) / 1000, memory: peakMemory() })}\n`)
