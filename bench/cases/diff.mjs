import { closeSync, copyFileSync, openSync, writeSync } from 'node:fs'
import { writeSample } from '../builders/sample.mjs'
import { GiB, MiB, missing, raceCommand, run, size as sizeText } from '../harness/harness.mjs'
import { row, skipped } from '../harness/rows.mjs'

export const topic = 'Comparing'
export const about = 'two models that differ in one tensor, against the raw BLAKE3 of both files on all cores, and cmp'

export default async function* diff({ file, pick, rounds }) {
  const [a, b] = [file('a.safetensors'), file('b.safetensors')]
  const size = writeSample(a, pick(2 * GiB, 128 * MiB))
  copyFileSync(a, b)
  changeNumber(b, 4 * Math.floor((0.9 * size) / 4))
  const work = `diff of two models of ${sizeText(size)}`
  const measure = async (yardstick, options) => {
    const times = await raceCommand(['diff', a, b], yardstick, { rounds, status: 1 })
    return row(work, times, { bytes: 2 * size, limit: 250e6, ...options })
  }
  const [reason, against] = [missing('b3sum'), 'b3sum of both']
  if (reason) yield skipped(work, against, reason)
  else yield await measure(() => run('b3sum', [a, b]), { against, goal: 0.6 })
  // With -l it goes on to the end, as diff does.
  yield await measure(() => run('cmp', ['-l', a, b], 1), { against: 'cmp -l' })
}

function changeNumber(path, offset) {
  const file = openSync(path, 'r+')
  writeSync(file, new Uint8Array(Float32Array.of(0.5).buffer), 0, 4, offset)
  closeSync(file)
}
