// Verifying a file of 2 GB that the system has in memory, against b3sum with as many threads; two threads against one, without the start of the command; and the kernels that
// do the work where there is no native package. A file with one hash per byte is what b3sum does; with a hash of every tensor besides that
// of the shard, each byte is hashed twice.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { cli, isolated, race, row, run, scratch } from '../harness.mjs'
import { writeSample } from '../sample.mjs'

const files = [
  { name: 'one hash per byte', options: ['--tensor-hashes', 'off'] },
  { name: 'one hash per byte, 8 shards', options: ['--tensor-hashes', 'off', '--shard-size', '256MiB'] },
  { name: 'two hashes per byte', options: [] },
]

export default async function blake3({ quick }) {
  const folder = scratch()
  const from = join(folder, 'from.safetensors')
  const bytes = writeSample(from, quick ? 512 << 20 : 2 ** 31 - (64 << 20))
  const tare = (...args) => run(process.execPath, [cli, ...args, '--quiet'])
  const peak = (...args) => isolated('peak.mjs', args).memory
  const hasB3sum = spawnSync('b3sum', ['--version']).status === 0
  const rounds = quick ? 3 : 5
  const rows = []
  for (const { name, options } of files) {
    const file = join(folder, 'model.aero')
    tare('convert', from, '-o', file, ...options)
    for (const threads of hasB3sum ? [1, 2] : []) {
      const times = await race(
        async () => tare('verify', file, '--threads', threads),
        async () => run('b3sum', ['--num-threads', String(threads), file]),
        rounds,
      )
      const memory = peak('verify', file, '--threads', threads)
      const what = `verify, ${name}, ${threads === 1 ? '1 thread' : `${threads} threads`}`
      rows.push(row(what, times, { against: `b3sum with ${threads}`, goal: 0.8, bytes, memory }))
    }
    rows.push(scaling(`verify, ${name}`, ['verify', file]))
    rmSync(file)
  }
  for (const algorithm of ['blake3', 'sha256']) {
    rows.push(scaling(`hash, ${algorithm}`, ['hash', from, algorithm]))
  }
  rmSync(folder, { recursive: true, force: true })
  for (const kernel of ['blake3', 'crc32']) {
    const { memory, yardsticks, ...result } = isolated('digest-kernels.mjs', [kernel, quick ? 1 << 26 : 1 << 29])
    for (const [against, yardstick] of Object.entries(yardsticks)) {
      rows.push(row(`portable ${kernel}`, { tare: result.tare, yardstick }, { against, bytes: result.bytes, memory }))
    }
  }
  return rows

  function scaling(work, args) {
    const { memory, ...times } = isolated('digest-threads.mjs', args)
    return row(`${work}, 2 threads`, times, { against: '1 thread', goal: 1.7, bytes, memory })
  }
}
