// Optimizers through the command: their settings as JSON, and what they keep beside the weights.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { useTempDir } from '../../node/temp-dir.js'
import { fixtureBytes, fixturePath } from '../../support/fixtures.js'
import { runCli as tare } from '../run-cli.js'

const at = useTempDir()
const sameBytes = (path: string, bytes: Uint8Array): boolean => Buffer.compare(readFileSync(path), bytes) === 0

describe('settings', () => {
  const adam = (): string => fixturePath('primitiv', 'opt_adam.optimizer')

  test('become JSON and an Optimizer file again', async () => {
    expect((await tare('convert', adam(), '-o', at('adam.json'))).status).toBe(0)
    expect(JSON.parse(readFileSync(at('adam.json'), 'utf8'))).toMatchObject({ class: 'Adam' })
    for (const flags of [[], ['--to', 'primitiv']]) {
      expect((await tare('convert', at('adam.json'), '-o', at('again.optimizer'), ...flags)).status).toBe(0)
      expect(sameBytes(at('again.optimizer'), fixtureBytes('primitiv', 'opt_adam.optimizer'))).toBe(true)
    }
  })

  test('that are wrong are refused in their place', async () => {
    writeFileSync(at('wrong.json'), '{"uint": {"Optimizer.epoch": -1}}')
    const { status, stdout } = await tare('convert', at('wrong.json'), '-o', at('x.optimizer'), '--json')
    expect([status, existsSync(at('x.optimizer'))]).toEqual([1, false])
    expect(JSON.parse(stdout)).toMatchObject({
      format: 'optimizer-json',
      error: { code: 'optimizer-json/range', offset: 29, path: 'uint["Optimizer.epoch"]' },
    })
  })

  test('that are not there cannot be written', async () => {
    const model = fixturePath('primitiv', 'model_single.model')
    const { status, stderr } = await tare('convert', model, '-o', at('x.json'))
    expect([status, existsSync(at('x.json'))]).toEqual([1, false])
    expect(stderr).toContain('optimizer-json/no-settings')
  })
})

test('other JSON is no settings, and a directory of it no choice between models', async () => {
  for (const name of ['config.json', 'tokenizer.json']) writeFileSync(at(name), '{"class_name": "x"}')
  expect((await tare('inspect', at('config.json'))).stderr).toContain('open/unknown-format')
  expect((await tare('inspect', at())).stderr).toContain('io/empty-directory')
})

describe('statistics', () => {
  const model = (): string => fixturePath('primitiv', 'model_nested_adam.model')
  const states = async (file: string): Promise<number> =>
    JSON.parse((await tare('inspect', '--json', file)).stdout).tensors.filter(
      (tensor: { stat?: string }) => tensor.stat !== undefined,
    ).length

  test('travel through another format and are attached again', async () => {
    await tare('convert', model(), '-o', at('flat.safetensors'))
    for (const stats of [['--stats'], ['--stats', at('flat.safetensors')], ['--stats', model()]]) {
      expect((await tare('convert', at('flat.safetensors'), '-o', at('back.model'), ...stats)).status).toBe(0)
      expect(await states(at('back.model'))).toBe(16)
    }
  })

  test('of a model that does not open are an input that did not open', async () => {
    const ran = await tare('convert', model(), '-o', at('x.model'), '--stats', at('none'), '--json')
    expect([ran.status, ran.stderr]).toEqual([2, ''])
    expect(JSON.parse(ran.stdout)).toMatchObject({ file: model(), error: { code: 'io/not-found', file: at('none') } })
  })

  test('stay where they came from: that file is not a place for the output', async () => {
    await tare('convert', model(), '-o', at('flat.safetensors'))
    await tare('convert', model(), '-o', at('with.model'))
    const before = readFileSync(at('with.model'))
    const flags = ['-o', at('with.model'), '--stats', at('with.model')]
    expect((await tare('convert', at('flat.safetensors'), ...flags)).status).toBe(2)
    expect(sameBytes(at('with.model'), before)).toBe(true)
  })

  test('are left out when asked, whatever form they have', async () => {
    await tare('convert', model(), '-o', at('flat.safetensors'))
    for (const input of [model(), at('flat.safetensors')]) {
      expect((await tare('convert', input, '-o', at('bare.safetensors'), '--no-stats')).status).toBe(0)
      expect(JSON.parse((await tare('inspect', '--json', at('bare.safetensors'))).stdout).tensors).toHaveLength(8)
    }
  })
})
