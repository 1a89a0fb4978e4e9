import { writeVocabulary } from '../builders/gguf-sample.mjs'
import { isolated, remove } from '../harness/harness.mjs'
import { row } from '../harness/rows.mjs'

export const topic = 'Opening and listing'
export const about = 'opening a GGUF header with a large vocabulary: @huggingface/gguf, hyllama, reading the bytes'

/** At most 0.05 of the peer's time. */
const openGoal = 20

export default async function* gguf({ file }) {
  const path = file('vocabulary.gguf')
  const header = writeVocabulary(path, { tokens: 152_000, merges: 151_000, tensors: 291 })
  const work = 'open 152,000 tokens and 151,000 merges (GGUF)'
  const measure = (against) => isolated('work/gguf-header.mjs', [path, header, against])
  yield row(work, measure('gguf'), { against: '@huggingface/gguf', goal: openGoal })
  yield row(work, measure('hyllama'), { against: 'hyllama' })
  yield row(work, measure('read'), { against: 'reading the bytes', bytes: header })
  remove(path)
}
