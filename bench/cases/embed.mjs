// Sentence embeddings on one core: 16 texts of 32 tokens at a time, against the 20 texts a second that are asked for.
import { createEmbedder, nodeOnnxEngine, vocabularyFromText } from '../../dist/node.js'
import { encoderModel } from '../encoder.mjs'
import { row } from '../harness.mjs'

const [batchSize, length, wantedRate] = [16, 32, 20]

export default async function embed({ quick }) {
  const engine = await nodeOnnxEngine({ threads: 1 })
  const marks = new TextEncoder().encode('[PAD]\n[UNK]\n[CLS]\n[SEP]\n')
  const { vocabulary } = vocabularyFromText(marks, 'bench')
  const model = encoderModel()
  const texts = Array.from({ length: batchSize }, (_, i) =>
    Array.from({ length }, (_, j) => 1000 + (((i * length + j) * 97) % 20000)),
  )
  const rows = []
  for (const profile of ['original', 'reference']) {
    const embedder = await createEmbedder(model, { engine, profile, vocabulary, batchSize })
    await embedder.embedIds(texts)
    let best = Number.POSITIVE_INFINITY
    for (let round = 0; round < (quick ? 3 : 10); round++) {
      const start = performance.now()
      await embedder.embedIds(texts)
      best = Math.min(best, (performance.now() - start) / 1000)
    }
    await embedder.close()
    const work = `embed ${batchSize} texts of ${length} tokens, ${profile} (${Math.round(batchSize / best)} texts/s)`
    rows.push(
      row(work, { tare: best, yardstick: batchSize / wantedRate }, { against: `${wantedRate} texts/s`, goal: 1 }),
    )
  }
  return rows
}
