// Side by side: every benchmark measures tare and a yardstick in the same run, turn by turn, and reports the ratio. Absolute times move
// with the machine; ratios hold.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')
export const cli = join(root, 'dist', 'command', 'main.js')

/** A scratch folder on the same disk as the project, removed at exit. */
export function scratch() {
  mkdirSync(join(root, '.bench'), { recursive: true })
  const folder = mkdtempSync(join(root, '.bench', 'run-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Runs both in turn and keeps the best time of each: the one least disturbed by others. */
export async function race(tare, yardstick, rounds = 5) {
  let best = Number.POSITIVE_INFINITY
  let bestYardstick = Number.POSITIVE_INFINITY
  await tare()
  await yardstick()
  for (let i = 0; i < rounds; i++) {
    bestYardstick = Math.min(bestYardstick, await seconds(yardstick))
    best = Math.min(best, await seconds(tare))
  }
  return { tare: best, yardstick: bestYardstick }
}

async function seconds(work) {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

/** Runs a command to its end; throws when it fails. Returns the peak resident memory in bytes where /usr/bin/time is not needed: null. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], ...options })
  if (result.error) throw result.error
  if (result.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${result.stderr}`)
  return result.stdout
}

/** Runs a script of this folder in a process of its own and gives back the JSON it printed, with its peak memory. */
export function isolated(script, args = []) {
  return JSON.parse(
    run(process.execPath, [join(root, 'bench', script), ...args.map(String)])
      .trim()
      .split('\n')
      .at(-1),
  )
}

export function peakMemory() {
  return process.resourceUsage().maxRSS * 1024
}

/** `speed`: yardstick time over tare time, 1 is equal, more is faster than the yardstick. */
export function row(work, { tare, yardstick }, { against, goal, bytes, memory }) {
  return { work, against, tare, yardstick, speed: yardstick / tare, goal, bytes, memory }
}
