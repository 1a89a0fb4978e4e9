// AERO: listing a million tensors, converting with all hashes on, verifying all of them.
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { writeManyTensors } from '../aero-sample.mjs'
import { cli, isolated, race, root, row, run, scratch } from '../harness.mjs'
import { writeSample } from '../sample.mjs'

export default async function aero({ quick }) {
  const folder = scratch()
  const rows = [...(await listing(folder, quick)), ...(await hashing(folder, quick))]
  rmSync(folder, { recursive: true, force: true })
  return rows
}

/** The whole command, with its output going to a file: this is what a person waits for. */
async function listing(folder, quick) {
  const count = quick ? 100_000 : 1_000_000
  const many = join(folder, 'many.aero')
  await writeManyTensors(many, count)
  const best = (work) =>
    Array.from({ length: 4 }, () => isolated('open-index.mjs', [work, many, count])).reduce((a, b) =>
      a.seconds < b.seconds ? a : b,
    )
  const [opened, parsed] = [best('open'), best('json')]
  const times = { tare: opened.seconds, yardstick: parsed.seconds }
  const rows = [row(`open ${count} tensors (AERO)`, times, { against: 'JSON.parse', memory: opened.memory })]
  for (const flags of [[], ['--json']]) {
    const runs = Array.from({ length: 3 }, () => printing(['inspect', ...flags, many], join(folder, 'out.txt')))
    const seconds = Math.min(...runs.map((each) => each.seconds))
    const peak = Math.max(...runs.map((each) => each.memory))
    rows.push(limitRow(`inspect ${[...flags, ''].join(' ')}of ${count} tensors`, seconds, peak))
  }
  return rows
}

/** Runs the command with its output going to a file; the last line there tells its peak memory. */
function printing(args, output) {
  const start = performance.now()
  const file = openSync(output, 'w')
  const script = join(root, 'bench', 'peak.mjs')
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: ['ignore', file, 'inherit'] })
  const seconds = (performance.now() - start) / 1000
  closeSync(file)
  if (status !== 0) throw new Error(`tare ${args.join(' ')} failed`)
  return { seconds, memory: JSON.parse(readFileSync(output, 'utf8').trimEnd().split('\n').at(-1)).memory }
}

/** Here the goal is a time and a size, not a ratio. */
function limitRow(work, seconds, memory) {
  const [most, mostMemory] = [3, 1e9]
  const met = seconds <= most && memory <= mostMemory ? 'met' : 'MISSED'
  const line = `${work.padEnd(44)} ${seconds.toFixed(2)} s  peak ${Math.round(memory / 2 ** 20)} MiB  (goal ${most} s and 1 GB, ${met})`
  return { work, against: 'a limit', tare: seconds, yardstick: most, speed: most / seconds, memory, line }
}

async function hashing(folder, quick) {
  const from = join(folder, 'from.safetensors')
  const to = join(folder, 'to.aero')
  const bytes = writeSample(from, quick ? 256 << 20 : 2 * 2 ** 30)
  const size = `${(bytes / 2 ** 30).toFixed(2)} GiB`
  const rounds = quick ? 3 : 4
  const rows = []
  for (const [name, flags] of [
    ['tensor hashes', []],
    ['all hashes', ['--page-hashes', '--control-hash']],
  ]) {
    const convert = ['convert', from, '-o', to, ...flags]
    const { memory } = isolated('peak.mjs', convert)
    const times = await race(
      async () => {
        rmSync(to, { force: true })
        run(process.execPath, [cli, ...convert, '--quiet'])
      },
      async () => {
        rmSync(to, { force: true })
        run('cp', [from, to])
        run('sync', [to])
      },
      rounds,
    )
    rows.push(row(`convert ${size} to AERO, ${name}`, times, { against: 'cp + sync', goal: 0.5, bytes, memory }))
  }
  // `cp` wrote last.
  run(process.execPath, [cli, 'convert', from, '-o', to, '--page-hashes', '--control-hash', '--quiet'])
  if (spawnSync('b3sum', ['--version']).status !== 0) return rows
  for (const threads of new Set([1, availableParallelism()])) {
    const verify = ['verify', '--threads', String(threads), to]
    const { memory } = isolated('peak.mjs', verify)
    const times = await race(
      async () => run(process.execPath, [cli, ...verify, '--quiet']),
      async () => run('b3sum', ['--num-threads', String(threads), to]),
      rounds,
    )
    const against = `b3sum --num-threads ${threads}`
    rows.push(row(`verify ${size} with all hashes, ${threads} threads`, times, { against, goal: 0.8, bytes, memory }))
  }
  return rows
}
