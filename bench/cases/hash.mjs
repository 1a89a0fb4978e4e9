// Hashing all tensors of a file in the page cache on one thread, against the raw digest over bytes in memory.
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createHasher } from '../../dist/node.js'
import { cli, isolated, race, row, run, scratch } from '../harness.mjs'
import { writeSample } from '../sample.mjs'

export default async function hash({ quick }) {
  const folder = scratch()
  const file = join(folder, 'from.safetensors')
  const bytes = writeSample(file, quick ? 256 << 20 : 2 ** 30)
  const window = new Uint8Array(1 << 20).fill(7)
  const repeat = (update) => {
    for (let done = 0; done < bytes; done += window.byteLength) update(window)
  }
  const rows = []
  for (const algorithm of ['blake3', 'sha256']) {
    const memory = isolated('peak.mjs', ['hash', '--threads', 1, '--algorithm', algorithm, file]).memory
    const times = await race(
      async () => run(process.execPath, [cli, 'hash', '--threads', '1', '--algorithm', algorithm, '--quiet', file]),
      async () => {
        const hasher = algorithm === 'sha256' ? createHash('sha256') : await createHasher(algorithm)
        repeat((chunk) => hasher.update(chunk))
        hasher.digest()
      },
      3,
    )
    rows.push(
      row(`hash ${(bytes / 2 ** 30).toFixed(2)} GiB, ${algorithm}`, times, {
        against: `raw ${algorithm}`,
        bytes,
        memory,
      }),
    )
  }
  rmSync(folder, { recursive: true, force: true })
  return rows
}
