// Plans a conversion of a virtual model for real and simulates its run on growing numbers of workers: `SIZE CONVERSION WORKERS COSTS`, the last two
// in JSON. Answers a list with one entry for each number of workers.
import { sharedOut } from '../../dist/jobs/tasks.js'
import { assumed, speedsOf, variation } from '../cluster/assumed.mjs'
import { models } from '../cluster/model.mjs'
import { conversions, planned } from '../cluster/plan.mjs'
import { costOfLooking, simulateQueue, simulateShares } from '../cluster/simulate.mjs'
import { answer } from '../harness/measure.mjs'

const [size, name, workersText, costsText] = process.argv.slice(2)
const { parts, job, queue } = JSON.parse(costsText)
const costs = parts[name]
const { conversion, tasks, open, plan } = await planned(models[size], conversions[name])

const lookedAt = ({ first, end }) => conversion.checks.slice(first, end).reduce((sum, { bytes }) => sum + bytes, 0)
const movedBy = (task) => (task.kind === 'check' ? lookedAt(task) : (task.to - task.from) * (1 + costs.readPerByte))
const computed = (task) =>
  task.kind === 'check' ? lookedAt(task) * costs.check : (task.to - task.from) * costs.perByte
const varied = variation()
const useful = Float64Array.from(tasks, (task) => (computed(task) + movedBy(task) / assumed.bandwidth) * varied())
const taken = useful.map((seconds) => seconds + job.work)
const moved = tasks.reduce((sum, task) => sum + movedBy(task), 0)
const total = useful.reduce((sum, seconds) => sum + seconds, 0)
const longestFirst = [...tasks].sort((a, b) => b.cost - a.cost).map(({ number }) => taken[number])

const finishing = tasks.length * job.finish + job.finishOnce + open
const finishingCpu = tasks.length * job.finishCpu + job.finishOnce + open

answer({ tasks: tasks.length, moved, open, plan, runs: JSON.parse(workersText).map(run) })

function run(workers) {
  const speeds = speedsOf(workers)
  const ideal = total / speeds.reduce((sum, speed) => sum + speed, 0)
  return { workers, ideal, queue: throughQueue(speeds, ideal), shares: inShares(speeds, ideal) }
}

/** `convert --workers`: the submitter plans once, hands out, looks for results, finishes. Each worker plans once before its first task. */
function throughQueue(speeds, ideal) {
  const { server, submit } = queue
  const { ends, imbalance } = simulateQueue(longestFirst, speeds, { start: plan, serve: server, submit })
  const looked = costOfLooking(ends, { start: tasks.length * submit, pause: 0.5, perResult: job.look })
  const makespan = plan + looked.end + finishing
  const busy = plan + tasks.length * (submit + server) + looked.cost + finishingCpu
  return { makespan, imbalance, efficiency: ideal / makespan, coordinator: busy / makespan }
}

/** `plan`, an array of `work --part I/N`, `finish`. */
function inShares(speeds, ideal) {
  const shares = speeds.map(() => [])
  for (const { task, share } of sharedOut(tasks, speeds.length)) shares[share].push(taken[task.number])
  const { end, imbalance } = simulateShares(shares, speeds, { start: plan })
  const makespan = plan + end + plan + finishing
  return { makespan, imbalance, efficiency: ideal / makespan }
}
