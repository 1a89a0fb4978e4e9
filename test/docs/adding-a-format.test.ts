// The page that walks through adding a format: tare is built with the files that it shows, and used.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/adding-a-format.md'), 'utf8')
const shown = [...page.matchAll(/<!-- (src\/[\w./-]+) -->\n```ts\n([\s\S]*?)```/g)].map(([, path, text]) => ({
  path: path!,
  text: text!,
}))
let folder = ''

beforeAll(() => {
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  folder = mkdtempSync(join(cache, 'tare-toy-'))
  for (const name of ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json']) {
    cpSync(join(root, name), join(folder, name), { recursive: true })
  }
  for (const { path, text } of shown) {
    const target = join(folder, path)
    mkdirSync(dirname(target), { recursive: true })
    if (!path.endsWith('list.ts')) writeFileSync(target, text)
    else {
      const list = readFileSync(target, 'utf8')
      const withLine = list.replace('all = [', `all = [\n${text}`)
      writeFileSync(target, `import { toy } from './toy/index.js'\n${withLine}`)
    }
  }
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout, status } = spawnSync(process.execPath, [compiler, '-p', join(folder, 'tsconfig.build.json')], {
    encoding: 'utf8',
  })
  expect(stdout).toBe('')
  expect(status).toBe(0)
}, 120_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function tare(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'dist/cli/main.js'), ...args], {
    cwd: folder,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

test('shows one folder and one line', () => {
  const outside = shown.filter(({ path }) => !path.startsWith('src/formats/toy/'))
  expect(outside.map(({ path, text }) => [path, text.trim()])).toEqual([['src/formats/list.ts', 'toy,']])
})

test('gives a format that is inspected, verified, converted there and back, and repaired', () => {
  const model = join(root, 'examples/tiny-mlp.safetensors')
  expect(tare('convert', model, '-o', 'm.toy', '--allow-loss')).toMatchObject({ status: 0 })
  expect(tare('verify', 'm.toy')).toMatchObject({ status: 0 })
  const { tensors, format } = JSON.parse(tare('inspect', '--json', 'm.toy').stdout)
  expect(format).toBe('toy')
  expect(tensors.length).toBeGreaterThan(1)
  expect(tare('map', 'm.toy').stdout).toContain('tensors[0].checksum')
  expect(tare('convert', 'm.toy', '-o', 'back.safetensors')).toMatchObject({ status: 0 })
  expect(tare('diff', 'm.toy', 'back.safetensors').status).toBe(0)

  const bytes = readFileSync(join(folder, 'm.toy'))
  bytes[bytes.length - 1]! ^= 1
  writeFileSync(join(folder, 'damaged.toy'), bytes)
  expect(tare('verify', 'damaged.toy')).toMatchObject({ status: 1, stdout: expect.stringContaining('toy/checksum') })
  expect(tare('repair', 'damaged.toy', '-o', 'saved.toy').status).toBe(0)
  expect(JSON.parse(tare('inspect', '--json', 'saved.toy').stdout).tensors).toHaveLength(tensors.length - 1)
  writeFileSync(join(folder, 'cut.toy'), bytes.subarray(0, 20))
  expect(tare('verify', 'cut.toy')).toMatchObject({ status: 1, stdout: expect.stringContaining('toy/index') })
})

test('is in help', () => {
  expect(tare('repair', '--help').stdout).toContain('TOY: of a damaged file')
})
