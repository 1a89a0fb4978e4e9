// Addresses that are as good as a key: what the command prints and writes never holds the part that opens the door.
import { existsSync, readFileSync } from 'node:fs'
import { beforeEach, expect, it, vi } from 'vitest'
import { secretsOf, shownAddress } from '../../src/remote/shown-address.js'
import { runCli as tare } from '../cli/run-cli.js'
import { useTempDir } from '../node/temp-dir.js'
import { convertToFiles } from '../support/convert.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'
import { useServer } from './server.js'

const server = useServer()
const at = useTempDir()

const model = sampleModel([1, 2].map((i) => sampleTensor(`layer.${i}.weight`, 'f32', [64, 256], i)))
const [bytes] = (await convertToFiles(model, 'safetensors', { name: 'm.safetensors' })).values()

const queries = [
  'X-Amz-Credential=AKID5ECRET%2Fx&X-Amz-Signature=5ECRET5IG',
  'sv=1&sig=5ECRET%2B5IG%3D',
  'token=5ECRET5IG',
]
const secret = /5ECRET|pa55word/

beforeEach(() => {
  vi.stubEnv('TARE_CACHE', at('cache'))
  for (const query of queries) server.files.set(decodeURIComponent(`m.safetensors?${query}`), bytes!)
  server.files.set('m.safetensors', bytes!)
})

const addresses = (): string[] => [
  ...queries.map((query) => server.url(`m.safetensors?${query}`)),
  server.url('m.safetensors').replace('http://', 'http://me:pa55word@'),
]

const verbs = (address: string): readonly (readonly string[])[] => [
  ...['inspect', 'verify', 'hash', 'stats', 'show', 'map', 'tokenize', 'repair', 'sign'].map((verb) => [verb, address]),
  ['inspect', address, 'layer.1.weight'],
  ['diff', address, address],
  ['extract', address, 'layer.1.weight', '-o', at('w.npy')],
  ['extract', address, 'no.such', '-o', at('w.npy')],
  ['convert', address, '-o', at('out.gguf'), '--as-is', '--dry-run'],
  ['convert', address, '-o', at('out.gguf'), '--as-is', '--receipt', at('receipt.json')],
  ['convert', at('none.gguf'), '--merge', address, '-o', at('x.gguf')],
  ['convert', address, '-o', address, '--to', 'gguf'],
  ['edit', address, '--set', 'a=b'],
  ['fetch', address, '-o', at('home')],
  ['fetch', address, '--dry-run'],
  ['plan', address, at('planned.gguf'), '-o', at('job.json')],
  ['delta', address, address, '-o', at('delta')],
  ['inspect', `${address}&x=${'y'.repeat(5)}`],
  ['verify', address, '--from', 'gguf'],
  ['inspect', '--no-such-flag', address],
  ['no-such-verb', address],
]

it('are shown without it, by every verb, and are not written to files', async () => {
  for (const address of addresses()) {
    for (const words of verbs(address)) {
      for (const more of [[], ['--json'], ['--verbose']]) {
        const { stdout, stderr } = await tare(...words, ...more)
        expect(stdout + stderr, words.join(' ')).not.toMatch(secret)
      }
    }
    for (const file of ['receipt.json', 'job.json', 'delta', 'home/.tare-fetch.json'])
      if (existsSync(at(file))) expect(readFileSync(at(file), 'latin1'), file).not.toMatch(secret)
  }
}, 120_000)

it('of jobs are refused with what to use in their place', async () => {
  const [address] = addresses()
  const { status, stderr } = await tare('plan', address!, at('planned.gguf'), '-o', at('job.json'))
  expect([status, stderr.includes('the address holds a password or a signature'), existsSync(at('job.json'))]).toEqual([
    2,
    true,
    false,
  ])
})

it('keep everything else', () => {
  expect(shownAddress('https://host/a@b?x=1&sig=abc#part')).toBe('https://host/a@b?x=1&sig=hidden#part')
  expect(shownAddress('https://me:secret@host/x')).toBe('https://host/x')
  expect(shownAddress('https://host/x?y=z')).toBe('https://host/x?y=z')
  expect([...secretsOf(['verify', 'a.gguf', 'http://host/x?sig=short'])].map(([text]) => text)).toEqual([
    'http://host/x?sig=short',
  ])
})
