// Directories as hubs publish models, through the command: in, through containers, and home again.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { useTempDir } from '../node/temp-dir.js'
import { fixturesRoot } from '../support/fixtures.js'
import { runCli as tare } from './run-cli.js'

const at = useTempDir()
const files = [
  'chat_template.jinja',
  'config.json',
  'generation_config.json',
  'merges.txt',
  'tokenizer.json',
  'tokenizer_config.json',
  'vocab.json',
]

function published(name = 'hf-model'): string {
  cpSync(join(fixturesRoot, 'mcf', 'inputs', 'hf-model'), at(name), { recursive: true })
  return at(name)
}

const bytesOf = (...path: string[]): Buffer => readFileSync(join(...path))

async function inspect(
  input: string,
): Promise<{ format: string; parts: Record<string, unknown>[]; tensors: unknown[] }> {
  return JSON.parse((await tare('inspect', '--json', input)).stdout)
}

const filesOf = async (input: string): Promise<unknown[]> =>
  (await inspect(input)).parts.filter(({ kind }) => kind === 'file').map(({ name }) => name)

const modelInfo = async (input: string): Promise<unknown> =>
  (await inspect(input)).parts.find(({ kind }) => kind === 'mcf.model-info')?.value

async function expectFiles(input: string, original: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    expect((await tare('extract', input, '--part', name, '-o', at('part'))).status).toBe(0)
    expect(bytesOf(at('part')).equals(bytesOf(original, name)), name).toBe(true)
  }
}

describe('a directory as input', () => {
  test('lists and gives out the files that belong to the model', async () => {
    const input = published()
    expect(await filesOf(input)).toEqual(files)
    expect((await tare('inspect', input)).stdout).toMatch(
      /size +4\.81 KiB .* in 8 files[\s\S]*file config\.json +288 B/,
    )
    await expectFiles(input, input, files)
  })

  test('of PyTorch shards, and with safetensors beside them, which are taken', async () => {
    cpSync(join(fixturesRoot, 'torch', 'sharded'), at('both'), { recursive: true })
    writeFileSync(at('both', 'config.json'), '{}')
    for (const name of ['optimizer.pt', 'rng_state_0.pth']) writeFileSync(at('both', name), 'x')
    expect(await inspect(at('both'))).toMatchObject({ format: 'torch', parts: [{ name: 'config.json' }] })
    expect((await tare('verify', at('both'))).stdout).toContain(': ok')
    cpSync(join(fixturesRoot, 'safetensors', 'sharded'), at('both'), { recursive: true })
    const { status, stdout, stderr } = await tare('inspect', '--json', at('both'))
    expect([status, JSON.parse(stdout).format]).toEqual([0, 'safetensors'])
    expect((await tare('inspect', at('both'))).stderr).toMatch(
      /warning open\/several-forms .*; opening model\.safetensors\.index\.json/,
    )
    expect(stderr).toBe('')
  })
})

