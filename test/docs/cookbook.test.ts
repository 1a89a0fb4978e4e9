// The programs of the cookbook, each run as its first line says, and what a page with tare in it loads.
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type OutputChunk } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeTinyModel } from '../families/tiny-model.js'
import { usePackage } from './package.js'

const root = resolve(import.meta.dirname, '../..')
const cookbook = join(root, 'examples/cookbook')
const model = 'tiny-mlp.safetensors'
const folder = usePackage()

beforeAll(() => {
  cpSync(cookbook, folder(), { recursive: true })
  cpSync(join(root, 'examples', model), folder(model))
})

function run(program: string, ...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [`${program}.mjs`, ...args], { cwd: folder(), timeout: 60_000 })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
  return new Promise((done) => child.on('close', () => done(printed)))
}

describe('the cookbook', () => {
  const tried = new Set<string>()
  const recipe = (name: string, works: () => Promise<void>): void => {
    tried.add(`${name}.mjs`)
    it(name, works)
  }

  it('has programs of at most five lines, besides the one about errors, and lists all of them', () => {
    const page = readFileSync(join(cookbook, 'README.md'), 'utf8')
    for (const name of readdirSync(cookbook).filter((each) => each.endsWith('.mjs'))) {
      const lines = readFileSync(join(cookbook, name), 'utf8').split('\n')
      const code = lines.filter((line) => line !== '' && !line.startsWith('//'))
      if (name !== 'catch-errors.mjs') expect(code.length, name).toBeLessThanOrEqual(5)
      expect(page).toContain(`(${name})`)
    }
  })
  recipe('list-tensors', async () => {
    expect(await run('list-tensors', model)).toMatch(/^layers\.0\.weight f32 32x64\n(.*\n){3}$/)
  })
  recipe('read-tensor', async () => {
    expect(await run('read-tensor', model, 'layers.0.weight')).toMatch(/^f32 \[ 32, 64 \] Float32Array\(4\)/)
  })
  recipe('write-arrays', async () => {
    expect(await run('write-arrays', 'arrays.safetensors')).toMatch(/^arrays\.safetensors \d+\n$/)
    expect(await run('list-tensors', 'arrays.safetensors')).toContain('half f16 2\n')
  })
  recipe('convert', async () => {
    expect(await run('convert', model, 'half.gguf')).toMatch(/^precision half\.gguf \d+\n$/)
    expect(await run('list-tensors', 'half.gguf')).toContain('layers.0.weight f16 32x64')
  })
  recipe('hub-to-gguf', async () => {
    await writeTinyModel(folder('llama'))
    expect(await run('hub-to-gguf', 'llama', 'llama.gguf')).toMatch(/^llama\.gguf \d+ precision\n$/)
    expect(await run('list-tensors', 'llama.gguf')).toContain('blk.1.attn_q.weight f16 8x8')
  })
  recipe('quantize-with-report', async () => {
    const printed = await run('quantize-with-report', model, 'small.gguf')
    expect(printed).toContain('layers.0.weight ggml.q8_0')
    expect(printed).toMatch(/layers\.0\.weight 0\.00\d+\n/)
  })
  recipe('diff-models', async () => {
    expect(await run('diff-models', model, model)).toBe('equal\n')
    await run('convert', model, 'other.gguf')
    expect(await run('diff-models', model, 'other.gguf')).toMatch(/^different\nlayers\.\d\.\w+ values\n/)
  })
  recipe('verify-folder', async () => {
    mkdirSync(folder('models'))
    cpSync(folder(model), folder('models', 'whole.safetensors'))
    writeFileSync(folder('models', 'cut.safetensors'), readFileSync(folder(model)).subarray(0, 9000))
    expect(await run('verify-folder', 'models')).toBe('cut.safetensors errors\nwhole.safetensors ok\n')
  })
  recipe('repair-cut-download', async () => {
    writeFileSync(folder('cut.safetensors'), readFileSync(folder(model)).subarray(0, 9000))
    expect(await run('repair-cut-download', 'cut.safetensors', 'saved.safetensors')).toMatch(
      /^saved: .*\n(lost: .*\n){2}$/,
    )
    expect(await run('list-tensors', 'saved.safetensors')).toMatch(/^(.*\n){2}$/)
  })
  recipe('hash-model', async () => {
    expect(await run('hash-model', model)).toMatch(/^[0-9a-f]{64} 4\n$/)
  })
  recipe('catch-errors', async () => {
    expect(await run('catch-errors', 'nothing')).toBe('no such file: nothing\n')
    expect(await run('catch-errors', 'convert.mjs')).toBe('open/unknown-format at byte 0\n')
  })

  describe('on a server', () => {
    const bytes = readFileSync(join(root, 'examples', model))
    const server = createServer(({ headers }, response) => {
      const [, first = '0', last = ''] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? []
      const end = Math.min(last === '' ? bytes.length : Number(last) + 1, bytes.length)
      response.writeHead(206, { 'content-range': `bytes ${first}-${end - 1}/${bytes.length}`, etag: '"1"' })
      response.end(bytes.subarray(Number(first), end))
    })
    beforeAll(() => new Promise<void>((done) => server.listen(0, '127.0.0.1', done)))
    afterAll(() => server.close())
    recipe('remote-tensor', async () => {
      const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${model}`
      expect(await run('remote-tensor', address, 'layers.1.bias')).toBe('[ 10 ] 10\n')
    })
  })

  it('is run as a whole', () => {
    const programs = readdirSync(cookbook).filter((name) => /(?<!-in-browser)\.mjs$/.test(name)) // those run in Chromium
    expect([...tried].sort()).toEqual(programs.sort())
  })
})

describe('a page that lists tensors', () => {
  it('starts with little, and loads a format with its first file', async () => {
    const { output } = await build({
      input: folder('list-in-browser.mjs'),
      platform: 'browser',
      write: false,
      experimental: { resolveNewUrlToAsset: true },
      output: { format: 'esm', minify: true },
      logLevel: 'silent',
    })
    const chunks = new Map(output.flatMap((each) => (each.type === 'chunk' ? [[each.fileName, each]] : [])))
    const entry = [...chunks.values()].find(({ isEntry }) => isEntry)!
    const first = withImports(entry, chunks)
    const size = first.reduce((sum, { code }) => sum + gzipSync(code).byteLength, 0)
    expect(size).toBeLessThan(60 * 1024)
    const formats = first.flatMap(({ moduleIds }) => moduleIds).filter((id) => /[\\/]formats[\\/]/.test(id))
    expect(formats).toEqual([])
    for (const name of ['safetensors', 'aero', 'onnx'])
      expect(
        [...chunks.values()].some((each) => each.moduleIds.some((id) => id.endsWith(join(name, 'implementation.js')))),
      ).toBe(true)
  })
})

/** A chunk and everything that it cannot start without. */
function withImports(
  chunk: OutputChunk,
  chunks: ReadonlyMap<string, OutputChunk>,
  found = new Set<OutputChunk>(),
): OutputChunk[] {
  if (found.has(chunk)) return []
  found.add(chunk)
  for (const name of chunk.imports) if (chunks.has(name)) withImports(chunks.get(name)!, chunks, found)
  return [...found]
}
