// Fuzzes one format in a thread of its own. The input at hand lies in shared memory, so that the thread that watches has it after a crash or a hang.
import { parentPort, workerData } from 'node:worker_threads'
import { seedsOf } from './corpus.mjs'
import { Coverage } from './coverage.mjs'
import { mutate, piecesOf } from './mutate.mjs'
import { check } from './oracles.mjs'
import { Random } from './random.mjs'

const { format, seed, seconds, maxInputs, shared, isGuided } = workerData
const beat = new Int32Array(shared, 0, 2) // inputs so far, bytes of the current one
const current = new Uint8Array(shared, 8)
const batchSize = 200

const random = new Random(seed)
const seeds = await seedsOf(format)
const coverage = new Coverage()
if (isGuided) await coverage.start()
const counts = { inputs: 0, opened: 0, refused: 0, large: 0 }
const broken = new Set()

async function run(input) {
  const { bytes, name } = input
  current.set(bytes)
  Atomics.store(beat, 1, bytes.length)
  Atomics.add(beat, 0, 1)
  counts.inputs++
  try {
    counts[await check(input, format, random)]++
  } catch (error) {
    const promise = error?.promise ?? 'the fuzzer itself works'
    // One input for each kind of failure is enough; the same one comes back many times.
    const kind = `${promise} ${String(error?.message).replace(/\d+/g, '#').slice(0, 160)}`
    if (broken.has(kind)) return
    broken.add(kind)
    parentPort.postMessage({
      kind: 'broken',
      promise,
      message: String(error?.message ?? error),
      input: { bytes, name, siblings: input.siblings },
    })
  }
}

for (const seed of [...seeds]) await run(seed)
if (isGuided) await coverage.news()
const end = performance.now() + 1000 * seconds
while (seeds.length > 0 && performance.now() < end && counts.inputs < maxInputs) {
  const batch = Array.from({ length: batchSize }, () => mutate(random.pick(seeds), seeds, random))
  for (const input of batch) await run(input)
  if (!isGuided || (await coverage.news()) === 0) continue
  // Which of them it was is not known, so a few are kept as seeds: what reaches new code once leads on from there.
  for (let i = 0; i < 4; i++) {
    const input = random.pick(batch)
    if (input.bytes.length > 0) seeds.push({ ...input, pieces: await piecesOf(input, format) })
  }
}
parentPort.postMessage({ kind: 'done', counts, seeds: seeds.length, blocks: coverage.blocks })
