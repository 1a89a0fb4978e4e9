// Statistics, with median and histogram, of f32 values: the kernels and whole files against a copy of the same bytes; and what the command
// makes of a file of 256 MiB, against the speed that is wanted of it.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { cli, isolated, race, row, run, scratch } from '../harness.mjs'
import { fillNormal } from '../normal.mjs'
import { writeSample } from '../sample.mjs'

const wanted = 1e9
const kernelGoal = 0.3

export default async function stats({ quick }) {
  const rows = []
  const kernels = isolated('stats-kernels.mjs', ['kernels', quick ? 1 << 22 : 1 << 24])
  rows.push(row('statistics of f32, kernels', kernels, { ...kernels, against: 'memcpy', goal: kernelGoal }))

  const folder = scratch()
  const safetensors = join(folder, 'sample.safetensors')
  const file = join(folder, 'sample.oinf')
  const bytes = writeSample(safetensors, quick ? 64 << 20 : 256 << 20, fillWeights)
  run(process.execPath, [cli, 'convert', '--quiet', safetensors, '-o', file])
  rmSync(safetensors)
  const whole = isolated('stats-kernels.mjs', ['file', file])
  rows.push(row('statistics of a file, in a process that runs', whole, { ...whole, against: 'memcpy' }))
  const start = seconds(() => run(process.execPath, [cli, 'inspect', '--quiet', file]))
  for (const verb of ['stats', 'show', 'verify']) {
    const { memory } = isolated('peak.mjs', [verb, file])
    const command = async () => run(process.execPath, [cli, verb, '--quiet', file])
    const { tare } = await race(command, async () => {}, 5)
    const work = `${verb} ${Math.round(bytes / 2 ** 20)} MiB of OINF, whole command`
    rows.push(row(work, { tare, yardstick: bytes / wanted }, { against: '1 GB/s', goal: 1, bytes, memory }))
    const rest = Math.max(tare - start, 1e-3)
    rows.push(row(`${work}, without start`, { tare: rest, yardstick: bytes / wanted }, { against: '1 GB/s', bytes }))
  }
  rmSync(folder, { recursive: true, force: true })
  return rows
}

const fillWeights = (data, i) => fillNormal(data, i + 1, 0.02)

/** The best of a few. */
function seconds(work) {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < 6; i++) {
    const start = performance.now()
    work()
    best = Math.min(best, (performance.now() - start) / 1000)
  }
  return best
}
