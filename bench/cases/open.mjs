import { groups, isolated } from '../harness/harness.mjs'
import { row } from '../harness/rows.mjs'

export const topic = 'Opening and listing'
export const about = 'opening and listing 60,000 tensors of safetensors with every check: JSON.parse, @huggingface/hub'

export default async function* open({ pick }) {
  const count = pick(60_000, 10_000)
  const work = `open ${groups(count)} tensors (safetensors)`
  const shared = { count, items: 'tensors' }
  yield row(work, isolated('work/open-header.mjs', ['json', count]), {
    ...shared,
    against: 'JSON.parse',
    goal: 1 / 1.2,
  })
  yield row(work, isolated('work/open-header.mjs', ['hub', count]), { ...shared, against: '@huggingface/hub' })
}
