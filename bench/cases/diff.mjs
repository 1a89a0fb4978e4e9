// Comparing two models that differ in one tensor, both in the page cache: against the raw BLAKE3 of both files on all cores, and `cmp`.
import { spawnSync } from 'node:child_process'
import { closeSync, copyFileSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { cli, isolated, race, row, scratch } from '../harness.mjs'
import { writeSample } from '../sample.mjs'

const digester = 'b3sum'

export default async function diff({ quick }) {
  const folder = scratch()
  const [a, b] = ['a.safetensors', 'b.safetensors'].map((name) => join(folder, name))
  const size = writeSample(a, quick ? 256 << 20 : 2 * 2 ** 30)
  copyFileSync(a, b)
  changeNumber(b, 4 * Math.floor((0.9 * size) / 4))
  const bytes = 2 * size
  const memory = isolated('peak.mjs', ['diff', '--tolerance', 1, a, b]).memory
  const compare = async () => expectStatus(1, process.execPath, [cli, 'diff', '--quiet', a, b])
  const rows = []
  const measure = async (against, goal, command, status, args) => {
    const times = await race(compare, async () => expectStatus(status, command, args), quick ? 3 : 4)
    rows.push(row(`diff of two ${(size / 2 ** 30).toFixed(2)} GiB models`, times, { against, goal, bytes, memory }))
  }
  if (!spawnSync(digester, ['--version']).error) await measure('b3sum of both', 0.6, digester, 0, [a, b])
  // With -l it goes on to the end, as diff does.
  await measure('cmp -l', undefined, 'cmp', 1, ['-l', a, b])
  rmSync(folder, { recursive: true, force: true })
  return rows
}

function changeNumber(path, offset) {
  const file = openSync(path, 'r+')
  writeSync(file, new Uint8Array(Float32Array.of(0.5).buffer), 0, 4, offset)
  closeSync(file)
}

/** A difference is status 1, which is what is wanted here. */
function expectStatus(status, command, args) {
  const result = spawnSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  if (result.error) throw result.error
  if (result.status !== status)
    throw new Error(`${command} ${args.join(' ')}: status ${result.status}, ${result.stderr}`)
}
