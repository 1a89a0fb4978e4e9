// One and two threads on the same work in one process, turn by turn, after a round in which the threads start. Prints the best time of each.
import { FileSource, hashModel, openModel, openPool, verifySource } from '../dist/node.js'
import { answer } from './measure.mjs'

const [work, file, algorithm] = process.argv.slice(2)

async function run(pool) {
  const source = await FileSource.open(file)
  if (work === 'verify') {
    const { verdict } = await verifySource(source, { pool })
    if (verdict !== 'ok') throw new Error(`${file}: ${verdict}`)
  } else await hashModel(await openModel(source), { pool, algorithm })
  await source.close()
}

const pool = openPool({ threads: 2 })
const best = { one: Number.POSITIVE_INFINITY, two: Number.POSITIVE_INFINITY }
for (let round = 0; round < 6; round++) {
  for (const [threads, own] of Object.entries({ one: undefined, two: pool })) {
    const start = performance.now()
    await run(own)
    if (round > 0) best[threads] = Math.min(best[threads], (performance.now() - start) / 1000)
  }
}
answer({ tare: best.two, yardstick: best.one })
