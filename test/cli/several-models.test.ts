import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import { findModels } from '../../src/node/find-models.js'
import { useTempDir } from '../node/temp-dir.js'
import { runCli as tare } from './run-cli.js'

const at = useTempDir()
const sample = new URL('../../examples/tiny-mlp.safetensors', import.meta.url).pathname

function put(...names: string[]): void {
  mkdirSync(at(...names.slice(0, -1)), { recursive: true })
  copyFileSync(sample, at(...names))
}

beforeEach(() => {
  put('all', 'a', 'model.safetensors')
  writeFileSync(at('all', 'a', 'config.json'), '{}')
  put('all', 'b', 'deep', 'one.safetensors')
  put('all', 'b', 'deep', 'two.safetensors')
  put('all', '.hidden', 'model.safetensors')
  mkdirSync(at('all', 'none'))
  writeFileSync(at('all', 'none', 'notes.txt'), 'nothing')
})

describe('the models below a directory', () => {
  test('are directories that hold one, and single files', async () => {
    symlinkSync(at('all'), at('all', 'loop'))
    const expected = [
      at('all', 'a'),
      at('all', 'b', 'deep', 'one.safetensors'),
      at('all', 'b', 'deep', 'two.safetensors'),
    ]
    expect(await findModels(at('all'))).toEqual(expected)
  })

  test('have a verdict each, and a summary', async () => {
    const { status, stdout } = await tare('verify', '-r', at('all'))
    expect(status).toBe(0)
    for (const path of [at('all', 'a'), at('all', 'b', 'deep', 'two.safetensors')])
      expect(stdout).toContain(`${path}: ok`)
    expect(stdout.endsWith('\n3 models: 3 ok\n')).toBe(true)
  })

  test('the worst of them is the status', async () => {
    writeFileSync(at('all', 'none', 'cut.safetensors'), Uint8Array.of(255, 0, 0, 0, 0, 0, 0, 0, 0x7b))
    const { status, stdout } = await tare('verify', '-r', at('all'))
    expect([status, stdout]).toEqual([1, expect.stringContaining('4 models: 3 ok, 1 with errors\n')])
  })

  test('are a line of JSON each', async () => {
    const { stdout } = await tare('verify', '-r', '--json', at('all'))
    const lines = stdout.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).file)).toEqual(await findModels(at('all')))
  })

  test('without any it is status 2, and other inputs are still checked', async () => {
    const { status, stdout, stderr } = await tare('verify', '-r', at('all', 'none'), sample)
    expect([status, stderr]).toEqual([2, expect.stringContaining('there is no model below it')])
    expect(stdout).toContain(`${sample}: ok`)
  })

  test('without --recursive a directory is one model', async () => {
    expect((await tare('verify', at('all'))).status).toBe(2)
  })
})

describe.each(['verify', 'inspect', 'hash'])('%s of a pipeline', (verb) => {
  test('takes every model in it', async () => {
    put('pipe', 'unet', 'diffusion_pytorch_model.safetensors')
    put('pipe', 'vae', 'diffusion_pytorch_model.safetensors')
    writeFileSync(at('pipe', 'model_index.json'), '{"unet": ["library", "Class"], "vae": ["library", "Class"]}')
    const { status, stdout } = await tare(verb, '--json', at('pipe'))
    const lines = stdout.trimEnd().split('\n')
    expect(status).toBe(0)
    expect(lines.map((line) => JSON.parse(line).file)).toEqual([at('pipe', 'unet'), at('pipe', 'vae')])
  })
})
