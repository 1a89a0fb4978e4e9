// Many small tensors: `write FORMAT COUNT FILE` plans and writes them, `open FILE COUNT` opens and lists a file, `json COUNT` parses the
// header that a safetensors file of them would have. Once each: with a million tensors what an earlier round left behind costs as much
// as the work.
import {
  dtypeById,
  FileSource,
  formats,
  MemorySink,
  MemorySource,
  openModel,
  openOutput,
  planConversion,
  rangePayload,
  runConversion,
} from '../../dist/kit-node.js'
import { tensorName } from '../builders/sample.mjs'
import { virtualFile } from '../builders/virtual.mjs'
import { answer, peakMemory, seconds } from '../harness/measure.mjs'

const each = 64

function tensorsOf(count) {
  const source = virtualFile('made', [{ at: 0, length: count * each }])
  const dtype = dtypeById('f32')
  return Array.from({ length: count }, (_, i) => {
    const data = rangePayload(source, i * each, each)
    return { name: tensorName(i), dtype, shape: [each / 4], order: 'row', role: 'weight', data }
  })
}

const modelOf = (count) => ({
  format: 'bench',
  metadata: new Map(),
  tensors: tensorsOf(count),
  parts: [],
  files: [],
})

/** Loads what reads and writes the format. */
async function warmUp(format) {
  const sink = new MemorySink('one')
  await runConversion(await planConversion(modelOf(1), format, { name: 'one' }), async () => sink)
  await openModel(new MemorySource(sink.bytes, 'one'), { from: format })
}

async function write(format, countText, path) {
  await warmUp(format)
  const model = modelOf(Number(countText))
  const taken = await seconds(async () => {
    const conversion = await planConversion(model, format, { name: path })
    await runConversion(conversion, () => openOutput(path))
  })
  return { seconds: taken }
}

async function open(path, count) {
  const names = ({ id, extensions }) => [`.${id}`, ...extensions]
  await warmUp(formats.find((format) => names(format).some((name) => path.endsWith(name))).id)
  const source = await FileSource.open(path)
  let listed = 0
  const taken = await seconds(async () => {
    const { tensors } = await openModel(source)
    for (const { name, shape } of tensors) if (name.length > 0 && shape.length > 0) listed++
  })
  const memory = peakMemory()
  await source.close()
  if (listed !== Number(count)) throw new Error('tensors are missing')
  return { seconds: taken, memory }
}

async function json(countText) {
  const count = Number(countText)
  const parts = []
  for (let i = 0; i < count; i++) {
    const entry = { dtype: 'BF16', shape: [4, 8], data_offsets: [i * each, (i + 1) * each] }
    parts.push(`${JSON.stringify(tensorName(i))}:${JSON.stringify(entry)}`)
  }
  const header = new TextEncoder().encode(`{${parts.join(',')}}`)
  let listed = 0
  const taken = await seconds(async () => {
    listed = Object.keys(JSON.parse(new TextDecoder().decode(header))).length
  })
  if (listed !== count) throw new Error('tensors are missing')
  return { seconds: taken }
}

const [work, ...args] = process.argv.slice(2)
answer(await { write, open, json }[work](...args))
