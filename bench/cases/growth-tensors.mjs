import { groups, isolatedBest, remove } from '../harness/harness.mjs'
import { growthRows } from '../harness/rows.mjs'

export const topic = 'Growth: tensors'
export const about =
  'opening and writing files of 10,000, 100,000 and 1,000,000 tensors, in every format that can be written'

// A member of an archive costs several reads: a tenth is enough to see whether that grows.
const formats = { safetensors: 1, gguf: 1, aero: 1, oinf: 1, mcf: 1, primitiv: 1, embd: 1, npz: 10 }

export default async function* growthTensors({ pick, file }) {
  const wanted = pick(Object.keys(formats), ['safetensors', 'aero'])
  for (const format of wanted) {
    const counts = pick([10_000, 100_000, 1_000_000], [1_000, 8_000]).map((count) => count / formats[format])
    const [opened, written] = [[], []]
    for (const size of counts) {
      const path = file(`many.${format}`)
      const rounds = size > 100_000 ? 1 : pick(3, 1)
      written.push({ size, ...isolatedBest('work/many-tensors.mjs', ['write', format, size, path], rounds) })
      opened.push({ size, ...isolatedBest('work/many-tensors.mjs', ['open', path, size], rounds) })
      remove(path)
    }
    const shared = { per: 'tensor', name: groups }
    yield* growthRows(`open and list (${format})`, opened, shared)
    yield* growthRows(`plan and write (${format})`, written, shared)
  }
}
