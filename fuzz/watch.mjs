// Runs a target in threads and watches them: one that does nothing but work hangs, and one that takes the process down says so.
import { Worker } from 'node:worker_threads'
import { maxInput } from './mutate.mjs'

/** An input that takes more time of a processor hangs; one that waits for nothing does after a while, too. The machine may be busy. */
const maxSeconds = { cpu: 20, wall: 300 }
/** Seeds of threads lie far apart, so that runs with neighbouring seeds do not repeat each other. */
const nextThread = 1_000_003

/** Figures of all threads together, and the promises that were broken. `maxInputs` is for all of them. */
export async function fuzz(target, { threads = 1, seed = 1, maxInputs = Number.POSITIVE_INFINITY, ...options }) {
  const started = clocks()
  const results = await Promise.all(
    Array.from({ length: threads }, (_, i) =>
      watch({ ...options, target, seed: seed + i * nextThread, maxInputs: Math.ceil(maxInputs / threads) }),
    ),
  )
  const sum = (of) => results.reduce((total, result) => total + (of(result) ?? 0), 0)
  const counts = Object.fromEntries(
    ['inputs', 'opened', 'refused', 'large'].map((key) => [key, sum((result) => result.counts[key])]),
  )
  return {
    target,
    ...counts,
    seeds: sum((result) => result.seeds),
    outcomes: Math.max(...results.map(({ outcomes = 0 }) => outcomes)),
    ...(options.isGuided && { blocks: Math.max(...results.map(({ blocks = 0 }) => blocks)) }),
    broken: results.flatMap(({ broken }) => broken),
    seconds: Number((clocks().wall - started.wall).toFixed(1)),
    cpuSeconds: Number((clocks().cpu - started.cpu).toFixed(1)),
    peakMiB: Math.round(process.resourceUsage().maxRSS / 1024),
  }
}

async function watch(workerData) {
  const shared = new SharedArrayBuffer(8 + maxInput)
  const beat = new Int32Array(shared, 0, 2)
  const current = new Uint8Array(shared, 8)
  const worker = new Worker(new URL('worker.mjs', import.meta.url), {
    workerData: { ...workerData, shared },
    // Nearly everything is garbage when the next input comes: collected seldom, little of it is copied.
    resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 96 },
  })
  const broken = []
  let done
  const breaks = (promise, message) =>
    broken.push({ promise, message, at: beat[0], input: { bytes: current.slice(0, beat[1]) } })
  let last = { count: -1, ...clocks() }
  const timer = setInterval(() => {
    const count = Atomics.load(beat, 0)
    const now = clocks()
    if (count !== last.count) last = { count, ...now }
    else if (now.cpu - last.cpu > maxSeconds.cpu || now.wall - last.wall > maxSeconds.wall) {
      breaks('nothing hangs', `an input takes more than ${maxSeconds.cpu} s`)
      worker.terminate()
    }
  }, 1000)
  await new Promise((resolve) => {
    worker.on('message', (message) => {
      if (message.kind === 'done') done = message
      else broken.push(message)
      if (message.kind === 'broken' && workerData.isOneEnough) worker.terminate()
    })
    worker.on('error', (error) => breaks('nothing takes the process down', String(error)))
    worker.on('exit', resolve)
  })
  clearInterval(timer)
  return { counts: { inputs: beat[0] }, ...done, broken }
}

/** Seconds: of processors, and of the clock on the wall. */
function clocks() {
  const { user, system } = process.cpuUsage()
  return { cpu: (user + system) / 1e6, wall: performance.now() / 1000 }
}
