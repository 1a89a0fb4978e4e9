import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { useTempDir } from '../../../node/temp-dir.js'
import { runCli as tare } from '../../run-cli.js'

const at = useTempDir()
const sample = new URL('../../../../examples/tiny-mlp.safetensors', import.meta.url).pathname

describe('a run that quantizes nothing', () => {
  test.each([[[]], [['--dry-run']]])('is status 1, says why, and writes nothing: %j', async (flags) => {
    const { status, stderr } = await tare('quantize', sample, '-o', at('q.gguf'), '--method', 'q4_k', ...flags)
    expect(status).toBe(1)
    expect(stderr).toContain('there is nothing to quantize (2 tensors: 1-D, not a matrix')
    expect(stderr).toContain('1 tensor: rows of 64 are not a multiple of 256')
    expect(existsSync(at('q.gguf'))).toBe(false)
  })

  test('has a code in JSON', async () => {
    const { status, stdout } = await tare('quantize', sample, '-o', at('q.gguf'), '--method', 'q4_k', '--json')
    expect([status, JSON.parse(stdout).error.code]).toEqual([1, 'write/nothing-to-quantize'])
  })

  test('is noted in the plan of a conversion', async () => {
    const { status, stderr } = await tare('convert', sample, '-o', at('q.gguf'), '--quantize', 'q4_k')
    expect([status, stderr]).toEqual([0, expect.stringContaining('note: --quantize q4_k changes nothing')])
  })
})

test('a plan needs no output, only its format', async () => {
  const { status, stdout, stderr } = await tare('quantize', sample, '--to', 'mcf', '--dry-run')
  expect([status, stdout, stderr]).toEqual([0, expect.stringContaining('mcf.k4'), expect.stringContaining('would be')])
  expect((await tare('quantize', sample, '--to', 'mcf')).status).toBe(2)
})

test('what is quantized already is so again only on request', async () => {
  await tare('quantize', sample, '-o', at('q8.gguf'), '--method', 'q8_0')
  const again = (...flags: string[]) =>
    tare('quantize', at('q8.gguf'), '-o', at('q4.gguf'), '--method', 'q4_0', ...flags)
  expect(await again()).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('already ggml.q8_0: use --requantize'),
  })
  const { status, stderr } = await again('--requantize')
  expect([status, stderr]).toEqual([0, expect.stringContaining('quantized 2 tensors to ggml.q4_0')])
  const { stdout } = await tare('inspect', '--json', at('q4.gguf'))
  const types = JSON.parse(stdout).tensors.map(({ dtype }: { dtype: string }) => dtype)
  expect(types).toEqual(['ggml.q4_0', 'f32', 'ggml.q4_0', 'f32'])
  // The values are those of the codes that were there, quantized: not far from the original.
  const { status: isClose } = await tare(
    'diff',
    sample,
    at('q4.gguf'),
    '--metric',
    'snr',
    '--tolerance',
    '15',
    '--tensors',
    '*',
  )
  expect(isClose).toBe(0)
})

test('the same type again is kept', async () => {
  await tare('quantize', sample, '-o', at('q8.gguf'), '--method', 'q8_0')
  const { status, stderr } = await tare(
    'quantize',
    at('q8.gguf'),
    '-o',
    at('b.gguf'),
    '--method',
    'q8_0',
    '--requantize',
  )
  expect([status, stderr]).toEqual([1, expect.stringContaining('2 tensors: already ggml.q8_0;')])
})

test('totals are always there, and a dry run says would', async () => {
  const run = (...flags: string[]) => tare('quantize', sample, '-o', at('q.gguf'), '--method', 'q8_0', ...flags)
  const sizes = 'weights 9.41 KiB → 2.62 KiB, 32.00 → 8.91 bits per weight'
  const dry = await run('--dry-run')
  expect(dry.stderr).toContain('  would quantize 2 tensors to ggml.q8_0\n  would keep 2 tensors: 1-D, not a matrix\n')
  expect(dry.stderr).toContain(`would be gguf, 3.13 KiB; ${sizes}`)
  const done = await run()
  expect(done.stderr).toContain('  quantized 2 tensors to ggml.q8_0\n  kept 2 tensors: 1-D, not a matrix\n')
  expect(done.stderr).toContain(sizes)
  const { summary, dryRun } = JSON.parse((await run('--json')).stdout)
  expect(dryRun).toBe(false)
  expect(summary).toEqual({
    quantized: 2,
    methods: [{ name: 'ggml.q8_0', count: 2, elements: 2368 }],
    kept: [{ name: '1-D, not a matrix', count: 2, elements: 42 }],
    before: { bytes: 9640, bitsPerWeight: 32 },
    after: { bytes: 2684, bitsPerWeight: (2684 * 8) / 2410 },
  })
})

test.each<[string, string[], string]>([
  [
    'convert',
    ['--only', 'layers*', '--only', '*wieght'],
    '--only *wieght takes nothing: no tensor has such a name; did you',
  ],
  [
    'convert',
    ['--exclude', 'layer.0.weight'],
    '--exclude layer.0.weight changes nothing: no tensor has such a name; did you',
  ],
  ['convert', ['--rename', 's/foo/bar/'], '--rename s/foo/bar/ changes nothing'],
  ['convert', ['--dequantize=lay*'], '--dequantize=lay* changes nothing: no quantized tensor has such a name'],
  ['convert', ['--unset', 'licence'], '--unset licence changes nothing: there is no such entry; did you mean license?'],
  ['quantize', ['--method', 'q8_0', '--tensor-method', 'layer.1.*=q4_0'], '--tensor-method layer.1.* changes nothing'],
])('%s %j: a pattern that matches nothing is noted', async (verb, flags, note) => {
  const { status, stderr } = await tare(verb, sample, '-o', at('out.gguf'), ...flags)
  expect([status, stderr]).toEqual([0, expect.stringContaining(`note: ${note}`)])
})

test.each(['inspect', 'stats', 'show'])('%s --tensors notes each pattern that matches nothing', async (verb) => {
  const { status, stderr } = await tare(verb, sample, '--tensors', '*bais', '--tensors', '*weight')
  expect([status, stderr]).toEqual([0, 'no tensor matches *bais; did you mean layers.0.bias or layers.1.bias?\n'])
})