describe('packing into MCF', () => {
  test('takes all files byte for byte, and fills ModelInfo as the reference does', async () => {
    const input = published()
    expect((await tare('convert', input, '-o', at('m.mcf'))).status).toBe(0)
    expect((await filesOf(at('m.mcf'))).sort()).toEqual(files)
    await expectFiles(at('m.mcf'), input, files)
    expect(await modelInfo(at('m.mcf'))).toEqual(await modelInfo(join(fixturesRoot, 'mcf', 'pack-hf.mcf')))
    expect((await tare('verify', '--strict', at('m.mcf'))).status).toBe(0)
  })

  test('takes along what lies beside the main file, and says so', async () => {
    const input = published()
    const { stderr } = await tare('convert', join(input, 'model.safetensors'), '-o', at('m.mcf'))
    expect(stderr).toContain('add 7 parts: found beside the input')
    await expectFiles(at('m.mcf'), input, files)
    await tare('convert', join(input, 'model.safetensors'), '-o', at('bare.mcf'), '--no-files')
    expect(await filesOf(at('bare.mcf'))).toEqual([])
  })

  test('takes nothing along for a file with a name of its own', async () => {
    const input = published()
    cpSync(join(input, 'model.safetensors'), join(input, 'mine.safetensors'))
    await tare('convert', join(input, 'mine.safetensors'), '-o', at('m.mcf'))
    expect(await filesOf(at('m.mcf'))).toEqual([])
  })

  test('works for sharded sets, and for quantizing', async () => {
    cpSync(join(fixturesRoot, 'safetensors', 'sharded'), at('set'), { recursive: true })
    writeFileSync(at('set', 'config.json'), '{"model_type":"qwen2","hidden_size":64}')
    for (const input of [at('set'), at('set', 'model.safetensors.index.json')]) {
      expect((await tare('convert', input, '-o', at('m.mcf'), '--allow-loss')).status).toBe(0)
      expect(await modelInfo(at('m.mcf'))).toMatchObject({ arch: 'qwen', hiddenSize: 64, modelName: 'set' })
    }
    await tare('quantize', published(), '-o', at('q.mcf'), '--method', 'q8')
    await expectFiles(at('q.mcf'), at('hf-model'), files)
  })
})

describe('a directory as output', () => {
  test('is the way home: weights under their usual name, and the files', async () => {
    const input = published()
    await tare('convert', input, '-o', at('m.mcf'))
    const { status } = await tare('convert', at('m.mcf'), '-o', `${at('home', 'hf-model')}/`)
    expect(status).toBe(0)
    expect(readdirSync(at('home', 'hf-model')).sort()).toEqual([...files, 'model.safetensors'].sort())
    for (const name of files) expect(bytesOf(at('home', 'hf-model', name)).equals(bytesOf(input, name))).toBe(true)
    const digests = async (path: string) => JSON.parse((await tare('hash', '--json', path)).stdout).fingerprint
    expect(await digests(at('home', 'hf-model'))).toBe(await digests(input))
    await tare('convert', at('home', 'hf-model'), '-o', at('again.mcf'))
    expect(bytesOf(at('again.mcf')).equals(bytesOf(at('m.mcf')))).toBe(true)
  })

  test('holds shards too', async () => {
    await tare('convert', published(), '-o', `${at('out')}/`, '--shard-size', '1K')
    const names = readdirSync(at('out'))
    expect(names).toEqual(expect.arrayContaining(['config.json', 'model.safetensors.index.json']))
    expect(names.filter((name) => /^model-\d+-of-\d+\.safetensors$/.test(name)).length).toBeGreaterThan(1)
    expect(await filesOf(at('out'))).toEqual(files)
  })

  test('is not made when nothing comes of it', async () => {
    published()
    writeFileSync(at('hf-model', 'model.safetensors'), 'x')
    expect((await tare('convert', at('hf-model'), '-o', `${at('new', 'out')}/`)).status).toBe(1)
    expect(readdirSync(at())).toEqual(['hf-model'])
  })

  test('is made for other formats and for several inputs, too', async () => {
    const inputs = [published('one'), published('two')]
    expect((await tare('convert', inputs[0]!, '-o', `${at('a')}/`, '--to', 'mcf')).status).toBe(0)
    expect(readdirSync(at('a'))).toEqual(['one.mcf'])
    expect((await tare('convert', ...inputs, '-o', `${at('b', 'c')}/`, '--to', 'mcf')).status).toBe(0)
    expect(readdirSync(at('b', 'c')).sort()).toEqual(['one.mcf', 'two.mcf'])
  })

  test('several inputs keep their own names, and no files mix', async () => {
    const inputs = [published('one'), published('two')]
    mkdirSync(at('out'))
    const { status } = await tare('convert', ...inputs, '-o', at('out'), '--to', 'safetensors', '--no-files')
    expect(status).toBe(0)
    expect(readdirSync(at('out')).sort()).toEqual(['one.safetensors', 'two.safetensors'])
    expect((await tare('convert', ...inputs, '-o', at('out'))).status).toBe(2)
  })
})

