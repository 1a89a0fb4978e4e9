import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { editJournalFor } from '../../../src/kit-node.js'
import { writeJournal } from '../../../src/node/files/edit-journal.js'
import { useTempDir } from '../../node/temp-dir.js'
import { runCli as tare } from '../run-cli.js'

const at = useTempDir()
const fixture = (name: string): string => new URL(`../../../fixtures/${name}`, import.meta.url).pathname

/** The digests of all tensors, without their names. */
async function digests(path: string): Promise<string[]> {
  const { tensors } = JSON.parse((await tare('hash', '--json', path)).stdout)
  return tensors.map(({ digest }: { digest: string }) => digest).sort()
}

async function metadata(path: string): Promise<Record<string, { value: unknown }>> {
  return JSON.parse((await tare('inspect', '--json', path)).stdout).metadata
}

async function makeModel(...flags: string[]): Promise<string> {
  const path = at('m.safetensors')
  const { status, stderr } = await tare('convert', fixture('gguf/types-plain.gguf'), '-o', path, ...flags)
  expect([status, stderr]).toEqual([0, expect.any(String)])
  return path
}

test('with slack it changes the file where it is and says so', async () => {
  const path = await makeModel('--header-slack', '4K')
  const before = [await digests(path), statSync(path).size]
  const dry = await tare('edit', path, '--set', 'author=me', '--dry-run')
  expect(dry.stdout).toMatch(/add author = "me"\n.*would be changed in place: [\d,]+ bytes in 1 place/)
  const { status, stdout, stderr } = await tare('edit', path, '--set', 'author=me')
  expect([status, stdout]).toEqual([0, ''])
  expect(stderr).toMatch(/changed in (place|a copy that shares the weights): [\d,]+ bytes in 1 place/)
  expect([await digests(path), statSync(path).size]).toEqual(before)
  expect((await metadata(path)).author!.value).toBe('me')
  expect((await tare('verify', path)).status).toBe(0)
  expect(readdirSync(at())).toEqual(['m.safetensors'])
})

test('without slack it rewrites the file and says so', async () => {
  const path = await makeModel()
  const before = await digests(path)
  const { stdout } = await tare('edit', '--json', path, '--set', `author=${'x'.repeat(300)}`)
  expect(JSON.parse(stdout)).toMatchObject({ how: 'rewritten', format: 'safetensors', output: path, dryRun: false })
  expect(await digests(path)).toEqual(before)
  const again = await tare('edit', path, '--set', 'notes=x', '--header-slack', '2K', '--rewrite')
  expect(again.stderr).toContain('rewritten')
  expect(JSON.parse((await tare('edit', '--json', path, '--unset', 'notes')).stdout).how).not.toBe('rewritten')
  expect((await tare('verify', path)).status).toBe(0)
})

test('an ONNX model whose weights lie in another file is edited where it is, or beside it', async () => {
  for (const name of ['model.onnx', 'weights.bin']) copyFileSync(fixture(`onnx/external-one/${name}`), at(name))
  const before = await digests(at('model.onnx'))
  const edited = await tare('edit', at('model.onnx'), '--rename-tensor', 'a=renamed', '--set', 'author=me')
  expect([edited.status, edited.stdout]).toEqual([0, ''])
  expect(await digests(at('model.onnx'))).toEqual(before)
  expect((await metadata(at('model.onnx'))).author!.value).toBe('me')
  expect((await tare('edit', at('model.onnx'), '--set', 'a=b', '-o', at('other.onnx'))).status).toBe(0)
  expect(await digests(at('other.onnx'))).toEqual(before)
  mkdirSync(at('below'))
  const elsewhere = await tare('edit', at('model.onnx'), '--set', 'a=b', '-o', at('below/other.onnx'))
  expect([elsewhere.status, elsewhere.stderr]).toEqual([
    expect.any(Number),
    expect.stringContaining('the same directory'),
  ])
})

test('an edit that changes nothing writes nothing', async () => {
  const path = await makeModel()
  const { mtimeMs } = statSync(path)
  expect((await tare('edit', path, '--set', 'general.architecture=llama')).stderr).toContain('nothing was written')
  expect(statSync(path).mtimeMs).toBe(mtimeMs)
})

