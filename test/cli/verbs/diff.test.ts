// Two models through the command line, across formats.
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { parseTolerance } from '../../../src/cli/flags/parse-values.js'
import { UsageError } from '../../../src/cli/status.js'
import { dtypeById, formats, type Tensor } from '../../../src/kit.js'
import { useTempDir } from '../../node/temp-dir.js'
import { convertToFiles } from '../../support/convert.js'
import { fixturePath } from '../../support/fixtures.js'
import { sampleModel } from '../../support/sample-model.js'
import { encoded, tensorOf } from '../../transforms/tensors.js'
import { runCli as tare } from '../run-cli.js'

const at = useTempDir()
const sample = join(import.meta.dirname, '../../../examples', 'tiny-mlp.safetensors')
const json = async (...args: string[]) => JSON.parse((await tare('diff', ...args, '--json')).stdout)

beforeEach(() => copyFileSync(sample, at('a.safetensors')))

describe('across formats', () => {
  const many = formats.filter(({ capabilities: { write } }) => write && write.maxTensors === undefined)

  test.each(many.map((format) => [format.id, format.extensions[0]!]))(
    'a copy in %s has equal tensors',
    async (id, end) => {
      await tare('convert', at('a.safetensors'), '-o', at(`b${end}`), '--to', id, '--allow-loss')
      const copy = existsSync(at(`b${end}`)) ? at(`b${end}`) : at('b.model')
      const { status, stdout } = await tare('diff', at('a.safetensors'), copy, '--tensors', '*')
      expect([status, stdout.split('\n')[0]]).toEqual([0, 'equal — tensors: 4 equal'])
    },
  )

  test('a cast differs, unless a tolerance allows it', async () => {
    await tare('convert', at('a.safetensors'), '-o', at('b.npz'), '--cast', 'f16', '--allow-loss')
    const found = await json(at('a.safetensors'), at('b.npz'), '--tensors', '*')
    expect(found).toMatchObject({
      file: at('a.safetensors'),
      format: 'safetensors',
      other: { file: at('b.npz'), format: 'npz' },
      equal: false,
      summary: { tensors: { changed: 4 } },
    })
    expect(found.tensors[0].values.snr).toBeGreaterThan(60)
    const close = await tare('diff', at('a.safetensors'), at('b.npz'), '--tensors', '*', '--tolerance', '1e-3')
    expect([close.status, close.stdout.split('\n')[0]]).toEqual([0, 'equal — tensors: 4 within the tolerance'])
  })

  test('a pattern that no tensor has is not the answer "equal"', async () => {
    const { status, stdout, stderr } = await tare('diff', at('a.safetensors'), sample, '--tensors', 'blk.*')
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toContain('--tensors: no tensor of either model matches blk.*')
  })

  test('a quantized model is measured', async () => {
    await tare('quantize', at('a.safetensors'), '-o', at('b.mcf'), '--method', 'q8')
    const args = [at('a.safetensors'), at('b.mcf'), '--tensors', '*']
    const { tensors, summary } = await json(...args)
    expect(summary.tensors).toMatchObject({ equal: 2, changed: 2 })
    expect(tensors.map(({ b }: { b: { dtype: string } }) => b.dtype)).toEqual(['mcf.q8', 'mcf.q8'])
    const status = async (bound: string) =>
      (await tare('diff', ...args, '--metric', 'snr', '--tolerance', bound)).status
    expect([await status('40'), await status('60')]).toEqual([0, 1])
  })

  test('vocabularies and metadata count', async () => {
    const model = fixturePath('embd', 'sect-tiny-bert-1layer.weights')
    expect((await tare('diff', model, model)).status).toBe(0)
    const found = await json(model, at('a.safetensors'))
    expect(found.parts).toContainEqual(expect.objectContaining({ kind: 'vocabulary', change: 'missing' }))
    expect(found.metadata).toContainEqual(expect.objectContaining({ key: 'model', change: 'extra' }))
  })
})

