import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MemorySource, openModel } from '../../src/kit.js'
import { useTempDir } from '../node/temp-dir.js'
import { fixturesRoot } from '../support/fixtures.js'
import { runCli as tare } from './run-cli.js'

const at = useTempDir()
const sample = new URL('../../examples/tiny-mlp.safetensors', import.meta.url).pathname

test('help for a verb that is not there suggests one', async () => {
  const { status, stdout, stderr } = await tare('help', 'insepct')
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr).toBe("tare: unknown verb 'insepct'\n(Did you mean inspect?)\n")
  for (const word of ['help', '--help', '-h'])
    expect((await tare(word, 'inspect')).stdout).toContain('Usage: tare inspect')
})

describe('the directory of an output', () => {
  test.each<[string, string[], string]>([
    ['convert', [], 'x.gguf'],
    ['quantize', ['--method', 'q8_0'], 'x.gguf'],
    ['extract', ['layers.0.weight'], 'x.npy'],
    ['edit', ['--set', 'a=b'], 'x.safetensors'],
  ])('%s makes it, and says so', async (verb, flags, name) => {
    const { status, stderr } = await tare(verb, sample, ...flags, '-o', at('new', 'folder', name))
    expect([status, stderr]).toEqual([0, expect.stringContaining(`${at('new', 'folder')}: created the directory\n`)])
    expect(existsSync(at('new', 'folder', name))).toBe(true)
  })

  test('is removed again when nothing is written', async () => {
    writeFileSync(at('cut.safetensors'), 'x')
    expect((await tare('convert', at('cut.safetensors'), '-o', at('new', 'x.gguf'))).status).toBe(1)
    expect(
      (await tare('convert', sample, '-o', at('new', 'x.oinf'), '--allow-loss', 'none', '--cast', 'f99')).status,
    ).toBe(2)
    expect(existsSync(at('new'))).toBe(false)
  })

  test('cannot be made below a file', async () => {
    writeFileSync(at('file'), '')
    expect((await tare('convert', sample, '-o', at('file', 'x.gguf'))).status).toBe(2)
  })
})

test('a file that is replaced is named once', async () => {
  const run = () => tare('convert', sample, '-o', at('x.gguf'))
  expect((await run()).stderr).not.toContain('replaced')
  expect((await run()).stderr.match(/replaced the file that was there/g)).toHaveLength(1)
  expect((await tare('edit', at('x.gguf'), '--set', 'a=b')).stderr).not.toContain('replaced')
})

test('a name that is not UTF-8 gets a hint', async () => {
  const { status, stderr } = await tare('inspect', at('bad\ufffd.gguf'))
  expect([status, stderr]).toEqual([2, expect.stringContaining('if its name is not UTF-8')])
  expect((await tare('inspect', at('none.gguf'))).stderr).not.toContain('UTF-8')
})

test.runIf(process.platform === 'linux')('files whose names are not UTF-8 are found below a directory', async () => {
  mkdirSync(at('odd'))
  const nameOf = (byte: number) => Buffer.concat([Buffer.from(`${at('odd')}/`), Buffer.of(byte), Buffer.from('.npy')])
  const bytes = readFileSync(new URL('../../examples/mlp-regression/b1.npy', import.meta.url))
  writeFileSync(nameOf(0xff), bytes)
  expect(await tare('verify', '-q', '-r', at('odd'))).toMatchObject({
    status: 0,
    stderr: expect.not.stringContaining('no such'),
  })
  // Node shows both under the same name.
  writeFileSync(nameOf(0xfe), bytes)
  expect(await tare('verify', '-q', '-r', at('odd'))).toMatchObject({ status: 2 })
})

test.each([
  ['', /^tare: "": the name of the input is empty/],
  ['file://other-machine/x.gguf', /not the address of a file on this machine/],
  ['ftp://host/x.gguf', /ftp addresses are not opened; http, https, s3, gs and hf addresses are/],
])('the input %j is wrong usage, and what is wrong with it is said', async (input, message) => {
  expect(await tare('inspect', input)).toMatchObject({ status: 2, stderr: expect.stringMatching(message) })
})