test('-o leaves the input as it is', async () => {
  const path = await makeModel('--header-slack', '4K')
  const before = readFileSync(path)
  const flags = ['--rename-tensor', 'blk.0.f32.weight=renamed', '-o', at('out.safetensors')]
  expect((await tare('edit', path, ...flags)).status).toBe(0)
  expect(readFileSync(path).equals(before)).toBe(true)
  expect(await digests(at('out.safetensors'))).toEqual(await digests(path))
  expect((await tare('inspect', at('out.safetensors'))).stdout).toContain('renamed')
  expect((await tare('edit', path, ...flags, '--no-overwrite')).status).toBe(2)
  expect((await tare('edit', path, '--set', 'a=b', '-o', path)).status).toBe(2)
})

test('what cannot be done leaves the file as it is', async () => {
  const path = await makeModel()
  const before = readFileSync(path)
  const status = async (...flags: string[]): Promise<number> => (await tare('edit', path, ...flags)).status
  expect(await status()).toBe(2)
  expect(await status('--unset', 'nobody')).toBe(2)
  expect(await status('--rename-tensor', 'nobody=x')).toBe(2)
  expect(await status('--rename-tensor', 'blk.0.f32.weight=blk.0.f16.weight')).toBe(1)
  expect((await tare('edit', '-', '--set', 'a=b')).status).toBe(2)
  expect(readFileSync(path).equals(before)).toBe(true)
})

test('a model of several files is not edited where it is', async () => {
  mkdirSync(at('split'))
  for (const name of readdirSync(fixture('gguf/split'))) copyFileSync(fixture(`gguf/split/${name}`), at('split', name))
  const { status, stderr } = await tare('edit', at('split'), '--set', 'general.name=x')
  expect([status, stderr]).toEqual([1, expect.stringContaining('it has 3 files')])
  expect((await tare('edit', at('split'), '--set', 'general.name=x', '-o', at('one.gguf'))).status).toBe(0)
  expect((await metadata(at('one.gguf')))['general.name']!.value).toBe('x')
})

test('the files beside a model are left alone', async () => {
  mkdirSync(at('model'))
  copyFileSync(await makeModel('--header-slack', '4K'), at('model', 'model.safetensors'))
  writeFileSync(at('model', 'config.json'), '{}')
  expect((await tare('edit', at('model'), '--set', 'author=me')).status).toBe(0)
  expect((await tare('edit', at('model'), '--set', 'author=you', '--rewrite')).status).toBe(0)
  expect(Object.keys(await metadata(at('model', 'model.safetensors')))).toContain('author')
  expect(readdirSync(at('model')).sort()).toEqual(['config.json', 'model.safetensors'])
})

test('what an interrupted edit has left is refused by readers and undone by the next edit', async () => {
  const path = await makeModel('--header-slack', '4K')
  const before = readFileSync(path)
  const record = { offset: 20, old: before.subarray(20, 40), new: new Uint8Array(20) }
  writeJournal(path, { oldSize: before.byteLength, newSize: before.byteLength, records: [record] })
  const half = Buffer.from(before)
  half.fill(0, 20, 30)
  writeFileSync(path, half)
  const refused = await tare('inspect', path)
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('tare edit')])
  const { status, stderr } = await tare('edit', path)
  expect([status, stderr]).toEqual([0, expect.stringContaining('back to what it was before')])
  expect(readFileSync(path).equals(before)).toBe(true)
  expect(readdirSync(at())).not.toContain(editJournalFor(path))
})

test('an output is not called like a file of another format', async () => {
  const path = await makeModel()
  const { status, stderr } = await tare('edit', path, '--set', 'author=me', '-o', at('m.gguf'))
  expect([status, stderr]).toEqual([
    2,
    expect.stringContaining('the format stays safetensors, but this name says gguf'),
  ])
  expect(readdirSync(at())).toEqual(['m.safetensors'])
  expect((await tare('edit', path, '--set', 'author=me', '-o', at('m.copy'))).status).toBe(0)
})
