// Damage does not travel: what does not have its checksums is not handed on without a word, in no format that has any.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { dataType, dims, external, floats, initializer, modelOf, tensorName } from '../formats/onnx/build.js'
import { useTempDir } from '../node/temp-dir.js'
import { convertToFiles } from '../support/convert.js'
import { fixtureBytes } from '../support/fixtures.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'
import { useCompiled } from './compiled.js'
import { runCli as tare } from './run-cli.js'

const at = useTempDir()
const model = sampleModel([sampleTensor('a', 'f32', [64], 1), sampleTensor('b', 'f32', [8, 64], 2)])

/** A file with one byte of the tensor `b` changed. */
async function damaged(format: string, extension: string): Promise<string> {
  const [whole] = (await convertToFiles(model, format, { name: `whole${extension}` })).values()
  const bytes = whole!.slice()
  const value = new Uint8Array(16)
  for await (const chunk of model.tensors.at(1)!.data!.chunks(1 << 20)) value.set(chunk.subarray(100, 116))
  const place = Buffer.from(bytes).indexOf(value)
  expect(place).toBeGreaterThan(0)
  bytes[place] = bytes[place]! ^ 0x40
  const path = at(`damaged${extension}`)
  writeFileSync(path, bytes)
  writeFileSync(at(`whole${extension}`), whole!)
  return path
}

describe.each([
  ['aero', '.aero'],
  ['npz', '.npz'],
  ['embd', '.weights'],
])('a damaged %s file', (format, extension) => {
  test('is refused by every verb that hands weights on, and nothing is written', async () => {
    const path = await damaged(format, extension)
    const commands = [
      ['convert', path, '-o', at('out.safetensors')],
      ['convert', path, '-o', at(`out${extension}`)],
      ['quantize', path, '-o', at('out.gguf')],
      ['hash', path],
      ['hash', '--decoded', path],
      ['extract', path, 'b', '-o', at('out.npy')],
      ['extract', path, 'b', '--slice', '0:8,:', '-o', at('out.npy')],
    ]
    const before = readdirSync(at())
    for (const command of commands) {
      const { status, stdout, stderr } = await tare(...command)
      expect([status, stdout], command.join(' ')).toEqual([1, ''])
      expect(stderr, command.join(' ')).toMatch(/damaged|digest|hash/)
    }
    expect(readdirSync(at())).toEqual(before)
    const { stdout } = await tare('convert', path, '-o', at('out.gguf'), '--json')
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'verify/damaged', offset: expect.any(Number) })
  })

  test('is taken as it is when that is asked for, and everything says so', async () => {
    const path = await damaged(format, extension)
    const ran = await tare('convert', path, '-o', at('out.safetensors'), '--allow-damage', '--receipt', at('receipt'))
    expect([ran.status, ran.stderr]).toEqual([0, expect.stringContaining('the input is damaged')])
    expect(JSON.parse(readFileSync(at('receipt'), 'utf8')).damage[0]).toMatchObject({ severity: 'error' })
    const json = await tare('convert', path, '-o', at('out.safetensors'), '--allow-damage', '--json')
    expect(JSON.parse(json.stdout).damage[0]).toMatchObject({ severity: 'error', offset: expect.any(Number) })
    const hash = await tare('hash', path, '--allow-damage', '--json')
    expect([hash.status, JSON.parse(hash.stdout)]).toEqual([0, expect.objectContaining({ damage: expect.any(Array) })])
    const part = await tare('extract', path, 'b', '-o', at('out.npy'), '--allow-damage')
    expect([part.status, existsSync(at('out.npy'))]).toEqual([0, true])
  })

  test('is shown with a warning and status 1', async () => {
    const path = await damaged(format, extension)
    for (const command of [
      ['stats', path],
      ['show', path],
      ['inspect', '--stats', path],
      ['diff', path, path],
    ]) {
      const { status, stdout, stderr } = await tare(...command)
      expect(status, command.join(' ')).toBe(1)
      expect(stdout, command.join(' ')).not.toBe('')
      expect(stderr, command.join(' ')).toContain('the input is damaged')
    }
  })

  test('may be used as far as it is whole', async () => {
    if (format === 'embd') return // one checksum covers all tensors
    const path = await damaged(format, extension)
    expect((await tare('extract', path, 'a', '-o', at('a.npy'))).status).toBe(0)
    expect((await tare('convert', path, '--only', 'a', '-o', at('a.safetensors'))).status).toBe(0)
    expect((await tare('convert', path, '--only', 'b', '-o', at('b.safetensors'))).status).toBe(1)
  })
})

