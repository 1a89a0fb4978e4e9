// Copying a file that is in the page cache into a new container, against `cp` and a flush; and the memory that a file of any size takes.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { cli, isolated, race, row, run, scratch } from '../harness.mjs'
import { writeSample } from '../sample.mjs'

export default async function copy({ quick }) {
  const folder = scratch()
  const from = join(folder, 'from.safetensors')
  const to = join(folder, 'to.safetensors')
  const bytes = writeSample(from, quick ? 256 << 20 : 2 * 2 ** 30)
  const memory = isolated('peak.mjs', ['convert', from, '-o', to]).memory
  const times = await race(
    async () => {
      rmSync(to, { force: true })
      run(process.execPath, [cli, 'convert', from, '-o', to, '--quiet'])
    },
    async () => {
      rmSync(to, { force: true })
      run('cp', [from, to])
      run('sync', [to])
    },
    quick ? 3 : 4,
  )
  const { memory: virtual, seconds } = isolated('virtual-copy.mjs', [quick ? 2 ** 30 : 6 * 2 ** 30])
  rmSync(folder, { recursive: true, force: true })
  return [
    row(`copy-convert ${(bytes / 2 ** 30).toFixed(2)} GiB`, times, { against: 'cp + sync', goal: 0.7, bytes, memory }),
    row(
      'convert a virtual file, memory only',
      { tare: seconds, yardstick: seconds },
      { against: 'itself', memory: virtual },
    ),
  ]
}
