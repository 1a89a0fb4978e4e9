// Selecting, renaming, joining and recoding in one conversion, through the command.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { useTempDir } from '../../../node/temp-dir.js'
import { fixturePath } from '../../../support/fixtures.js'
import { runCli as tare } from '../../run-cli.js'

const at = useTempDir()
const sample = join(import.meta.dirname, '../../../../examples/tiny-mlp.safetensors')
const json = async (...args: string[]) => JSON.parse((await tare(...args, '--json')).stdout)
const convert = (...args: string[]) => tare('convert', ...args)
const tensorsOf = async (file: string): Promise<[string, string][]> =>
  (await json('inspect', file)).tensors.map(({ name, dtype, encoding }: Record<string, string>) => [
    name,
    encoding ?? dtype,
  ])
const isEqual = async (a: string, b: string, ...flags: string[]) => (await tare('diff', a, b, ...flags)).status === 0

describe('--rename-map', () => {
  it('takes names from JSON and YAML, beside --rename and --only', async () => {
    writeFileSync(at('map.json'), '{"layers.0.weight": "first", "layers.1.weight": "second"}')
    const flags = ['--rename-map', at('map.json'), '--rename', 's/layers/blocks/']
    expect((await convert(sample, '-o', at('a.safetensors'), ...flags)).status).toBe(0)
    expect((await tensorsOf(at('a.safetensors'))).map(([name]) => name)).toEqual([
      'blocks.0.bias',
      'blocks.1.bias',
      'first',
      'second',
    ])
    await convert(sample, '-o', at('b.safetensors'), ...flags, '--only', '*.0.*')
    expect((await tensorsOf(at('b.safetensors'))).map(([name]) => name)).toEqual(['blocks.0.bias', 'first'])
    writeFileSync(at('back.yaml'), 'first: layers.0.weight\nsecond: layers.1.weight\n')
    const back = ['--rename-map', at('back.yaml'), '--rename', 's/blocks/layers/']
    await convert(at('a.safetensors'), '-o', at('c.safetensors'), ...back)
    expect(await isEqual(sample, at('c.safetensors'))).toBe(true)
  })

  it.each([
    ['{"nothing": "x"}', 2, 'nothing: there is no tensor of this name'],
    ['{"layers.0.weight": "layers.0.bias"}', 1, 'write/duplicate-name'],
    ['{"layers.0.weight": 3}', 2, 'usage/option'],
    ['{', 2, 'json/syntax'],
    [undefined, 2, 'io/not-found'],
  ])('refuses %s', async (map, status, words) => {
    if (map !== undefined) writeFileSync(at('map.json'), map)
    const ran = await convert(sample, '-o', at('a.gguf'), '--rename-map', at('map.json'))
    expect([ran.status, ran.stderr]).toEqual([status, expect.stringContaining(words)])
    expect(existsSync(at('a.gguf'))).toBe(false)
  })
})

