import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { useTempDir } from '../node/temp-dir.js'
import { useCompiled } from './compiled.js'

const root = resolve(import.meta.dirname, '../..')
const compiled = useCompiled()
const temp = useTempDir()

beforeAll(async () => {
  const { bundleCommand } = await import(`${new URL('../../scripts/bundle-command.mjs', import.meta.url)}`)
  await bundleCommand(compiled())
})

function tare(...args: string[]) {
  return spawnSync(process.execPath, [compiled('command/main.js'), ...args], { encoding: 'utf8', cwd: root })
}

it('is a few files, not hundreds', () => {
  expect(readdirSync(compiled('command')).length).toBeLessThan(80)
})

it('carries the licences of what it takes in, and loads the rest from its packages', () => {
  const texts = readdirSync(compiled('command')).map((name) => readFileSync(compiled(join('command', name)), 'utf8'))
  const imported = texts.flatMap((text) => [...text.matchAll(/(?:from|import\(|import) ?["`]([a-z@][^"`:]*)["`]/g)])
  expect(imported.map(([, name]) => name)).toContain('yaml')
  expect(imported.map(([, name]) => name)).not.toContain('commander')
  expect(readFileSync(compiled('command/licenses.txt'), 'utf8')).toMatch(
    /commander.*Permission.*picocolors.*Permission/s,
  )
})

it('says its version', () => {
  expect(tare('--version').stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})

it('loads every verb', () => {
  const verbs = [...tare('--help').stdout.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, verb]) => verb!)
  expect(verbs).toContain('convert')
  for (const verb of verbs) expect(tare(verb, '--help')).toMatchObject({ status: 0, stderr: '' })
})

it('packs a description in YAML, and converts and verifies what came out', () => {
  const packed = temp('m.oinf')
  const again = temp('m.safetensors')
  const example = readdirSync(join(root, 'examples')).find((name) => name.endsWith('.yaml'))!
  expect(tare('pack', join('examples', example), '-o', packed)).toMatchObject({ status: 0 })
  expect(tare('convert', packed, '-o', again, '--allow-loss')).toMatchObject({ status: 0 })
  expect(tare('verify', packed, again)).toMatchObject({ status: 0 })
})