describe('three tensors of 300', () => {
  const f32 = dtypeById('f32')!
  const layer = (i: number): Tensor =>
    tensorOf(
      f32,
      [4, 4],
      encoded(
        f32,
        Array.from({ length: 16 }, (_, k) => Math.fround(Math.sin(i * 16 + k))),
      ),
      {
        name: `layers.${i}.weight`,
      },
    )

  beforeEach(async () => {
    const base = Array.from({ length: 300 }, (_, i) => layer(i))
    const { codec } = f32
    const change = (tensor: Tensor, index: number, value: number): Tensor => {
      const i = Number(/\d+/.exec(tensor.name)![0])
      const values = Array.from({ length: 16 }, (_, k) => Math.fround(Math.sin(i * 16 + k)))
      values[index] = value
      const bytes = new Uint8Array(64)
      codec!.fromF64!(Float64Array.from(values), bytes)
      return tensorOf(f32, [4, 4], bytes, { name: tensor.name })
    }
    const tuned = base.slice()
    tuned[7] = change(base[7]!, 5, Number.NaN)
    tuned[120] = change(base[120]!, 15, Math.fround(Math.sin(120 * 16 + 15)) + 1e-6)
    tuned[255] = change(base[255]!, 0, 4)
    tuned[30] = { ...base[30]!, name: 'head.weight' }
    tuned[31] = { ...base[31]!, shape: [2, 8] }
    tuned[32] = { ...layer(700), name: 'evil\u001b[2J\u202ename' }
    const write = async (name: string, tensors: Tensor[], metadata: [string, string][]) => {
      const entries = new Map(metadata.map(([key, value]) => [key, { type: 'str', value } as const]))
      const files = await convertToFiles(sampleModel(tensors, entries), 'safetensors', { name })
      writeFileSync(at(name), files.get(name)!)
    }
    await write('base.safetensors', base, [
      ['format', 'pt'],
      ['step', '100'],
    ])
    await write('tuned.safetensors', tuned, [
      ['format', 'pt'],
      ['step', '200'],
    ])
  })

  test('fit on a screen', async () => {
    const { status, stdout, stderr } = await tare('diff', at('base.safetensors'), at('tuned.safetensors'))
    expect(
      stdout.replaceAll(at(''), '').replaceAll(/\/?(base|tuned)\.safetensors +/g, '$1.safetensors  '),
    ).toMatchSnapshot()
    expect([status, stderr]).toEqual([1, ''])
  })

  test('can be cut', async () => {
    const { stdout } = await tare('diff', at('base.safetensors'), at('tuned.safetensors'), '--limit', '1')
    expect(stdout).toContain('… and 2 more (--limit)')
  })

  test('can be named only', async () => {
    const { status, stdout } = await tare('diff', '--names-only', at('base.safetensors'), at('tuned.safetensors'))
    expect(status).toBe(1)
    expect(stdout.split('\n').sort()).toEqual([
      '',
      'evil\\x1b[2J\\u202ename',
      'layers.120.weight',
      'layers.255.weight',
      'layers.30.weight',
      'layers.31.weight',
      'layers.32.weight',
      'layers.7.weight',
    ])
  })
})

describe('what cannot be compared', () => {
  test('an input that does not open is an error object of its own, and status 1', async () => {
    writeFileSync(at('broken'), 'no model')
    for (const [a, b] of [
      [at('broken'), at('a.safetensors')],
      [at('a.safetensors'), at('broken')],
    ] as const) {
      const { status, stdout } = await tare('diff', a, b, '--json')
      expect(stdout.trim().split('\n')).toHaveLength(1)
      expect([status, JSON.parse(stdout)]).toEqual([
        1,
        expect.objectContaining({
          file: at('broken'),
          format: null,
          error: expect.objectContaining({ code: expect.any(String) }),
        }),
      ])
    }
  })

  test('an input that fails while it is read is the one that is named', async () => {
    const good = fixturePath('npz', 'zeros-4mb.npz')
    const bytes = readFileSync(good)
    bytes.fill(0xff, 2500, 2600)
    writeFileSync(at('bad.npz'), bytes)
    for (const pair of [
      [at('bad.npz'), good],
      [good, at('bad.npz')],
    ]) {
      const { status, stdout } = await tare('diff', ...pair, '--json')
      expect([status, JSON.parse(stdout)]).toMatchObject([1, { file: at('bad.npz'), format: 'npz', error: {} }])
    }
  })

  test.each<[string[], string]>([
    [['a'], "missing required argument 'b'"],
    [['a', 'b', 'c'], 'too many arguments'],
    [['-', '-'], 'standard input can be read only once'],
    [['a', 'b', '--tolerance', 'x'], 'Expected a number'],
    [['a', 'b', '--metric', 'mse'], 'Allowed are max-abs'],
  ])('%j is wrong usage', async (args, words) => {
    const { status, stderr } = await tare('diff', ...args)
    expect([status, stderr]).toEqual([2, expect.stringContaining(words)])
  })

  test('a bound that does not go with the metric is wrong usage', async () => {
    const pair = [at('a.safetensors'), at('a.safetensors')]
    expect((await tare('diff', ...pair, '--metric', 'rmse', '--tolerance', 'abs=1')).status).toBe(2)
    expect((await tare('diff', ...pair, '--tolerance', '-1')).status).toBe(2)
  })
})

test.each<[string, unknown]>([
  ['1e-5', 1e-5],
  ['0', 0],
  ['abs=1e-6', { abs: 1e-6, rel: 0 }],
  ['rel=0.5,abs=2', { abs: 2, rel: 0.5 }],
])('the tolerance %s', (text, value) => {
  expect(parseTolerance(text)).toEqual(value)
})

test.each(['', 'x', 'abs', 'abs=', 'abs=x', 'max=1', 'abs=1=2', '1,2', 'Infinity', 'abs=1,'])(
  '%j is no tolerance',
  (text) => {
    expect(() => parseTolerance(text)).toThrow(UsageError)
  },
)
