// Fuzzes one target in a thread of its own. The input at hand lies in shared memory, so that the thread that watches has it after a crash or a hang.
import { parentPort, workerData } from 'node:worker_threads'
import { Coverage } from './coverage.mjs'
import { maxInput, mutate, piecesOf } from './mutate.mjs'
import { Pace } from './pace.mjs'
import { Random } from './random.mjs'
import { targetOf } from './targets/index.mjs'

const { target: id, seed, seconds, maxInputs, shared, isGuided, isFresh } = workerData
const beat = new Int32Array(shared, 0, 2) // inputs so far, bytes of the current one
const current = new Uint8Array(shared, 8)
const batchSize = 200
const maxSeeds = 4096

// Most inputs end with an exception that nobody looks at. Those that break a promise are tried again, with a stack.
Error.stackTraceLimit = 0

const target = targetOf(id)
const random = new Random(seed)
const pace = new Pace(random)
const coverage = new Coverage()
if (isGuided) await coverage.start()
const counts = { inputs: 0, opened: 0, refused: 0, large: 0 }
const broken = new Set()

/** Seeds that are opened lead further than those that are refused: half of all inputs are made from them. */
const seeds = { opened: [], refused: [], kept: [] }
const allSeeds = []

function keepSeed(input, outcome) {
  if (allSeeds.length >= maxSeeds || input.bytes.length === 0) return
  allSeeds.push(input)
  seeds[outcome === 'refused' ? 'refused' : 'opened'].push(input)
  if (input.isKept) seeds.kept.push(input)
}

/** Of the seeds that faults began with, one in eight inputs is made. */
function pickSeed() {
  if (seeds.kept.length > 0 && random.once(8)) return random.pick(seeds.kept)
  const from = seeds[seeds.refused.length === 0 || (seeds.opened.length > 0 && random.once(2)) ? 'opened' : 'refused']
  let chosen = random.pick(from)
  while (chosen.isCostly && from.some(({ isCostly }) => !isCostly) && !random.once(64)) chosen = random.pick(from)
  return chosen
}

/** What became of it; undefined if it broke a promise. */
async function run(input) {
  const { bytes, name } = input
  current.set(bytes)
  Atomics.store(beat, 1, bytes.length)
  Atomics.add(beat, 0, 1)
  counts.inputs++
  try {
    const outcome = await target.check(input, random, pace)
    counts[outcome]++
    return outcome
  } catch (error) {
    const promise = error?.promise ?? 'the fuzzer itself works'
    // One input for each kind of failure is enough; the same one comes back many times.
    const kind = `${promise} ${String(error?.message).replace(/\d+/g, '#').slice(0, 160)}`
    if (broken.has(kind)) return undefined
    broken.add(kind)
    parentPort.postMessage({
      kind: 'broken',
      promise,
      at: counts.inputs,
      message: String(error?.message ?? error),
      input: { bytes, name, siblings: input.siblings, base: input.base },
    })
    return undefined
  }
}

/** With `isFresh`, seeds that break a promise by themselves are left out, silently: others have to lead to the fault. */
for (const input of await target.seeds()) {
  let outcome
  if (isFresh) outcome = await target.check(input, random, pace).catch(() => undefined)
  else outcome = await run(input)
  if (outcome !== undefined) keepSeed(input, outcome)
}
if (isGuided) await coverage.news()

const made = []
const end = performance.now() + 1000 * seconds
while (allSeeds.length > 0 && performance.now() < end && counts.inputs < maxInputs) {
  const batch = []
  for (let i = 0; i < batchSize; i++) {
    const input = mutate(pickSeed(), allSeeds, random)
    input.made = (repaired) => made.push(repaired)
    batch.push(input)
    const outcome = await run(input)
    // Another outcome than all before: what is made from it may go on from there. So does what was repaired, whose checksums are right.
    if (outcome !== undefined && pace.isNew) await adopt(input, outcome)
    for (const each of made.splice(0)) if (pace.isNew && each.bytes.length <= maxInput) await adopt(each, 'opened')
  }
  if (!isGuided || (await coverage.news()) === 0) continue
  // Which of them reached new code is not known, so a few are kept.
  for (let i = 0; i < 4; i++) await adopt(random.pick(batch), 'refused')
}

async function adopt({ bytes, name, siblings, isCostly }, outcome) {
  const input = { bytes, name, siblings, isCostly }
  keepSeed({ ...input, pieces: target.format ? await piecesOf(input, target.format) : target.piecesOf(bytes) }, outcome)
}

parentPort.postMessage({
  kind: 'done',
  counts,
  seeds: allSeeds.length,
  outcomes: pace.outcomes,
  blocks: coverage.blocks,
})
