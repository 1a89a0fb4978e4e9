// Opens and lists a safetensors file with many tensors: `json COUNT` against a bare JSON.parse of the same header, `hub COUNT` against the
// parser of Hugging Face, which is given a `fetch` that answers from the same memory.
import { MemorySource, openModel } from '../../dist/kit-node.js'
import { tensorName } from '../builders/sample.mjs'
import { answer, race } from '../harness/measure.mjs'

const [against, count] = [process.argv[2], Number(process.argv[3])]
const header = Object.create(null)
for (let i = 0; i < count; i++) {
  header[tensorName(i)] = { dtype: 'BF16', shape: [4, 8], data_offsets: [i * 64, i * 64 + 64] }
}
const text = new TextEncoder().encode(JSON.stringify(header))
const file = new Uint8Array(8 + text.byteLength + count * 64)
new DataView(file.buffer).setBigUint64(0, BigInt(text.byteLength), true)
file.set(text, 8)
const source = new MemorySource(file, 'many.safetensors')
const decoder = new TextDecoder()

const open = async () => {
  const model = await openModel(source)
  if (model.tensors.length !== count) throw new Error('tensors are missing')
}
const yardsticks = {
  json: () => JSON.parse(decoder.decode(file.subarray(8, 8 + text.byteLength))),
  hub: async () => {
    const { parseSafetensorsMetadata } = await import('@huggingface/hub')
    const request = { repo: 'a/b', path: 'model.safetensors', fetch: fetchFromMemory }
    const parsed = await parseSafetensorsMetadata(request)
    if (Object.keys(parsed.header).length !== count) throw new Error('the peer misses tensors')
  },
}
answer(await race(open, yardsticks[against], count > 100_000 ? 5 : 12))

async function fetchFromMemory(_, { headers }) {
  const [from, last] = /(\d+)-(\d+)/.exec(new Headers(headers).get('range')).slice(1).map(Number)
  const body = file.subarray(from, last + 1)
  const range = `bytes ${from}-${from + body.byteLength - 1}/${file.byteLength}`
  return new Response(body, { status: 206, headers: { 'content-range': range, etag: '"one"' } })
}