test('a file can be named by its address', async () => {
  expect((await tare('hash', pathToFileURL(sample).href)).stdout).toContain('fingerprint')
})

test('an empty file is called empty', async () => {
  writeFileSync(at('empty.gguf'), '')
  expect((await tare('inspect', at('empty.gguf'))).stderr).toBe(
    `tare: ${at('empty.gguf')}: the file is empty (open/empty)\n`,
  )
})

test('a server that cannot be reached is named without an offset', async () => {
  const { status, stderr } = await tare('inspect', 'http://127.0.0.1:1/model.gguf')
  expect([status, stderr]).toEqual([2, expect.stringMatching(/^tare: http:\/\/127.0.0.1:1\/model.gguf: /)])
})

test('flags that a verb has no use for are unknown to it', async () => {
  for (const verb of ['work', 'status', 'finish', 'sign', 'pack'])
    expect((await tare(verb, 'x', '--lenient')).stderr).toContain("unknown option '--lenient'")
})

test('help continues the items of a list further to the right', async () => {
  const { stdout } = await tare('repair', '--help')
  expect(stdout).toContain('\n  safetensors: from a cut file with its header, the complete tensors; from a\n    set, ')
})

test.each(['{}', 'hi', '[]'])('an index of %j is read as JSON', async (text) => {
  writeFileSync(at('model.safetensors.index.json'), text)
  const { status, stderr } = await tare('inspect', at('model.safetensors.index.json'))
  expect([status, stderr]).toEqual([1, expect.not.stringContaining('header_length')])
})

test('a model that is not an encoder becomes an ONNX file without nodes, and that is said', async () => {
  mkdirSync(at('model'))
  copyFileSync(sample, at('model', 'model.safetensors'))
  writeFileSync(at('model', 'config.json'), '{"model_type":"llama"}')
  const { status, stderr } = await tare('convert', at('model'), '-o', at('x.onnx'))
  expect([status, stderr]).toEqual([0, expect.stringContaining('a graph without nodes, which computes nothing')])
  const asked = await tare('convert', at('model'), '-o', at('y.onnx'), '--heads', '2')
  expect([asked.status, asked.stderr]).toEqual([1, expect.stringContaining('embed/not-an-encoder')])
})

test('the heads of an encoder are taken from the config.json beside it', async () => {
  const stream = join(fixturesRoot, 'embd', 'stream-tiny-bert-1layer.bin')
  await tare('convert', stream, '-o', at('model', 'model.safetensors'), '--allow-loss')
  const refused = await tare('convert', at('model'), '-o', at('x.onnx'))
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('--heads')])
  writeFileSync(at('model', 'config.json'), '{"num_attention_heads": 2}')
  await tare('convert', at('model'), '-o', at('x.onnx'), '--allow-loss')
  const { metadata } = JSON.parse((await tare('inspect', '--json', '--metadata', at('x.onnx'))).stdout)
  expect(metadata.num_attention_heads).toEqual({ type: 'str', value: '2' })
})

describe('an address that answers with a page', () => {
  let server: Server
  beforeAll(async () => {
    const page = '<!doctype html><html></html>'
    server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(page))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => void server.close())

  test('names the one of the file', async () => {
    const { port } = server.address() as AddressInfo
    const origin = `http://127.0.0.1:${port}`
    const { status, stderr } = await tare('inspect', `${origin}/org/model/blob/main/model.gguf`)
    expect([status, stderr]).toEqual([1, expect.stringContaining(`${origin}/org/model/resolve/main/model.gguf`)])
    expect((await tare('inspect', `${origin}/other`)).stderr).toContain('this is an HTML page')
  })

  test('knows the addresses of GitHub', async () => {
    const source = new MemorySource(new TextEncoder().encode('<html>'), 'https://github.com/a/b/blob/main/m.gguf')
    await expect(openModel(source)).rejects.toThrow('https://github.com/a/b/raw/main/m.gguf')
  })
})
