// npm run fuzz: makes inputs for every format and document, tries them in every way that the oracles know, and keeps those that break a promise.
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { minimize } from './minimize.mjs'
import { targets } from './targets/index.mjs'
import { fuzz } from './watch.mjs'

const help = `npm run fuzz -- [options]

Makes inputs for every format by changing fixtures where their fields are, and checks what must hold for any bytes: only findings and
never raw exceptions, opening agrees with verifying, the byte map covers every byte once, what is repaired or written verifies, a
conversion without loss loses nothing, a delta gives back the model, and nothing hangs or takes much memory. Every input is opened. Those
whose outcome is new get every check and are changed further; of the others some do. Deltas, jobs, signatures, receipts and lists of
digests are tried as well.

  --target ID     only this format or document; can be given several times
  --seconds N     how long, for each (default 10)
  --inputs N      how many inputs at most, for each
  --seed N        repeats a run (default 1)
  --rounds N      how many times over, with the next seed each time (default 1; 0: until it is stopped)
  --threads N     for each (default 1)
  --guide         look also at which code was reached, which takes time
  --fresh         leave out seeds that break a promise by themselves
  --stop          one broken promise is enough
  --out FOLDER    where inputs that break a promise are kept, made small (default fuzz/findings)
  --json          one line of JSON for each
  --help          this

Exit status: 0 every promise held, 1 one was broken, 2 wrong usage.
`

const { values } = readArguments()
const folder = values.out ?? fileURLToPath(new URL('findings', import.meta.url))
let failures = 0
const rounds = Number(values.rounds ?? 1) || Number.POSITIVE_INFINITY
for (let round = 0; round < rounds; round++)
  for (const { id } of targets)
    if (!values.target || values.target.includes(id)) failures += await run(id, Number(values.seed ?? 1) + round)
process.exitCode = failures > 0 ? 1 : 0

/** How many promises were broken. */
async function run(id, seed) {
  const { broken, ...result } = await fuzz(id, {
    seed,
    seconds: Number(values.seconds ?? 10),
    ...(values.inputs && { maxInputs: Number(values.inputs) }),
    threads: Number(values.threads ?? 1),
    isGuided: values.guide,
    isFresh: values.fresh,
    isOneEnough: values.stop,
  })
  const kept = []
  for (const each of broken) kept.push(await keep(id, each))
  console.log(values.json ? JSON.stringify({ ...result, seed, broken: kept }) : describe(result, kept))
  return broken.length
}

function readArguments() {
  const number = { type: 'string' }
  const flag = { type: 'boolean' }
  try {
    const parsed = parseArgs({
      options: {
        target: { type: 'string', multiple: true },
        ...{ seconds: number, inputs: number, seed: number, rounds: number, threads: number },
        ...{ guide: flag, fresh: flag, stop: flag, json: flag, help: flag },
        out: { type: 'string' },
      },
    })
    const unknown = parsed.values.target?.find((id) => !targets.some((target) => target.id === id))
    if (unknown) throw new Error(`there is no ${unknown}; there are ${targets.map(({ id }) => id).join(', ')}`)
    if (!parsed.values.help) return parsed
    process.stdout.write(help)
    process.exit(0)
  } catch (error) {
    console.error(`${error.message}\n\n${help}`)
    process.exit(2)
  }
}

/** Saves an input that breaks a promise, made small where that takes no risk; a set is a folder. */
async function keep(target, { promise, message, input, at }) {
  const isQuick = promise !== 'nothing hangs' && promise !== 'nothing takes the process down' && !values.stop
  const small = isQuick ? await minimize(input, target, promise) : input.bytes
  const name = createHash('sha256').update(small).digest('hex').slice(0, 12)
  const path = join(folder, target, name)
  const files = input.siblings?.size > 0 ? new Map(input.siblings).set(input.name, small) : undefined
  mkdirSync(files ? path : join(folder, target), { recursive: true })
  if (files) for (const [each, bytes] of files) writeFileSync(join(path, each), bytes)
  else writeFileSync(`${path}.bin`, small)
  writeFileSync(`${path}.txt`, `${promise}\n${message}\n`)
  console.error(`${target}: ${promise}: ${message.slice(0, 400)} (input ${at}, ${small.length} bytes, ${path})`)
  return { promise, at, message: message.slice(0, 200) }
}

function describe({ target, inputs, opened, refused, large, seeds, outcomes, blocks, cpuSeconds, peakMiB }, broken) {
  const rate = Math.round(inputs / cpuSeconds)
  const notes = [`${opened} opened`, `${refused} refused`, `${large} large`, `${seeds} seeds`, `${outcomes} outcomes`]
  if (blocks !== undefined) notes.push(`${blocks} blocks`)
  return `${target.padEnd(14)} ${inputs} inputs (${rate} a second of CPU), ${notes.join(', ')}, ${peakMiB} MiB, ${broken.length} broken`
}
