// Side by side: every benchmark measures tare and a yardstick in the same run, turn by turn, and reports the ratio. Absolute times move
// with the machine; ratios hold. All work of tare runs in a process of its own, so that its peak memory is known.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { seconds } from './measure.mjs'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
export const cli = join(root, 'dist', 'bundle', 'main.js')
export const GiB = 2 ** 30
export const MiB = 2 ** 20

/** A scratch folder on the same disk as the project. */
export function scratch() {
  mkdirSync(join(root, '.bench'), { recursive: true })
  return mkdtempSync(join(root, '.bench', 'run-'))
}

/** Runs a command to its end; throws when it ends with another status. */
export function run(command, args, status = 0) {
  const result = spawnSync(command, args.map(String), { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] })
  if (result.error) throw result.error
  if (result.status !== status) throw new Error(`${command}: status ${result.status}, ${problemIn(result.stderr)}`)
}

/** Why a command cannot be a yardstick here, or undefined. */
export function missing(command) {
  return spawnSync(command, ['--version']).error ? `the command ${command} is not installed` : undefined
}

/** Runs the command line of tare: its time and its peak memory. What it prints goes nowhere, or into a file. */
export async function tare(args, { status = 0, output } = {}) {
  const out = output ? openSync(output, 'w') : 'ignore'
  const command = ['-r', join(root, 'bench', 'harness', 'peak.cjs'), cli, ...args.map(String), '--quiet']
  const start = performance.now()
  const child = spawn(process.execPath, command, { stdio: ['ignore', out, 'pipe', 'pipe'] })
  const outputs = Promise.all([text(child.stderr), text(child.stdio[3])])
  const [ended] = await once(child, 'exit')
  const taken = (performance.now() - start) / 1000
  const [errors, memory] = await outputs
  if (output) closeSync(out)
  if (ended !== status) throw new Error(`tare ${args[0]}: status ${ended}, ${problemIn(errors)}`)
  return { seconds: taken, memory: Number(memory) }
}

/** The best time of several runs, and the highest peak. */
export async function tareBest(args, rounds, options) {
  const runs = []
  while (runs.length < rounds) runs.push(await tare(args, options))
  return bestOf(runs)
}

/** The command against something else, in turn; `before` each of them, untimed. The highest peak counts. */
export async function raceCommand(args, yardstick, { rounds = 3, before = () => {}, ...options } = {}) {
  const best = { tare: Number.POSITIVE_INFINITY, yardstick: Number.POSITIVE_INFINITY, memory: 0 }
  for (let i = 0; i < rounds; i++) {
    before()
    best.yardstick = Math.min(best.yardstick, await seconds(yardstick))
    before()
    const { seconds: taken, memory } = await tare(args, options)
    best.tare = Math.min(best.tare, taken)
    best.memory = Math.max(best.memory, memory)
  }
  return best
}

/**
 * Nothing at `path`, and memory at hand for a file of so many bytes. A virtual machine may give memory that is free back to its host, and
 * getting it again takes up to ten times as long as writing to it: the first to write after a pause would pay for that, the next would not.
 */
export function clearPlace(path, bytes) {
  remove(path)
  const file = openSync(path, 'w')
  const piece = Buffer.alloc(MiB)
  for (let written = 0; written < bytes; written += piece.byteLength) writeSync(file, piece)
  closeSync(file)
  remove(path)
}

export function copyAndSync(from, to) {
  run('cp', [from, to])
  run('sync', [to])
}

/** Runs a script below bench/ in a process of its own and gives back what it answered. */
export function isolated(script, args = []) {
  const command = [join(root, 'bench', script), ...args.map(String)]
  const result = spawnSync(process.execPath, command, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  if (result.error) throw result.error
  if (result.status !== 0) throw new Error(`${script} ${args[0] ?? ''}: ${problemIn(result.stderr)}`)
  return JSON.parse(result.stdout.trim().split('\n').at(-1))
}

/** The best of several runs of such a script, which answers `seconds`, with the highest peak. */
export function isolatedBest(script, args, rounds) {
  return bestOf(Array.from({ length: rounds }, () => isolated(script, args)))
}

function bestOf(runs) {
  const best = runs.reduce((a, b) => (a.seconds <= b.seconds ? a : b))
  return { ...best, memory: Math.max(...runs.map(({ memory }) => memory)) }
}

export function remove(...paths) {
  for (const path of paths) rmSync(path, { recursive: true, force: true })
}

export const size = (bytes) =>
  bytes < 0.9 * GiB ? `${Math.round(bytes / MiB)} MiB` : `${Number((bytes / GiB).toPrecision(2))} GiB`
export const groups = (count) => count.toLocaleString('en')

/** The line that says what went wrong. */
function problemIn(output) {
  const lines = output.trim().split('\n')
  return lines.find((line) => /error/i.test(line)) ?? lines.at(-1)
}
