import { cpSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { isTareError, MemorySource, OpenModel, openModel, TareError } from '../../src/node.js'
import { useTempDir } from '../node/temp-dir.js'

const path = resolve(import.meta.dirname, '../../examples/tiny-mlp.safetensors')
const temp = useTempDir()
const bytes = () => new Uint8Array(readFileSync(path))

it.each([
  ['a path', () => path],
  ['a file address', () => pathToFileURL(path)],
  ['a Blob', () => new Blob([bytes()])],
  ['a File', () => new File([bytes()], 'tiny.safetensors')],
  ['bytes', () => bytes()],
  ['an ArrayBuffer', () => bytes().buffer],
  ['a source', () => new MemorySource(bytes())],
])('opens %s', async (_, input) => {
  const model = await openModel(input())
  expect(model).toBeInstanceOf(OpenModel)
  expect(model.format).toBe('safetensors')
  expect(model.tensor('layers.1.bias').shape).toEqual([10])
  await model.close()
  await model.close()
})

it('opens a directory that holds one model', async () => {
  cpSync(path, temp('model.safetensors'))
  const model = await openModel(temp('.'))
  expect(model.tensors).toHaveLength(4)
  await model.close()
})

it('opens the other files of a model that was given as Files', async () => {
  const index = new File(
    [JSON.stringify({ weight_map: { 'layers.1.bias': 'a.safetensors' } })],
    'm.safetensors.index.json',
  )
  const siblings = [new File([bytes()], 'a.safetensors')]
  expect((await openModel(index, { siblings })).tensor('layers.1.bias').shape).toEqual([10])
})

it('names the nearest tensors when there is none of a name', async () => {
  const model = await openModel(path)
  const error = await Promise.resolve()
    .then(() => model.tensor('layers.0.wieght'))
    .catch((caught: unknown) => caught)
  expect(isTareError(error, 'usage/no-such-tensor')).toBe(true)
  expect((error as TareError).message).toContain('did you mean layers.0.weight')
  await model.close()
})

it('closes at the end of its scope', async () => {
  const model = await openModel(path)
  await model[Symbol.asyncDispose]()
  await expect(model.source.read(9000, 4)).rejects.toBeInstanceOf(Error)
})

it.each([
  [5, 'usage/option'],
  [null, 'usage/option'],
  [new URL('ftp://example.org/m.gguf'), 'usage/option'],
  ['no-such-file', 'io/not-found'],
  [new Uint8Array(), 'open/empty'],
] as const)('refuses %s', async (input, code) => {
  const error = await openModel(input as never).catch((caught: unknown) => caught)
  expect(isTareError(error, code)).toBe(true)
})

it('tells errors apart by their codes', () => {
  const error = new TareError({ code: 'io/denied', severity: 'error', message: 'm', file: 'f' })
  expect(isTareError(error)).toBe(true)
  expect(isTareError(error, 'io/denied')).toBe(true)
  expect(isTareError(error, 'io/failed', 'io/denied')).toBe(true)
  expect(isTareError(error, 'io/failed')).toBe(false)
  expect(isTareError(new Error('io/denied'), 'io/denied')).toBe(false)
})
