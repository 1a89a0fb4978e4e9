// The examples, as their users run them.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { formatById } from '../../src/kit.js'
import { runCli as tare } from '../cli/run-cli.js'
import { useTempDir } from '../node/temp-dir.js'

const at = useTempDir()
const example = (name: string): string => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url))

async function inspect(file: string) {
  const { status, stdout } = await tare('inspect', '--json', file)
  expect(status).toBe(0)
  return JSON.parse(stdout)
}

const mlp = [
  { name: 'b1', dtype: 'f32', shape: [32] },
  { name: 'b2', dtype: 'f32', shape: [8] },
  { name: 'w1', dtype: 'f32', shape: [16, 32] },
  { name: 'w2', dtype: 'f32', shape: [32, 8] },
]

// Without the OINF format there is nothing to write these files with.
describe.skipIf(!formatById('oinf'))('as OINF', () => {
  test('mlp-regression: YAML with .npy files and the module make the same file', async () => {
    const [fromYaml, fromModule] = [at('yaml.oinf'), at('module.oinf')]
    expect(await tare('pack', example('mlp-regression.yaml'), '-o', fromYaml)).toMatchObject({ status: 0, stdout: '' })
    const { status, stderr } = await tare('pack', `${example('mlp-regression.mjs')}#MlpRegression`, '-o', fromModule)
    expect([status, stderr]).toEqual([0, expect.stringContaining('oinf, 4 tensors, 3.48 KiB')])
    expect(readFileSync(fromModule).equals(readFileSync(fromYaml))).toBe(true)
    expect((await tare('verify', fromYaml)).status).toBe(0)
    expect(await inspect(fromYaml)).toMatchObject({
      version: '1',
      parts: [{ kind: 'size-variables', value: { B: 4, D: 16, H: 32, O: 8 } }],
      tensors: mlp,
    })
  })

  test('mlp-regression: JSON changes the sizes of the module', async () => {
    const fields = at('fields.json')
    writeFileSync(fields, '{"H": 5, "seed": 7}')
    const output = at('small.oinf')
    expect(
      (await tare('pack', `${example('mlp-regression.mjs')}#MlpRegression`, '--json', fields, '-o', output)).status,
    ).toBe(0)
    expect((await inspect(output)).tensors.at(2)).toMatchObject({ name: 'w1', shape: [16, 5] })
  })

  test('quantized-linear: JSON, and the module with its fields filled, make the same file', async () => {
    const [fromJson, fromModule] = [at('json.oinf'), at('module.oinf')]
    expect((await tare('pack', example('quantized-linear.json'), '-o', fromJson)).status).toBe(0)
    const module = `${example('quantized-linear.mjs')}#QuantizedLinear`
    const data = example('quantized-linear.data.json')
    expect((await tare('pack', module, '--json', data, '-o', fromModule)).status).toBe(0)
    expect(readFileSync(fromModule).equals(readFileSync(fromJson))).toBe(true)
    expect((await tare('verify', fromJson)).status).toBe(0)
    const { version, metadata, tensors } = await inspect(fromJson)
    expect(version).toBe('2')
    expect(metadata).toMatchObject({ activation: { type: 'str', value: 'none' }, bits: { type: 'u8', value: 4 } })
    expect(tensors.map(({ name, dtype, shape }: Record<string, unknown>) => [name, dtype, shape])).toEqual([
      ['bias', 'f32', [4]],
      ['w', 'i4', [8, 4]],
      ['x', 'i4', [2, 8]],
      ['y', 'i32', [2, 4]],
    ])
    const { stdout } = await tare('show', fromJson)
    expect(stdout).toContain('- quant: scheme=symmetric, scale=per_channel(axis=1, count=4), zero_point=none')
    expect(stdout).toContain('- quant: scheme=asymmetric, scale=per_tensor(0.05), zero_point=per_tensor(-2)')
    expect(stdout).toContain('y: i32[2, 4] -- uninitialized')
  })
})

describe('as safetensors', () => {
  test('mlp-regression, without its size variables', async () => {
    const output = at('mlp.safetensors')
    expect((await tare('pack', example('mlp-regression.yaml'), '-o', output, '--allow-loss')).status).toBe(0)
    const { tensors } = await inspect(output)
    expect(tensors.map(({ name, dtype, shape }: Record<string, unknown>) => ({ name, dtype, shape }))).toEqual(mlp)
  })

  test('quantized-linear carries its scales where there is no place for them', async () => {
    const { status, stderr } = await tare('pack', example('quantized-linear.json'), '-o', at('q.safetensors'))
    expect([status, stderr]).toEqual([0, expect.stringContaining('no place for quantization parameters')])
  })

  test('quantized-linear does not fit, and what would be lost is named', async () => {
    const to = ['-o', at('q.model'), '--to', 'primitiv']
    const { status, stderr } = await tare('pack', example('quantized-linear.json'), ...to)
    expect([status, stderr]).toEqual([1, expect.stringContaining('no place for quantization parameters')])
  })
})