describe('a vocabulary in a text file', () => {
  const vocabulary = '[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nword\n##s\n'

  test('becomes the vocabulary of a container that has one, and a file again', async () => {
    const input = published()
    writeFileSync(join(input, 'vocab.txt'), vocabulary)
    expect((await tare('convert', input, '-o', at('m.weights'))).status).toBe(0)
    const { parts } = await inspect(at('m.weights'))
    expect(parts).toContainEqual(
      expect.objectContaining({ kind: 'vocabulary', value: expect.objectContaining({ tokens: 7 }) }),
    )
    await tare('convert', at('m.weights'), '-o', `${at('out')}/`)
    expect(bytesOf(at('out', 'vocab.txt')).toString()).toBe(vocabulary)
  })

  test('is found by tokenize in a directory and in a container', async () => {
    const input = published()
    // A tokenizer of its own would come first.
    for (const name of ['tokenizer.json', 'vocab.json', 'merges.txt']) rmSync(join(input, name))
    writeFileSync(join(input, 'vocab.txt'), vocabulary)
    await tare('convert', input, '-o', at('m.mcf'))
    mkdirSync(at('elsewhere'))
    cpSync(at('m.mcf'), at('elsewhere', 'm.mcf'))
    for (const model of [input, at('elsewhere', 'm.mcf')]) {
      const { stdout } = await tare('tokenize', '--json', model, 'words')
      expect(JSON.parse(stdout).tokens).toEqual(['[CLS]', 'word', '##s', '[SEP]'])
    }
  })
})

describe('parts that are left out by name', () => {
  const graph = join(fixturesRoot, 'onnx', 'metadata.onnx')

  test('are no loss: the refusal names the flag', async () => {
    const refused = await tare('convert', graph, '-o', at('w.safetensors'))
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringContaining('to proceed, add --without onnx.graph'),
    ])
    const { status, stderr } = await tare('convert', graph, '-o', at('w.safetensors'), '--without', 'onnx.graph')
    expect([status, stderr]).toEqual([0, expect.stringContaining('drop part onnx.graph')])
    expect((await inspect(at('w.safetensors'))).tensors).toEqual(
      (await inspect(graph)).tensors.map(() => expect.objectContaining({ name: expect.any(String) })),
    )
  })

  test('must be there', async () => {
    const { status, stderr } = await tare('convert', graph, '-o', at('w.safetensors'), '--without', 'nothing')
    expect([status, stderr]).toEqual([2, expect.stringContaining('the model has onnx.graph')])
  })

  test('can be single files', async () => {
    await tare('convert', published(), '-o', at('m.mcf'), '--without', 'vocab.json')
    expect(await filesOf(at('m.mcf'))).not.toContain('vocab.json')
  })
})

test('an index whose shards lie in a folder below is a whole model; one outside is refused', async () => {
  const set = join(fixturesRoot, 'safetensors', 'sharded')
  const index = readFileSync(join(set, 'model.safetensors.index.json'), 'utf8')
  mkdirSync(at('nested', 'weights'), { recursive: true })
  for (const name of readdirSync(set))
    if (name.endsWith('.safetensors')) cpSync(join(set, name), at('nested', 'weights', name))
  writeFileSync(at('nested', 'model.safetensors.index.json'), index.replaceAll('"model-', '"weights/model-'))
  expect((await tare('verify', at('nested'))).status).toBe(0)
  expect((await tare('diff', at('nested'), join(set, 'model.safetensors.index.json'))).status).toBe(0)
  expect((await tare('convert', at('nested'), '-o', at('flat.safetensors'))).status).toBe(0)
  expect((await tare('map', join(at('nested'), 'model.safetensors.index.json'))).status).toBe(0)
  mkdirSync(at('nested', 'below'))
  writeFileSync(
    at('nested', 'below', 'model.safetensors.index.json'),
    index.replaceAll('"model-', '"../weights/model-'),
  )
  const { status, stderr } = await tare('inspect', at('nested', 'below'))
  expect([status, stderr]).toEqual([1, expect.stringContaining('safetensors/shard-path')])
})