test('a part of a damaged file is not handed on either', async () => {
  const bytes = fixtureBytes('embd', 'sect-all-dtypes-vocab-aligned-crc.weights').slice()
  const token = Buffer.from(bytes).indexOf('[UNK]')
  expect(token).toBeGreaterThan(0)
  bytes[token + 1] = 0x56
  writeFileSync(at('damaged.weights'), bytes)
  const extract = ['extract', at('damaged.weights'), '--part', 'vocabulary', '-o', at('vocab.txt')]
  const { status, stderr } = await tare(...extract)
  expect([status, existsSync(at('vocab.txt'))]).toEqual([1, false])
  expect(stderr).toContain('verify/damaged')
  expect((await tare(...extract, '--allow-damage')).status).toBe(0)
})

test('torch archives are compared, too', async () => {
  const bytes = fixtureBytes('torch', 'state-dict.pt').slice()
  const at64 = bytes.findIndex((_, i) => i > 512 && bytes[i] !== 0 && bytes[i + 1] !== 0 && i > bytes.byteLength / 3)
  bytes[at64] = bytes[at64]! ^ 0x01
  writeFileSync(at('damaged.pt'), bytes)
  const { status } = await tare('verify', at('damaged.pt'))
  expect(status).toBe(1)
  expect((await tare('convert', at('damaged.pt'), '-o', at('out.safetensors'))).status).toBe(1)
  expect(existsSync(at('out.safetensors'))).toBe(false)
})

const compiled = useCompiled()

describe.skipIf(process.platform === 'win32')('a model may have more files than the process may open', () => {
  const limited = (...args: string[]): [number | null, string] => {
    const command = `ulimit -n 256; exec "$0" "$@"`
    const words = ['-c', command, process.execPath, compiled('cli/main.js'), ...args]
    const { status, stderr } = spawnSync('bash', words, { encoding: 'utf8' })
    return [status, stderr]
  }

  test('in shards', async () => {
    const many = sampleModel(Array.from({ length: 400 }, (_, i) => sampleTensor(`t${i}`, 'f32', [16], i + 1)))
    const [bytes] = (await convertToFiles(many, 'safetensors', { name: 'one.safetensors' })).values()
    writeFileSync(at('one.safetensors'), bytes!)
    const shards = [at('m.safetensors'), '--shard-size', '64', '-q']
    expect(limited('convert', at('one.safetensors'), '-o', ...shards)).toEqual([0, ''])
    const index = at('m.safetensors.index.json')
    expect(limited('verify', index)).toEqual([0, ''])
    expect(limited('hash', index)).toEqual([0, ''])
    expect(limited('diff', at('one.safetensors'), index)).toEqual([0, ''])
  })

  test('beside an ONNX graph', () => {
    const names = Array.from({ length: 400 }, (_, i) => `t${i}`)
    for (const [i, name] of names.entries()) writeFileSync(at(`${name}.bin`), floats(i))
    const tensors = names.map((name) =>
      initializer(...dims(1), dataType(1), tensorName(name), ...external({ location: `${name}.bin` })),
    )
    writeFileSync(at('m.onnx'), modelOf(...tensors))
    expect(limited('verify', at('m.onnx'))).toEqual([0, ''])
    expect(limited('hash', at('m.onnx'))).toEqual([0, ''])
    const [status, said] = limited('convert', at('m.onnx'), '-o', at('m.safetensors'), '-q', '--allow-loss')
    expect([status, said]).toEqual([0, ''])
  })
})
