// npm run fuzz: makes inputs for every format, tries them in every way that the oracles know, and keeps those that break a promise.
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { formats } from '../dist/kit.js'
import { minimize } from './minimize.mjs'
import { maxInput } from './mutate.mjs'

const help = `npm run fuzz -- [options]

Makes inputs for every format by changing fixtures where their fields are, and checks what must hold for any bytes: only findings and
never raw exceptions, opening agrees with verifying, the byte map covers every byte once, what is repaired or written verifies, a
conversion without loss loses nothing, and nothing hangs or takes much memory. Inputs that reach new code are changed further.

  --format ID     only this format; can be given several times
  --seconds N     how long, for each format (default 10)
  --inputs N      how many inputs at most, for each format
  --seed N        repeats a run (default 1)
  --no-guide      do not look at which code was reached: more inputs in the same time
  --out FOLDER    where inputs that break a promise are kept, made small (default fuzz/findings)
  --json          one line of JSON for each format
  --help          this

Exit status: 0 every promise held, 1 one was broken, 2 wrong usage.
`

const { values } = readArguments()
const folder = values.out ?? fileURLToPath(new URL('findings', import.meta.url))
/** An input that takes more time of a processor hangs; one that waits for nothing does after a while, too. The machine may be busy. */
const maxSeconds = { cpu: 20, wall: 300 }
let failures = 0
for (const { id } of formats) {
  if (values.format && !values.format.includes(id)) continue
  const result = await fuzz(id)
  failures += result.broken
  console.log(values.json ? JSON.stringify(result) : describe(result))
}
process.exitCode = failures > 0 ? 1 : 0

function readArguments() {
  const number = { type: 'string' }
  try {
    const parsed = parseArgs({
      options: {
        format: { type: 'string', multiple: true },
        seconds: number,
        inputs: number,
        seed: number,
        'no-guide': { type: 'boolean' },
        out: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    })
    const unknown = parsed.values.format?.find((id) => !formats.some((format) => format.id === id))
    if (unknown) throw new Error(`there is no format ${unknown}`)
    if (!parsed.values.help) return parsed
    process.stdout.write(help)
    process.exit(0)
  } catch (error) {
    console.error(`${error.message}\n\n${help}`)
    process.exit(2)
  }
}

/** One format, in a thread that is watched. */
async function fuzz(format) {
  const shared = new SharedArrayBuffer(8 + maxInput)
  const beat = new Int32Array(shared, 0, 2)
  const current = new Uint8Array(shared, 8)
  const started = performance.now()
  const workerData = {
    format,
    shared,
    seed: Number(values.seed ?? 1),
    seconds: Number(values.seconds ?? 10),
    maxInputs: Number(values.inputs ?? Number.POSITIVE_INFINITY),
    isGuided: !values['no-guide'],
  }
  const worker = new Worker(new URL('worker.mjs', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  })
  const broken = []
  let done
  let last = { count: -1, ...clocks() }
  const watch = setInterval(() => {
    const count = Atomics.load(beat, 0)
    const now = clocks()
    if (count !== last.count) last = { count, ...now }
    else if (now.cpu - last.cpu > maxSeconds.cpu || now.wall - last.wall > maxSeconds.wall) {
      broken.push({
        promise: 'nothing hangs',
        message: `an input takes more than ${maxSeconds.cpu} s`,
        input: { bytes: current.slice(0, beat[1]) },
      })
      worker.terminate()
    }
  }, 1000)
  await new Promise((resolve) => {
    worker.on('message', (message) => {
      if (message.kind === 'done') done = message
      else broken.push(message)
    })
    worker.on('error', (error) =>
      broken.push({
        promise: 'nothing takes the process down',
        message: String(error),
        input: { bytes: current.slice(0, beat[1]) },
      }),
    )
    worker.on('exit', resolve)
  })
  clearInterval(watch)
  for (const each of broken) await keep(format, each)
  const seconds = (performance.now() - started) / 1000
  return {
    format,
    ...(done?.counts ?? { inputs: beat[0] }),
    seeds: done?.seeds,
    blocks: done?.blocks,
    broken: broken.length,
    seconds: Number(seconds.toFixed(1)),
    peakMiB: Math.round(process.resourceUsage().maxRSS / 1024),
  }
}

/** Seconds: of processors, and of the clock on the wall. */
function clocks() {
  const { user, system } = process.cpuUsage()
  return { cpu: (user + system) / 1e6, wall: performance.now() / 1000 }
}

/** Saves an input that breaks a promise, made small where that takes no risk. */
async function keep(format, { promise, message, input }) {
  const isQuick = promise !== 'nothing hangs' && promise !== 'nothing takes the process down'
  const small = isQuick ? await minimize(input, format, promise) : input.bytes
  mkdirSync(join(folder, format), { recursive: true })
  const name = createHash('sha256').update(small).digest('hex').slice(0, 12)
  writeFileSync(join(folder, format, `${name}.bin`), small)
  writeFileSync(join(folder, format, `${name}.txt`), `${promise}\n${message}\n`)
  console.error(
    `${format}: ${promise}: ${message.slice(0, 400)} (${small.length} bytes, ${join(folder, format, name)}.bin)`,
  )
}

function describe({ format, inputs, opened, refused, large, seeds, blocks, broken, seconds, peakMiB }) {
  const rate = Math.round(inputs / seconds)
  return `${format.padEnd(12)} ${inputs} inputs (${rate}/s), ${opened} opened, ${refused} refused, ${large} large, ${seeds} seeds, ${blocks} blocks, ${peakMiB} MiB, ${broken} broken`
}
