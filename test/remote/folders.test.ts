// Folders on web servers: their listings, and the files that are found through them.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { runCli as tare } from '../cli/run-cli.js'
import { useTempDir } from '../node/temp-dir.js'
import { convertToFiles } from '../support/convert.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'
import { useServer } from './server.js'

const server = useServer()
const at = useTempDir()

const model = sampleModel([1, 2, 3].map((i) => sampleTensor(`layer.${i}.weight`, 'f32', [64, 256], i)))
const files = await convertToFiles(model, 'safetensors', { name: 'model.safetensors', shardSize: 70_000 })
const text = (words: string): Uint8Array => new TextEncoder().encode(words)

const links = (names: readonly string[]): string =>
  names.map((name) => `<a href="${name}">x</a> 01-Jan-2026 12`).join('\n')
const listings = {
  nginx: (names: readonly string[]) =>
    `<html><head><title>Index of /m/</title></head><body><pre><a href="../">../</a>\n${links(names)}`,
  apache: (names: readonly string[]) =>
    `<!DOCTYPE HTML><html><body><table><tr><th><a href="?C=N;O=D">Name</a></th></tr><tr><td><a href="/">Parent Directory</a>${links(names)}`,
  python: (names: readonly string[]) => `<!DOCTYPE HTML>\n<html lang="en">\n<ul>\n<li>${links(names)}</li></ul>`,
  caddy: (names: readonly string[]) => `<!DOCTYPE html><html>${links(names.map((name) => `./${name}`))}`,
  'nginx in JSON': (names: readonly string[]) =>
    JSON.stringify(
      names.map((name) => ({ name: name.replace('/', ''), type: name.endsWith('/') ? 'directory' : 'file' })),
    ),
}

function serve(folder: string, page: string): void {
  for (const [name, bytes] of files) server.files.set(folder + name, bytes)
  server.files.set(folder, text(page))
}

beforeEach(() => vi.stubEnv('TARE_CACHE', at('cache')))

describe.each(Object.entries(listings))('a folder listed by %s', (_, listing) => {
  beforeEach(() => {
    serve('m/', listing([...files.keys(), 'sub/', 'read%20me.md']))
    server.files.set('m/sub/', text(listing(['other.txt'])))
    server.files.set('m/sub/other.txt', text('words'))
    server.files.set('m/read me.md', text('# words'))
    server.files.set('m/read%20me.md', text('# words'))
  })

  it('is opened as a directory is', async () => {
    const { stdout, status, stderr } = await tare('verify', server.url('m/'))
    expect([status, stdout.includes('ok — safetensors')], stderr).toEqual([0, true])
    const truth = await model.tensors[1]!.data!.read!(0, 64 * 256 * 4)
    expect((await tare('extract', server.url('m/'), 'layer.2.weight', '-o', at('w.bin'))).status).toBe(0)
    expect(Buffer.compare(readFileSync(at('w.bin')), truth)).toBe(0)
  })

  it('comes home with the folders below it', async () => {
    const { status, stderr } = await tare('fetch', server.url('m/'), '-o', at('home'))
    expect(status, stderr).toBe(0)
    expect(readFileSync(at('home/sub/other.txt'), 'utf8')).toBe('words')
    for (const [name, bytes] of files) expect(Buffer.compare(readFileSync(at('home', name)), bytes)).toBe(0)
    expect(readdirSync(at('home'))).toHaveLength(files.size + 3)
  })
})

describe('a listing', () => {
  it('leads nowhere else', async () => {
    const away = [
      'http://127.0.0.1:9/x.gguf',
      '//127.0.0.1:9/y.gguf',
      '/z.gguf',
      '../up.gguf',
      '%2e%2e/a.gguf',
      'b%2fc.gguf',
      '%2e%2e%2fd.gguf',
    ]
    serve('m/', listings.nginx([...away, 'javascript:alert(1)', 'q.gguf?token=1']))
    const { status, stderr } = await tare('fetch', server.url('m/'), '-o', at('home'))
    expect([status > 0, stderr.includes('no such file or folder')], stderr).toEqual([true, true])
    expect(server.seen.map(({ url }) => url)).toEqual(['/m/'])
  })

  it('of folders without an end is given up', async () => {
    const page = listings.nginx(Array.from({ length: 1100 }, (_, i) => `${i}/`))
    server.files.set('m/', text(page))
    for (let i = 0; i < 1100; i++) server.files.set(`m/${i}/`, text(listings.nginx([])))
    const { status, stderr } = await tare('fetch', server.url('m/'), '-o', at('home'))
    expect([status > 0, stderr.includes('remote/too-large')], stderr).toEqual([true, true])
    expect(server.seen.length).toBeLessThan(1100)
    server.files.set('d/', text(listings.nginx(['one.bin', 'd/'])))
    for (let depth = 1; depth < 20; depth++)
      server.files.set('d/'.repeat(depth + 1), text(listings.nginx(['d/', 'one.bin'])))
    for (let depth = 1; depth <= 20; depth++) server.files.set(`${'d/'.repeat(depth)}one.bin`, text('x'))
    expect((await tare('fetch', server.url('d/'), '-o', at('deep'))).status).toBe(0)
    expect(existsSync(at(`deep/${'d/'.repeat(8)}one.bin`))).toBe(true)
    expect(existsSync(at(`deep/${'d/'.repeat(9)}one.bin`))).toBe(false)
  }, 60_000)

  it('is asked for each file once where the server has no ranges', async () => {
    serve('m/', listings.python([...files.keys()]))
    server.behave.noRanges = true
    expect((await tare('fetch', server.url('m/'), '-o', at('home'))).status).toBe(0)
    for (const [name, bytes] of files) expect(Buffer.compare(readFileSync(at('home', name)), bytes)).toBe(0)
    expect(server.seen).toHaveLength(files.size + 1)
  })

  it('has an address with a slash at its end, and a page without one says so', async () => {
    serve('m', listings.nginx([...files.keys()]))
    expect((await tare('inspect', server.url('m'))).stderr).toContain('the address of a folder ends with a slash')
  })

  it('without a model says so', async () => {
    serve('m/', listings.nginx(['notes.txt']))
    const { status, stderr } = await tare('inspect', server.url('m/'))
    expect([status > 0, stderr.includes(server.url('m/'))], stderr).toEqual([true, true])
  })

  it('is not taken from what is a model itself', async () => {
    server.files.set('download/', [...files.values()][1]!)
    expect((await tare('inspect', server.url('download/'))).status).toBe(0)
  })
})

it('a shared access signature for a container holds for the files beside the one that it was typed for', async () => {
  const query = '?sv=2024-11-04&sr=c&sp=r&sig=5ECRET%3D'
  for (const [name, bytes] of files) server.files.set(decodeURIComponent(`c/${name}${query}`), bytes)
  const address = server.url(`c/model.safetensors.index.json${query}`)
  for (const args of [
    ['verify', address],
    ['fetch', address, '-o', at('home')],
    ['inspect', '--json', address],
  ]) {
    const { status, stdout, stderr } = await tare(...args)
    expect([status, /5ECRET/.test(stdout + stderr)], stderr).toEqual([0, false])
  }
  for (const [name, bytes] of files) expect(Buffer.compare(readFileSync(at('home', name)), bytes)).toBe(0)
  // One for a blob holds for nothing else, and is not sent to others.
  server.seen.length = 0
  await tare('verify', address.replace('sr=c', 'sr=b'))
  expect(server.seen.filter(({ url }) => !url.includes('index.json') && url.includes('sig='))).toEqual([])
})
