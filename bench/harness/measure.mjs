// Times and memory, for both sides: the cases, and the scripts that they run in processes of their own.
import { readFileSync } from 'node:fs'

export async function seconds(work) {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

/**
 * Runs both in turn and keeps the best time of each: the one least disturbed by others. What takes milliseconds gets more rounds. The memory
 * is that of the first run of tare, before the yardstick takes any.
 */
export async function race(tare, yardstick, rounds = 5) {
  const best = { tare: Number.POSITIVE_INFINITY, yardstick: Number.POSITIVE_INFINITY }
  await tare()
  const memory = peakMemory()
  await yardstick()
  const enough = performance.now() + 300
  for (let i = 0; i < rounds || (i < 10 * rounds && performance.now() < enough); i++) {
    best.yardstick = Math.min(best.yardstick, await seconds(yardstick))
    best.tare = Math.min(best.tare, await seconds(tare))
  }
  return { ...best, memory }
}

/** The peak memory of this process in bytes. Unlike the figure of `getrusage`, Linux does not hand it down from parent to child. */
export function peakMemory() {
  try {
    return Number(/VmHWM:\s*(\d+) kB/.exec(readFileSync('/proc/self/status', 'latin1'))[1]) * 1024
  } catch {
    return process.resourceUsage().maxRSS * 1024
  }
}

/** What a script that was run by `isolated` says: its last line. */
export function answer(result) {
  process.stdout.write(`\n${JSON.stringify({ memory: peakMemory(), ...result })}\n`)
}
