// The verbs through the command line, across formats.
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { formats } from '../../src/kit.js'
import { useTempDir } from '../node/temp-dir.js'
import { useServer } from '../remote/server.js'
import { fixturePath } from '../support/fixtures.js'
import { runCli as tare } from './run-cli.js'

const at = useTempDir()
const sample = join(import.meta.dirname, '..', '..', 'examples', 'tiny-mlp.safetensors')
const json = async (...args: string[]) => JSON.parse((await tare(...args, '--json')).stdout)

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

beforeEach(() => copyFileSync(sample, at('model.safetensors')))

describe('convert', () => {
  const many = formats.filter(({ capabilities: { write } }) => write && write.maxTensors === undefined)

  test.each(many.map((format) => [format.id, format.extensions[0]!]))(
    'to %s and back keeps the fingerprint',
    async (id, extension) => {
      const there = at(`there${extension}`)
      const back = at('back.safetensors')
      expect((await tare('convert', at('model.safetensors'), '-o', there, '--to', id, '--allow-loss')).status).toBe(0)
      expect((await tare('verify', '-q', there)).status).toBe(0)
      const target = existsSync(there) ? there : at('there.model')
      expect((await tare('convert', target, '-o', back, '--allow-loss')).status).toBe(0)
      const [before, after] = [await json('hash', at('model.safetensors')), await json('hash', back)]
      expect(after.fingerprint).toBe(before.fingerprint)
    },
  )

  test('refuses to lose metadata in silence, and says so', async () => {
    const { status, stderr } = await tare(
      'convert',
      at('model.safetensors'),
      '-o',
      at('m.primitiv'),
      '--to',
      'primitiv',
    )
    expect([status, existsSync(at('m.primitiv'))]).toEqual([1, false])
    expect(stderr).toContain('--allow-loss')
  })

  test('turns linear weights of stream files, unless told not to', async () => {
    const stream = fixturePath('embd', 'stream-tiny-bert-1layer.bin')
    const shapes = async (...flags: string[]) => {
      await tare('convert', stream, '-o', at('t.safetensors'), '--allow-loss', ...flags)
      const { tensors } = await json('inspect', at('t.safetensors'))
      return tensors.find((tensor: { name: string }) => tensor.name.endsWith('intermediate.dense.weight')).shape
    }
    const turned = await shapes()
    expect(await shapes('--keep-orientation')).toEqual(turned.toReversed())
  })

  test('reverses dimensions over the same bytes when asked', async () => {
    await tare(
      'convert',
      at('model.safetensors'),
      '-o',
      at('m.model'),
      '--to',
      'primitiv',
      '--allow-loss',
      '--keep-bytes',
    )
    const { tensors } = await json('inspect', at('m.model'))
    expect(tensors.find((tensor: { name: string }) => tensor.name === 'layers.0.weight')).toMatchObject({
      shape: [64, 32],
    })
  })
})

describe('parts', () => {
  test('a stowed vocabulary is used and extracted like one that has a place', async () => {
    const weights = fixturePath('embd', 'sect-tiny-bert-1layer.weights')
    expect((await tare('convert', weights, '-o', at('s.safetensors'))).status).toBe(0)
    const tokens = async (file: string) => JSON.parse((await tare('tokenize', file, 'hello', '--json')).stdout).ids
    expect(await tokens(at('s.safetensors'))).toEqual(await tokens(weights))
    expect((await tare('extract', at('s.safetensors'), '--part', 'vocabulary', '-o', at('v.txt'))).status).toBe(0)
  })

  const model = (): string => fixturePath('embd', 'sect-tiny-bert-1layer.weights')

  test('a vocabulary comes out as text and goes into another file', async () => {
    expect((await tare('extract', model(), '--part', 'vocabulary', '-o', at('vocab.txt'))).status).toBe(0)
    const text = readFileSync(at('vocab.txt'), 'utf8')
    expect(text).toContain('[CLS]\n')
    const there = at('with.weights')
    const { status } = await tare(
      'convert',
      at('model.safetensors'),
      '-o',
      there,
      '--vocab',
      at('vocab.txt'),
      '--allow-loss',
    )
    expect(status).toBe(0)
    await tare('extract', there, '--part', 'vocabulary', '-o', at('again.txt'))
    expect(readFileSync(at('again.txt'), 'utf8')).toBe(text)
  })

  test('a name that is not there is refused with those that are', async () => {
    const { status, stderr } = await tare('extract', model(), '--part', 'tokens', '-o', at('x'))
    expect([status, stderr]).toEqual([2, expect.stringContaining('vocabulary')])
    expect((await tare('extract', model(), '-o', at('x'))).status).toBe(2)
  })
})

