// The main job on a small model: look inside, convert with a cast, verify the result, compare. Prints each command and its output.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const cli = join(here, '..', 'dist', 'bundle', 'main.js')
const folder = mkdtempSync(join(tmpdir(), 'tare-demo-'))
const half = join(folder, 'tiny-mlp-f16.safetensors')

function tare(...args) {
  process.stdout.write(
    `\n$ tare ${args.map((arg) => arg.replace(`${here}/`, '').replace(`${folder}/`, '')).join(' ')}\n`,
  )
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], { cwd: here, encoding: 'utf8' })
  process.stdout.write((stdout + stderr).replaceAll(`${here}/`, '').replaceAll(`${folder}/`, ''))
  if (status !== 0) process.exitCode = 1
}

try {
  tare('inspect', 'tiny-mlp.safetensors')
  tare('convert', 'tiny-mlp.safetensors', '-o', half, '--cast', 'f16', '--set', 'precision=half')
  tare('verify', half)
  tare('inspect', half)
  tare('stats', half)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.stdout.write(
  process.exitCode
    ? '\nThe demo failed.\n'
    : '\nDone: inspected, converted to half precision, verified. Nothing was left behind.\n',
)