describe('--dequantize and --quantize', () => {
  it('store values instead of codes', async () => {
    const input = fixturePath('mcf', 'quant-q8.mcf')
    const { actions, loss, unrequestedLoss } = await json(
      'convert',
      input,
      '-o',
      at('q.safetensors'),
      '--dequantize',
      '--dry-run',
    )
    expect(actions[0]).toMatchObject({ action: 'dequantize', from: 'mcf.q8', to: 'f32', loss: 'form' })
    expect([loss, unrequestedLoss]).toEqual(['form', 'none'])
    // The word behind the option is the input, not its value.
    expect((await convert('--dequantize', input, '-o', at('q.safetensors'))).status).toBe(0)
    expect(await isEqual(input, at('q.safetensors'), '--tolerance', '0', '--tensors', '*')).toBe(true)
    await convert(input, '-o', at('h.mcf'), '--dequantize=a.*', '--dequantize=b.*', '--cast', 'bf16')
    const types = new Map(await tensorsOf(at('h.mcf')))
    expect(['a.mult256', 'b.mult32', 'c.odd77', 'x.vec'].map((name) => types.get(name))).toEqual([
      'bf16',
      'bf16',
      'mcf.q8',
      'bf16',
    ])
  })

  it('quantize as the verb of that name does', async () => {
    const choices = ['--tensor-method', '*.1.*=q8', '--clip', '-0.3,0.3']
    expect((await convert(sample, '-o', at('a.mcf'), '--quantize', 'k6', ...choices)).status).toBe(0)
    await tare('quantize', sample, '-o', at('b.mcf'), '--method', 'k6', ...choices)
    expect(readFileSync(at('a.mcf')).equals(readFileSync(at('b.mcf')))).toBe(true)
    const { actions, size } = await json(
      'convert',
      sample,
      '-o',
      at('a.mcf'),
      '--quantize',
      'k6',
      ...choices,
      '--dry-run',
    )
    expect(size).toBe(readFileSync(at('a.mcf')).byteLength)
    expect(actions.slice(0, 3).map(({ action, to }: Record<string, string>) => [action, to])).toEqual([
      ['quantize', 'mcf.k6'],
      ['copy', undefined],
      ['quantize', 'mcf.q8'],
    ])
  })

  it("quantize to ggml's types, the same from rows and from columns", async () => {
    await convert(sample, '-o', at('columns.model'), '--allow-loss')
    for (const [input, output] of [
      [sample, at('a.gguf')],
      [at('columns.model'), at('b.gguf')],
    ] as const) {
      const ran = await convert(input, '-o', output, '--quantize', 'Q8_0', '--tensor-method', '*.1.*=q4_0')
      expect([ran.status, ran.stderr]).toEqual([0, expect.stringContaining('quantize')])
      expect(new Map(await tensorsOf(output))).toEqual(
        new Map([
          ['layers.0.weight', 'ggml.q8_0'],
          ['layers.0.bias', 'f32'],
          ['layers.1.weight', 'ggml.q4_0'],
          ['layers.1.bias', 'f32'],
        ]),
      )
    }
    expect(await isEqual(at('a.gguf'), at('b.gguf'), '--tensors', '*')).toBe(true)
    await convert(at('columns.model'), '-o', at('c.gguf'), '--cast', 'q8_0')
    expect(await isEqual(at('a.gguf'), at('c.gguf'), '--tensors', 'layers.0.weight')).toBe(true)
  })

  it.each([
    [['--quantize', 'k5'], 2, 'there is no method'],
    [['--clip', '0,1'], 2, '--clip needs --quantize METHOD'],
    [['--tensor-method', '*=q8'], 2, '--tensor-method needs --quantize METHOD'],
    [['--quantize', 'k4', '--to', 'safetensors'], 1, 'use another format (write/dtype-unsupported)'],
    [['--quantize', 'q8', '--to', 'gguf'], 1, 'use the method q8_0 (write/dtype-unsupported)'],
    [['--quantize', 'k4', '--to', 'aero'], 1, 'use the method q4_k (write/dtype-unsupported)'],
    [['--quantize', 'q8_0', '--clip', '0,1', '--to', 'gguf'], 2, "for MCF's methods, not ggml.q8_0"],
  ])('%s is refused', async (flags, status, words) => {
    const ran = await convert(sample, '-o', at('x.mcf'), ...flags)
    expect([ran.status, ran.stderr]).toEqual([status, expect.stringContaining(words)])
  })
})

it('quantize says where its output is, in words and in JSON', async () => {
  mkdirSync(at('below'))
  const output = at('below', 'q.mcf')
  expect((await tare('quantize', sample, '-o', output)).stderr).toContain(`${output}: mcf, `)
  expect((await json('quantize', sample, '-o', output)).files).toEqual([{ name: output, size: statSync(output).size }])
})

it('a vocabulary that is set is named without a value', async () => {
  writeFileSync(at('vocab.txt'), '[UNK]\nword\n')
  const { status, stderr } = await convert(sample, '-o', at('v.weights'), '--vocab', at('vocab.txt'), '--allow-loss')
  expect([status, stderr]).toEqual([0, expect.stringMatching(/^ {2}set part vocabulary$/m)])
})

