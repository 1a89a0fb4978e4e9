// The benchmarks, one after the other; `--help` says what there is.
import { readdirSync } from 'node:fs'
import { arch, availableParallelism, loadavg, platform, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { remove, root, scratch } from './harness/harness.mjs'
import { formatRow } from './harness/rows.mjs'

const help = `npm run bench -- [options]

Measures tare and a yardstick in the same run, turn by turn, and prints their ratio: above 1 tare needs less time.
A full run takes about 40 minutes and 10 GB of disk; it wants a machine that does nothing else.

  --only NAME   only the cases with this in their name; may be given several times
  --quick       small sizes and few rounds, under 4 minutes: shows that everything runs. Goals are for full sizes and are not judged.
  --json        one JSON object at the end, lines to standard error; scripts/performance-page.mjs makes a page of it
  --list        what there is
  --help        this

Exit status: 0 all was measured, 1 a case failed (the others are measured all the same), 2 nothing to do.
A missed goal is no failure.
`
const flags = Object.fromEntries(['quick', 'json', 'list', 'help'].map((name) => [name, { type: 'boolean' }]))
const { values } = readFlags()
const names = readdirSync(join(root, 'bench', 'cases'))
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => file.slice(0, -4))
  .filter((name) => !values.only || values.only.some((part) => name.includes(part)))
  .sort()

// So that the scratch folder goes too.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130))

if (values.help) process.stdout.write(help)
else if (names.length === 0) fail('no benchmark has this name; --list shows what there is')
else if (values.list) await list()
else await runAll()

function readFlags() {
  try {
    return parseArgs({ options: { ...flags, only: { type: 'string', multiple: true } } })
  } catch (error) {
    fail(`${error.message}\n\n${help}`)
    process.exit()
  }
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exitCode = 2
}

async function list() {
  for (const name of names) {
    const { about } = await import(`./cases/${name}.mjs`)
    process.stdout.write(`${name.padEnd(16)} ${about}\n`)
  }
}

async function runAll() {
  const start = performance.now()
  const before = conditions()
  const rows = []
  const errors = []
  for (const name of names) {
    const folder = scratch()
    const cleanUp = () => remove(folder)
    process.once('exit', cleanUp)
    const began = performance.now()
    try {
      const { default: bench, topic } = await import(`./cases/${name}.mjs`)
      for await (const each of bench(contextFor(folder))) add({ case: name, topic, ...each })
    } catch (error) {
      errors.push({ case: name, message: error.message })
      process.stderr.write(`${name}: ${error.stack}\n`)
      process.exitCode = 1
    }
    cleanUp()
    process.off('exit', cleanUp)
    process.stderr.write(`-- ${name} took ${((performance.now() - began) / 1000).toFixed(0)} s\n`)
  }
  const took = (performance.now() - start) / 1000
  if (values.json) process.stdout.write(`${JSON.stringify({ ...before, took, rows, errors }, null, 1)}\n`)

  function add(each) {
    const judged = values.quick ? { ...each, met: undefined } : each
    rows.push(judged)
    const stream = values.json ? process.stderr : process.stdout
    stream.write(`${formatRow(judged)}\n`)
  }
}

/** What a case is given: where it may write, and how large and how often it works. */
function contextFor(folder) {
  const pick = (full, quick) => (values.quick ? quick : full)
  return { folder, pick, file: (name) => join(folder, name), rounds: pick(4, 1) }
}

function conditions() {
  const { node, v8 } = process.versions
  const machine = { cores: availableParallelism(), memory: totalmem(), platform: platform(), arch: arch(), node, v8 }
  return { date: new Date().toISOString().slice(0, 10), quick: values.quick === true, load: loadavg()[0], machine }
}
