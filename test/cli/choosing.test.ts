// Patterns, keys and flags that meet nothing: an empty output is refused, everything else is said.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { useTempDir } from '../node/temp-dir.js'
import { runCli as tare } from './run-cli.js'

const at = useTempDir()
const sample = join(import.meta.dirname, '../../examples/tiny-mlp.safetensors')

it.each([
  ['--only', 'zzz*'],
  ['--exclude', '*'],
])('convert %s %s leaves no tensor, and is refused', async (flag, pattern) => {
  const { status, stderr } = await tare('convert', sample, '-o', at('a.gguf'), flag, pattern)
  expect(status).toBe(2)
  expect(stderr).toContain(`${flag}: none of the 4 tensors is left`)
  expect(existsSync(at('a.gguf'))).toBe(false)
})

it('convert notes what changes nothing, and goes on', async () => {
  const flags = ['--unset', 'zzz', '--page-hashes', '4K', '--only', '*.weight', '--only', 'yyy', '--exclude', 'xxx']
  const { status, stdout } = await tare('convert', sample, '-o', at('a.gguf'), '--json', ...flags)
  expect(status).toBe(0)
  expect(JSON.parse(stdout).notes).toEqual([
    '--only yyy takes nothing: no tensor has such a name',
    '--exclude xxx changes nothing: no tensor has such a name',
    '--unset zzz changes nothing: there is no such entry',
    '--page-hashes changes nothing: GGUF has no such option',
    expect.stringContaining('--set general.architecture=NAME'),
  ])
})

it('convert has no notes where everything meets something', async () => {
  const flags = ['--unset', 'license', '--page-hashes', '4K', '--only', '*.weight']
  const { stdout } = await tare('convert', sample, '-o', at('a.aero'), '--allow-loss', '--json', ...flags)
  expect(JSON.parse(stdout).notes).toEqual([])
})

it.each(['inspect', 'stats', 'show'])('%s remarks that no tensor matches', async (verb) => {
  const { status, stderr } = await tare(verb, sample, '--tensors', 'zzz*')
  expect(status).toBe(0)
  expect(stderr).toContain('no tensor matches zzz*')
  expect((await tare(verb, sample, '--tensors', '*.bias')).stderr).not.toContain('no tensor')
})