describe('--merge', () => {
  beforeEach(async () => {
    await convert(sample, '-o', at('a.safetensors'), '--only', '*.0.*')
    await convert(sample, '-o', at('b.gguf'), '--only', '*.1.*')
    await convert(sample, '-o', at('half.oinf'), '--cast', 'f16', '--set', 'license=none')
  })

  it('joins models of any formats into one', async () => {
    const { status, stderr } = await convert(at('a.safetensors'), '--merge', at('b.gguf'), '-o', at('m.safetensors'))
    expect([status, stderr]).toEqual([0, expect.stringContaining('b.gguf: 2 tensors')])
    expect(await isEqual(sample, at('m.safetensors'))).toBe(true)
    const again = await convert(at('a.safetensors'), '--merge', at('b.gguf'), '--merge', sample, '-o', at('n.oinf'))
    expect([again.status, await isEqual(sample, at('n.oinf'))]).toEqual([0, true])
  })

  it('refuses what differs by name, or takes the one that is preferred', async () => {
    const refused = await json('convert', at('a.safetensors'), '--merge', at('half.oinf'), '-o', at('m.oinf'))
    expect(refused.error).toMatchObject({ code: 'merge/tensor-clash', path: 'layers.0.bias' })
    expect(existsSync(at('m.oinf'))).toBe(false)
    const flags = ['--merge', at('half.oinf'), '-o', at('m.oinf')]
    expect((await convert(at('a.safetensors'), ...flags, '--prefer', 'last')).status).toBe(0)
    expect(await isEqual(at('half.oinf'), at('m.oinf'))).toBe(true)
    await convert(at('a.safetensors'), ...flags, '--prefer', 'first')
    expect(new Set((await tensorsOf(at('m.oinf'))).map(([, dtype]) => dtype))).toEqual(new Set(['f32', 'f16']))
    const others = await json('convert', at('a.safetensors'), ...flags, '--exclude', '*.0.*')
    expect(others.error).toMatchObject({ code: 'merge/metadata-clash', path: 'license' })
    const settled = await convert(at('a.safetensors'), ...flags, '--exclude', '*.0.*', '--set', 'license=MIT')
    expect(settled.status).toBe(0)
  })

  it('leaves all inputs alone, and goes with a receipt', async () => {
    const flags = ['--merge', at('b.gguf'), '--receipt', at('r.json')]
    const over = await convert(at('a.safetensors'), ...flags, '-o', at('b.gguf'))
    expect([over.status, over.stderr]).toEqual([2, expect.stringContaining('this is the input itself')])
    expect((await convert(at('a.safetensors'), ...flags, '-o', at('m.mcf'))).status).toBe(0)
    expect((await tare('verify', '--receipt', at('r.json'), at('m.mcf'))).status).toBe(0)
    const { source } = JSON.parse(readFileSync(at('r.json'), 'utf8'))
    expect(source.files.map(({ name }: { name: string }) => name)).toEqual(['a.safetensors', 'b.gguf'])
    const against = (...inputs: string[]) =>
      tare('verify', '--receipt', at('r.json'), ...inputs.flatMap((input) => ['--source', input]), at('m.mcf'))
    expect((await against(at('a.safetensors'), at('b.gguf'))).status).toBe(0)
    expect((await against(at('a.safetensors'))).stdout).toContain('receipt/missing')
  })

  it('has a receipt that is checked against the inputs, the one that counted first', async () => {
    await convert(sample, '-o', at('half.safetensors'), '--cast', 'f16')
    const flags = ['--merge', at('half.safetensors'), '--prefer', 'last', '--receipt', at('r.json')]
    expect((await convert(sample, ...flags, '-o', at('m.mcf'))).status).toBe(0)
    const statusOf = async (...inputs: string[]) =>
      (await tare('verify', '--receipt', at('r.json'), '--source', inputs[0]!, '--source', inputs[1]!, at('m.mcf')))
        .status
    expect(await statusOf(at('half.safetensors'), sample)).toBe(0)
    expect(await statusOf(sample, at('half.safetensors'))).toBe(1)
  })

  it.each([
    [['--prefer', 'first'], '--prefer needs --merge'],
    [['x', '--merge', 'y'], 'with --merge, give one input'],
    [['--merge', '-', '--merge', '-'], 'standard input can be read only once'],
  ])('%s is refused', async (flags, words) => {
    const ran = await convert(sample, ...flags, '-o', `${at()}/`)
    expect([ran.status, ran.stderr]).toEqual([2, expect.stringContaining(words)])
  })

  it('says which input does not open', async () => {
    const ran = await convert(sample, '--merge', at('no.gguf'), '-o', at('m.mcf'))
    expect([ran.status, ran.stderr]).toEqual([2, expect.stringContaining('no.gguf')])
  })
})

describe('--dedup', () => {
  it('stores equal tensors once, or says that the format cannot', async () => {
    writeFileSync(at('twins.json'), '{"layers.0.weight": "twin"}')
    await convert(sample, '-o', at('twin.safetensors'), '--rename-map', at('twins.json'), '--only', '*.0.weight')
    const flags = [sample, '--merge', at('twin.safetensors'), '--dedup']
    const plain = await json('convert', sample, '--merge', at('twin.safetensors'), '-o', at('a.mcf'), '--dry-run')
    const once = await json('convert', ...flags, '-o', at('a.mcf'))
    expect(plain.size - once.size).toBe(64 * 32 * 4)
    const { stdout } = await convert(...flags, '-o', at('a.gguf'), '--dry-run')
    expect(stdout).toContain('note: --dedup changes nothing')
    expect((await tare('verify', at('a.mcf'))).status).toBe(0)
  })
})

describe('--set', () => {
  it('keeps the type of an entry, as edit does', async () => {
    const input = fixturePath('gguf', 'align-64.gguf')
    const key = 'general.alignment'
    await convert(input, '-o', at('a.gguf'), '--set', `${key}=128`)
    expect((await json('inspect', at('a.gguf'))).metadata[key]).toEqual({ type: 'u32', value: 128 })
    const wrong = await convert(input, '-o', at('b.gguf'), '--set', `${key}=a lot`)
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('usage/option')])
  })
})

it('a plan tells how much memory it takes', async () => {
  const args = ['convert', sample, '-o', at('a.gguf'), '--dry-run'] as const
  const { peakMemory } = await json(...args)
  expect(Number.isSafeInteger(peakMemory)).toBe(true)
  expect((await tare(...args)).stdout).toMatch(/peak memory about [0-9.]+ MiB/)
})
