import { writeSample } from '../builders/sample.mjs'
import { clearPlace, copyAndSync, GiB, MiB, raceCommand, remove, size as sizeText } from '../harness/harness.mjs'
import { row } from '../harness/rows.mjs'

export const topic = 'Converting'
export const about = 'into another container without recoding, from safetensors and back, against cp and a flush'

const all = ['gguf', 'aero', 'mcf', 'oinf', 'npz', 'primitiv', 'embd', 'pt']
/** Where more is asked for than of the others. */
const goals = { pt: { goal: 0.6, limit: 150e6 } }

export default async function* convert({ file, pick }) {
  const from = file('from.safetensors')
  // Tensors of one dimension: a format that stores matrices by columns has nothing to turn.
  const bytes = writeSample(from, pick(2 * GiB, 128 * MiB), { shape: [2048 * 2048] })
  const others = pick(all, all.slice(0, 3))
  const measure = async (source, target, options) => {
    const yardstick = () => copyAndSync(source, target)
    const before = () => {
      remove(`${target}_data`)
      clearPlace(target, bytes)
    }
    const race = { rounds: pick(3, 1), before }
    const times = await raceCommand(['convert', source, '-o', target], yardstick, race)
    const [a, b] = [source, target].map((path) => path.split('.').at(-1).replace('weights', 'embd'))
    return row(`convert ${sizeText(bytes)}, ${a} → ${b}`, times, {
      against: 'cp + sync',
      bytes,
      limit: 250e6,
      ...options,
    })
  }
  yield await measure(from, file('copy.safetensors'), { goal: 0.7, limit: 200e6 })
  remove(file('copy.safetensors'))
  // Above 2 GiB, the data of ONNX lie in another file. Reading it back is not measured, as `cp` would have to copy both.
  const onnx = file('model.onnx')
  yield await measure(from, onnx, { goal: 0.6, limit: 150e6 })
  remove(onnx, `${onnx}_data`)
  for (const [i, format] of others.entries()) {
    const there = file(nameFor(format))
    yield await measure(from, there, { goal: 0.5, ...goals[format] })
    yield await measure(there, file('back.safetensors'), { goal: 0.5 })
    remove(file('back.safetensors'))
    const nextFormat = others[(i + 1) % others.length]
    const next = file(nameFor(nextFormat))
    yield await measure(there, next, { goal: 0.5, ...goals[nextFormat] })
    remove(there, next)
  }
}

const nameFor = (format) => `model.${format === 'embd' ? 'weights' : format}`
