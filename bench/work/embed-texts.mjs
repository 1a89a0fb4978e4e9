// Sentence embeddings on one core with the encoder in a file, 16 texts of 32 tokens at a time: `FILE PROFILE ROUNDS`.
import { closeModel, createEmbedder, nodeOnnxEngine, openInput, openModel } from '../../dist/kit-node.js'
import { answer, seconds } from '../harness/measure.mjs'

const [path, profile, rounds] = process.argv.slice(2)
const [batchSize, length] = [16, 32]
const texts = Array.from({ length: batchSize }, (_, i) =>
  Array.from({ length }, (_, j) => 1000 + (((i * length + j) * 97) % 20_000)),
)
const model = await openModel(await openInput(path))
const engine = await nodeOnnxEngine({ threads: 1 })
const embedder = await createEmbedder(model, { engine, profile, batchSize })
let best = Number.POSITIVE_INFINITY
for (let round = 0; round <= Number(rounds); round++) {
  const taken = await seconds(() => embedder.embedIds(texts))
  if (round > 0) best = Math.min(best, taken)
}
await embedder.close()
await closeModel(model)
answer({ tare: best, count: batchSize })
