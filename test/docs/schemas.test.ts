// The schemas of docs/schema against what the command prints. They leave room for further members, since programs should; here none may be
// there that a schema does not name.
import { generateKeyPairSync } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeEach, describe, expect, test } from 'vitest'
import { verbs } from '../../src/cli/verbs/index.js'
import { runCli as tare } from '../cli/run-cli.js'
import { useTempDir } from '../node/temp-dir.js'
import { useEnvironment } from '../remote/s3/command.js'
import { useS3 } from '../remote/s3/server.js'
import { fixturesRoot } from '../support/fixtures.js'

const at = useTempDir()
const store = useS3()
useEnvironment(store, at)
const root = join(import.meta.dirname, '../..')
const folder = join(root, 'docs/schema')
const sample = join(root, 'examples/tiny-mlp.safetensors')
const fixture = (...names: string[]): string => join(fixturesRoot, ...names)
const encoder = fixture('embd', 'stream-tiny-bert-1layer.bin')

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true })
for (const name of readdirSync(folder)) {
  const schema = JSON.parse(readFileSync(join(folder, name), 'utf8'))
  if (schema.$id) ajv.addSchema(closed(schema) as object)
}

/** The same schema without room for members that it does not name. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  const isObject = members.type === 'object' && 'properties' in members && !('additionalProperties' in members)
  return isObject ? { ...members, additionalProperties: false } : members
}

function check(name: string, line: string): void {
  const validate = ajv.getSchema(`${name}.schema.json`)!
  expect(validate(JSON.parse(line)) || validate.errors).toBe(true)
}

test('every verb has a schema, and the page about JSON lists it', () => {
  const page = readFileSync(join(root, 'docs/json.md'), 'utf8')
  for (const { name } of verbs) {
    expect(ajv.getSchema(`${name}.schema.json`), name).toBeDefined()
    expect(page).toContain(`[${name}](schema/${name}.schema.json)`)
  }
})

const gemma = {
  ...{ model_type: 'gemma3_text', num_hidden_layers: 6, hidden_size: 64, num_attention_heads: 4, vocab_size: 100 },
  ...{ sliding_window: 512, max_position_embeddings: 4096, num_experts: 8, num_experts_per_tok: 2 },
}

beforeEach(async () => {
  await tare('quantize', sample, '-o', at('q8.gguf'), '--method', 'q8_0')
  await tare('hash', sample, '--json').then(({ stdout }) => writeFileSync(at('hashes.json'), stdout))
  writeFileSync(
    at('model.json'),
    '{"tensors": {"w": {"dtype": "f32", "data": [[1, 2], [3, 4]]}}, "metadata": {"a": 1}}',
  )
  store.put('tiny.safetensors', readFileSync(sample))
  await tare('hash', sample, '--manifest', 'sha256sum').then(({ stdout }) => writeFileSync(at('sums.txt'), stdout))
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  writeFileSync(at('key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  writeFileSync(at('key.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  await tare('sign', sample, '--key', at('key.pem'), '-o', at('signed.sig'))
  await tare('sign', sample, '--key', at('key.pem'), '-o', at('tensors.sig'), '--tensors')
  await tare('convert', sample, '-o', at('made.mcf'), '--receipt', at('made.json'))
  await tare('hash', encoder, '--json').then(({ stdout }) => writeFileSync(at('other.json'), stdout))
  mkdirSync(at('gemma'))
  cpSync(sample, at('gemma', 'model.safetensors'))
  writeFileSync(at('gemma', 'config.json'), JSON.stringify(gemma))
  for (const name of ['job', 'done'])
    await tare('plan', sample, at(`${name}.gguf`), '--set', 'a:u32=4', '--quantize', 'q8_0', '-o', at(`${name}.json`))
  await tare('work', at('done.json'))
  await tare('delta', sample, at('q8.gguf'), '-o', at('update.safetensors'))
  const cut = readFileSync(sample).subarray(0, -100)
  writeFileSync(at('cut.safetensors'), cut)
})

const calls: [verb: string, ...args: (string | (() => string))[]][] = [
  ['inspect', sample, '--stats'],
  ['inspect', sample, '--metadata'],
  ['inspect', encoder],
  ['inspect', () => at('q8.gguf')],
  ['inspect', sample, '--tree'],
  ['inspect', () => at('cut.safetensors')],
  ['inspect', fixture('onnx', 'raw.onnx')],
  ['inspect', fixture('mcf', 'inputs', 'hf-model')],
  ['inspect', () => at('gemma')],
  ['verify', sample],
  ['verify', () => at('cut.safetensors')],
  ['verify', encoder, '--profile', 'all-MiniLM-L6-v2'],
  ['verify', '-r', () => at('.')],
  ['verify', () => at('made.mcf'), '--receipt', () => at('made.json')],
  ['verify', () => at('made.mcf'), '--receipt', () => at('made.json'), '--source', sample],
  ['verify', sample, '--key', () => at('key.pub'), '--signature', () => at('tensors.sig')],
  ['sign', sample, '--key', () => at('key.pem'), '-o', () => at('sample.sig'), '--tensors'],
  ['sign', sample, '--key', () => at('key.pem'), '-o', () => at('sample.sig')],
  ['verify', sample, '--key', () => at('key.pub'), '--signature', () => at('signed.sig')],
  ['delta', sample, () => at('q8.gguf'), '-o', () => at('delta.safetensors')],
  ['apply', sample, () => at('update.safetensors'), '-o', () => at('applied.gguf')],
  ['hash', sample],
  ['hash', sample, '--decoded', '--algorithm', 'sha256'],
  ['hash', () => at('q8.gguf'), '--check', () => at('hashes.json')],
  ['hash', sample, '--check', () => at('sums.txt')],
  ['hash', sample, '--check', () => at('sums.txt'), '--changed'],
  ['hash', sample, '--check', () => at('other.json')],
  ['map', sample],
  ['map', sample, '--depth', '1'],
  ['map', () => at('q8.gguf')],
  ['stats', sample],
  ['stats', () => at('q8.gguf'), '--bins', '4', '--exact'],
  ['picture', sample, '-o', () => at('x.png')],
  ['picture', sample, 'layers.0.weight', '-o', () => at('x.svg')],
  ['picture', sample, 'layers.0.weight', '--kind', 'methods', '-o', () => at('m.svg')],
  ['picture', sample, 'layers.0.weight', '--kind', 'histogram', '--slice', '0:4,:', '-o', () => at('h.png')],
  ['show', sample],
  ['extract', sample, 'layers.0.weight', '-o', () => at('w.npy')],
  ['extract', encoder, '--part', 'vocabulary', '-o', () => at('vocab.txt')],
  ['convert', sample, '-o', () => at('x.mcf'), '--set', 'a:u32=4', '--receipt', () => at('receipt.json')],
  ['convert', sample, '-o', () => at('x.gguf'), '--dry-run', '--cast', 'f16'],
  ['convert', sample, '-o', () => at('x.npz'), '--rename', 's/layers/l/', '--exclude', '*.bias', '--unset', 'model'],
  ['convert', sample, '-o', () => at('x.aeroset.json'), '--shard-size', '4KB'],
  ['convert', sample, '--merge', () => at('q8.gguf'), '-o', () => at('x.oinf'), '--prefer', 'first'],
  ['diff', sample, () => at('q8.gguf')],
  ['diff', sample, encoder],
  ['diff', sample, sample, '--metric', 'rmse', '--tolerance', '0.1'],
  ['diff', sample, () => at('q8.gguf'), '--names-only'],
  ['pack', () => at('model.json'), '-o', () => at('x.oinf')],
  ['quantize', sample, '-o', () => at('x.gguf'), '--method', 'q8_0', '--report'],
  ['quantize', sample, '-o', () => at('x.gguf'), '--method', 'q8_0', '--dry-run'],
  ['quantize', () => at('q8.gguf'), '-o', () => at('x.gguf'), '--method', 'q4_0', '--requantize'],
  ['quantize', sample, '-o', () => at('x.mcf'), '--target-bits', '6'],
  ['edit', () => at('q8.gguf'), '--unset', 'model', '--dry-run'],
  ['edit', () => at('q8.gguf'), '--set', 'a=b', '-o', () => at('edited.gguf')],
  ['edit', () => at('q8.gguf'), '--set', 'a:u32=4', '--rename-tensor', 'layers.0.bias=b'],
  ['repair', () => at('cut.safetensors'), '-o', () => at('saved.safetensors')],
  ['convert', sample, '-o', 's3://models/x.gguf', '--as-is'],
  ['convert', sample, '-o', 's3://models/x.gguf', '--as-is', '--dry-run'],
  ['edit', 's3://models/tiny.safetensors', '--set', 'a=b'],
  ['fetch', 's3://models/', '-o', () => at('home')],
  ['fetch', 's3://models/', '--dry-run'],
  ['plan', sample, () => at('p.gguf'), '-o', () => at('p.json'), '--cast', 'f16'],
  ['work', () => at('job.json'), '--part', '1/2'],
  ['status', () => at('job.json')],
  ['finish', () => at('done.json')],
  ['finish', () => at('job.json'), '--discard'],
  ['tokenize', encoder, 'the fox'],
  ['tokenize', encoder, 'the fox', 'a fox', '--profile', 'reference', '--max-length', '4'],
  ['tokenize', encoder, '--decode', '2 5 3'],
  ['embed', encoder, 'the fox', '--heads', '2', '--no-normalize'],
  ['embed', encoder, 'the fox', 'a fox', '--heads', '2', '--similarity'],
]

describe.each(calls)('%s %s %s %s %s', (verb, ...args) => {
  test('prints what its schema says', async () => {
    const { stdout } = await tare(verb, ...args.map((arg) => (typeof arg === 'string' ? arg : arg())), '--json')
    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).not.toContain('"error":{')
    for (const line of lines) check(verb, line)
  })
})

describe('formats with members of their own', () => {
  const files = ['gguf/bits-k.gguf', 'mcf/quant-k4.mcf', 'mcf/quant-src.mcf', 'oinf', 'npy'].flatMap((name) =>
    name.includes('.')
      ? [fixture(name)]
      : readdirSync(fixture(name))
          .filter((file) => file.endsWith(`.${name}`))
          .slice(0, 12)
          .map((file) => fixture(name, file)),
  )
  test.each(files)('%s', async (file) => {
    for (const verb of ['inspect', 'verify', 'hash', 'map', 'stats']) {
      const { stdout } = await tare(verb, file, '--json')
      for (const line of stdout.trimEnd().split('\n')) check('error' in JSON.parse(line) ? 'error' : verb, line)
    }
  })
})

test.each([
  ['inspect', 'none'],
  ['convert', sample, '-o', sample],
  ['quantize', sample, '-o', 'x.gguf', '--method', 'q4_k'],
  ['diff', sample, 'none'],
])('%s: an error is of error.schema.json', async (...args) => {
  const { stdout } = await tare(...args, '--json')
  check('error', stdout.trimEnd())
})

test('a job file is of job.schema.json', async () => {
  check('job', readFileSync(at('job.json'), 'utf8'))
  await tare('plan', sample, 's3://models/x.mcf', '--quantize', 'k4', '--clip=-1,1', '-o', at('x.json'))
  check('job', readFileSync(at('x.json'), 'utf8'))
})

test('a schema refuses what is not so', () => {
  const validate = ajv.getSchema('verify.schema.json')!
  expect(
    validate({ file: 'x', format: 'gguf', verdict: 'fine', findings: [], checked: { bytes: 0, tensors: 0 } }),
  ).toBe(false)
  expect(validate({ file: 'x', format: 'gguf', verdict: 'ok', findings: [] })).toBe(false)
})