test('verify --profile lists what a known model lacks', async () => {
  const result = await json('verify', '--profile', 'all-MiniLM-L6-v2', at('model.safetensors'))
  const missing = result.findings.filter((finding: { code: string }) => finding.code === 'profile/tensor-missing')
  expect([result.verdict, missing.length]).toEqual(['errors', 101])
  expect((await tare('verify', '--profile', 'nothing', at('model.safetensors'))).status).toBe(2)
})

test.each([
  ['mcf', 'mcf.k4'],
  ['gguf', 'ggml.q4_k'],
  ['aero', 'ggml.q4_k'],
])('quantize takes the usual method of %s when none is named', async (format, type) => {
  const values = Float32Array.from({ length: 8 * 256 }, (_, i) => Math.sin(i))
  const header = JSON.stringify({ w: { dtype: 'F32', shape: [8, 256], data_offsets: [0, values.byteLength] } })
  const length = BigUint64Array.of(BigInt(header.length))
  writeFileSync(at('wide.safetensors'), Buffer.concat([length, Buffer.from(header), values].map(bytesOf)))
  const { choices } = await json('quantize', at('wide.safetensors'), '-o', at(`q.${format}`))
  expect(choices[0].method).toBe(type)
})

test('quantize reports what it cost', async () => {
  const { status } = await tare('quantize', at('model.safetensors'), '-o', at('q.mcf'), '--method', 'q8', '--dry-run')
  expect([status, existsSync(at('q.mcf'))]).toEqual([0, false])
  const { quality } = await json('quantize', at('model.safetensors'), '-o', at('q.mcf'), '--method', 'q8', '--report')
  expect(quality.total.snr).toBeGreaterThan(40)
  expect((await tare('verify', at('q.mcf'))).status).toBe(0)
  expect((await tare('quantize', at('model.safetensors'), '-o', at('q.mcf'), '--method', 'z9')).status).toBe(2)
})

describe('addresses', () => {
  const server = useServer()

  test('are inputs like any other', async () => {
    server.files.set('m.safetensors', new Uint8Array(readFileSync(sample)))
    const remote = await json('hash', '--no-cache', server.url('m.safetensors'))
    expect(remote.fingerprint).toBe((await json('hash', at('model.safetensors'))).fingerprint)
    const missing = await tare('inspect', '--no-cache', '--json', server.url('no'))
    expect([missing.status, JSON.parse(missing.stdout).error.code]).toEqual([2, 'remote/status'])
  })

  test('get the headers that were given', async () => {
    server.files.set('m.safetensors', new Uint8Array(readFileSync(sample)))
    await tare('inspect', '--no-cache', '--header', 'Authorization: Bearer x', server.url('m.safetensors'))
    expect(server.seen[0]!.authorization).toBe('Bearer x')
    expect((await tare('inspect', '--header', 'nonsense', server.url('m.safetensors'))).status).toBe(2)
  })
})

test('extract says what it compared the bytes with', async () => {
  await tare('convert', at('model.safetensors'), '-o', at('m.aero'), '--page-hashes', '4K')
  const args = ['extract', at('m.aero'), 'layers.0.weight', '--slice', '0:2,:', '-o', at('x.npy')]
  expect((await json(...args)).proof).toMatchObject({ pages: 1, unprovenBytes: 0 })
})
