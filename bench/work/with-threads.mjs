// One and two threads on the same work in one process, turn by turn, after a round in which the threads start. Prints the best time of each.
// Nothing is written: what is made is counted and forgotten, so that no disk is in the way.
import {
  CountingSink,
  closeModel,
  diffModels,
  FileSource,
  hashModel,
  openModel,
  openPool,
  planConversion,
  planQuantization,
  runConversion,
  statsOfTensors,
  verifySource,
} from '../../dist/kit-node.js'
import { answer } from '../harness/measure.mjs'

const [work, file, detail] = process.argv.slice(2)

const works = {
  async verify(source, pool) {
    const { verdict } = await verifySource(source, { pool })
    if (verdict !== 'ok') throw new Error(`${file}: ${verdict}`)
  },
  hash: async (source, pool) => hashModel(await openModel(source), { pool, algorithm: detail }),
  async stats(source, pool) {
    for await (const found of statsOfTensors((await openModel(source)).tensors, { pool }))
      if (!found) throw new Error('no statistics')
  },
  async diff(source, pool) {
    const other = await openModel(await FileSource.open(detail))
    const { equal } = await diffModels(await openModel(source), other, { pool })
    await closeModel(other)
    if (!equal) throw new Error(`${file} is not ${detail}`)
  },
  async cast(source, pool) {
    const planned = await planConversion(await openModel(source), 'safetensors', { name: 'out', cast: detail, pool })
    await runConversion(planned, async () => new CountingSink(), { pool })
  },
  async quantize(source, pool) {
    const planned = await planQuantization(await openModel(source), 'mcf', { name: 'out', method: detail, pool })
    await runConversion(planned, async () => new CountingSink(), { pool })
  },
}

async function run(pool) {
  const source = await FileSource.open(file)
  await works[work](source, pool)
  await source.close()
}

const pool = openPool({ threads: 2 })
pool.prepare()
const best = { one: Number.POSITIVE_INFINITY, two: Number.POSITIVE_INFINITY }
// Short work is done more often: for its first seconds the engine recompiles it on threads of its own, which compete for the two cores.
const started = performance.now()
for (let round = 0; round < 5 || performance.now() - started < 8000; round++) {
  for (const [threads, own] of Object.entries({ one: undefined, two: pool })) {
    const start = performance.now()
    await run(own)
    if (round > 0) best[threads] = Math.min(best[threads], (performance.now() - start) / 1000)
  }
}
answer({ tare: best.two, yardstick: best.one })
