import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, describe, expect, test } from 'vitest'
import { meansCannotRun } from '../../src/cli/status.js'
import { verbs } from '../../src/cli/verbs/index.js'
import { allCodes } from '../../src/kit.js'
import { useTempDir } from '../node/temp-dir.js'
import { runCli as tare } from './run-cli.js'

const at = useTempDir()
const sample = new URL('../../examples/tiny-mlp.safetensors', import.meta.url).pathname

beforeEach(() => {
  copyFileSync(sample, at('good.safetensors'))
  writeFileSync(at('junk.bin'), Uint8Array.of(1, 2, 3, 250, 251, 252, 9, 9, 9, 9))
  writeFileSync(at('empty.gguf'), '')
  writeFileSync(at('cut.safetensors'), Uint8Array.of(255, 0, 0, 0, 0, 0, 0, 0, 0x7b))
  mkdirSync(at('folder'))
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  writeFileSync(at('key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
})

/** How each verb is called with an input. */
const calls: Readonly<Record<string, (input: string) => string[]>> = {
  inspect: (input) => [input],
  verify: (input) => [input],
  sign: (input) => [input, '--key', at('key.pem')],
  hash: (input) => [input],
  map: (input) => [input],
  stats: (input) => [input],
  show: (input) => [input],
  extract: (input) => [input, 'w', '-o', at('out.npy')],
  picture: (input) => [input, '-o', at('out.png')],
  convert: (input) => [input, '-o', at('out.gguf')],
  diff: (input) => [input, at('good.safetensors')],
  delta: (input) => [input, at('good.safetensors'), '-o', at('out.safetensors')],
  apply: (input) => [input, at('good.safetensors'), '-o', at('out.safetensors')],
  pack: (input) => [input, '-o', at('out.oinf')],
  quantize: (input) => [input, '-o', at('out.gguf')],
  edit: (input) => [input, '--set', 'a=b'],
  repair: (input) => [input, '-o', at('out.safetensors')],
  plan: (input) => [input, at('out.gguf'), '-o', at('job.json')],
  tokenize: (input) => [input, 'a text'],
  embed: (input) => [input, 'a text'],
}

/** What does not look into the files. */
const takesAnyFile = new Set(['sign'])

/** Verbs that take no file as their answer: they serve until stopped, want an address, or take a job. They have tests of their own. */
const elsewhere = ['view', 'fetch', 'work', 'status', 'finish', 'worker']

test('the table has every verb', () => {
  expect([...Object.keys(calls), ...elsewhere].sort()).toEqual(verbs.map(({ name }) => name).sort())
})

describe.each(Object.keys(calls))('%s', (verb) => {
  const statusFor = async (input: string): Promise<number> => (await tare(verb, ...calls[verb]!(input))).status

  test.each<[string, string]>([
    ['missing', 'none.gguf'],
    ['an empty directory', 'folder'],
  ])('2 for an input that is %s', async (_, input) => {
    expect(await statusFor(at(input))).toBe(2)
  })

  test.each<[string, string]>([
    ['of an unknown format', 'junk.bin'],
    ['damaged', 'cut.safetensors'],
    ['without bytes', 'empty.gguf'],
  ])('1 for an input that is %s', async (_, input) => {
    expect(await statusFor(at(input))).toBe(takesAnyFile.has(verb) ? 0 : 1)
  })

  test.skipIf(process.getuid?.() === 0)('2 for an input that may not be read', async () => {
    chmodSync(at('good.safetensors'), 0)
    expect(await statusFor(at('good.safetensors'))).toBe(2)
  })

  test('2 for wrong usage', async () => {
    expect((await tare(verb, ...calls[verb]!(at('good.safetensors')), '--no-such-option')).status).toBe(2)
    expect((await tare(verb)).status).toBe(2)
  })

  test('its help says when it is 1', async () => {
    const { stdout } = await tare(verb, '--help')
    expect(stdout).toMatch(/Exit status:\n +0 .*\n +1 +the answer is no: .*\n +2 /s)
  })
})

test('2 for a server that answers with an error', async () => {
  const server = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1')
  try {
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    expect((await tare('verify', `http://127.0.0.1:${port}/model.gguf`)).status).toBe(2)
  } finally {
    server.close()
  }
})

test.each<[number, string, string[]]>([
  [0, 'equal models', ['diff', 'good.safetensors', 'good.safetensors']],
  [2, 'the second is missing', ['diff', 'good.safetensors', 'none']],
  [2, 'the second is missing, and the first of an unknown format', ['diff', 'junk.bin', 'none']],
  [1, 'the first is of an unknown format', ['diff', 'junk.bin', 'good.safetensors']],
  [1, 'one of two is damaged', ['verify', 'cut.safetensors', 'good.safetensors']],
  [2, 'the worst of three', ['verify', 'cut.safetensors', 'none', 'good.safetensors']],
])('%i: %s', async (expected, _, [verb, ...files]) => {
  expect((await tare(verb!, ...files.map((file) => at(file)))).status).toBe(expected)
})

test.each<[number, string, string[]]>([
  [2, 'a tensor that is not there', ['extract', 'nobody', '-o', 'out.npy']],
  [2, 'an entry that is not there', ['edit', '--unset', 'nobody']],
  [2, 'an element type that is not there', ['convert', '--cast', 'f99', '-o', 'out.gguf']],
  [2, 'a format that cannot be written', ['convert', '--to', 'dcp', '-o', 'out.pt']],
  [2, 'an output that is there already', ['convert', '--no-overwrite', '-o', 'good.safetensors']],
])('%i: %s', async (expected, _, [verb, ...args]) => {
  const words = args.map((arg) => (/\.(npy|gguf|pt|safetensors)$/.test(arg) ? at(arg) : arg))
  expect((await tare(verb!, at('good.safetensors'), ...words)).status).toBe(expected)
})

test('every code of io but two means that the run could not be done', () => {
  const answers = allCodes().filter(({ code }) => code.startsWith('io/') && !meansCannotRun(code))
  expect(answers.map(({ code }) => code)).toEqual(['io/out-of-range', 'io/unsafe-path'])
})
