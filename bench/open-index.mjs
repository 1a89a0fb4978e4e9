// Opens an AERO file with many tensors, or parses the same index as the JSON that a safetensors header would have. Once, in a process of its
// own: with a million tensors what an earlier round left behind costs as much as the work.
import { FileSource, openModel } from '../dist/node.js'
import { nameOf } from './aero-sample.mjs'
import { peakMemory } from './harness.mjs'

const [work, path, count] = [process.argv[2], process.argv[3], Number(process.argv[4])]
const json = work === 'json' ? encodeHeader() : undefined
const start = performance.now()
const listed = json ? Object.keys(JSON.parse(new TextDecoder().decode(json))).length : await open()
const seconds = (performance.now() - start) / 1000
if (listed !== count) throw new Error('tensors are missing')
process.stdout.write(`${JSON.stringify({ seconds, memory: peakMemory() })}\n`)

async function open() {
  const source = await FileSource.open(path)
  const { tensors } = await openModel(source)
  await source.close()
  return tensors.length
}

function encodeHeader() {
  const parts = []
  for (let i = 0; i < count; i++) {
    const entry = { dtype: 'BF16', shape: [4, 8], data_offsets: [i * 64, i * 64 + 64] }
    parts.push(`${JSON.stringify(nameOf(i))}:${JSON.stringify(entry)}`)
  }
  return new TextEncoder().encode(`{${parts.join(',')}}`)
}
