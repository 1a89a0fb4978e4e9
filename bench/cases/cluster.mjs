import { models } from '../cluster/model.mjs'
import { conversions } from '../cluster/plan.mjs'
import { isolated } from '../harness/harness.mjs'
import { row, shortNumber, skipped } from '../harness/rows.mjs'

export const topic = 'Many machines (simulated)'
export const about =
  'conversions of 1 and 10 TB on 8 to 1,000 workers: planned for real, run in a simulation with costs measured here'

export default async function* cluster({ folder, pick }) {
  const costs = isolated('work/cluster-costs.mjs', [folder, pick(3, 1), pick(4000, 500)])
  if (!costs.queue) return yield skipped('conversions on many machines', 'nats-server', 'nats-server is not installed')
  const { job, queue, parts } = costs
  for (const [name, figure] of Object.entries({
    'a worker, beside its work (wall clock)': job.work,
    'the queue server': queue.server,
    'the submitter, handing out': queue.submit,
    'the submitter, a look at the results': job.look,
    'finishing (wall clock)': job.finish,
    finishing: job.finishCpu,
  }))
    yield row(`per task: ${name}`, { tare: figure, memory: costs.memory }, { limit })
  const workers = pick([8, 16, 32, 64, 125, 250, 500, 1000], [8, 1000])
  for (const size of pick(Object.keys(models), ['1 TB']))
    for (const name of Object.keys(conversions)) {
      const args = [size, name, JSON.stringify(workers), JSON.stringify(costs)]
      const { memory, runs, ...planned } = isolated('work/cluster-run.mjs', args)
      for (const run of runs) yield runRow({ size, name, memory, part: parts[name], ...planned, ...run })
    }
}

/** The planner of the largest and the simulation together. */
const limit = 1e9

function runRow({ memory, ...run }) {
  const { size, name, workers, queue, shares } = run
  const isJudged = size === '10 TB' && workers === 1000
  const { efficiency, coordinator, imbalance } = queue
  const goal = isJudged && { text: 'efficiency ≥ 0.9, coordinator < 1 core', met: efficiency >= 0.9 && coordinator < 1 }
  const note = `efficiency ${efficiency.toFixed(3)}, imbalance ${imbalance.toFixed(3)}, coordinator ${shortNumber(coordinator)} cores; shares: ${shortNumber(shares.makespan)} s, efficiency ${shares.efficiency.toFixed(3)}`
  const work = `${name}, ${size}, ${workers} workers`
  return row(work, { tare: queue.makespan, memory }, { limit, ...(goal && { goal }), note, run })
}
