import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import { npyHeader } from '../../../src/wire/npy/header.js'
import { useTempDir } from '../../node/temp-dir.js'
import { runCli as tare } from '../run-cli.js'

const at = useTempDir()
const description = (): string => at('model.json')
const put = (name: string, content: unknown): string => {
  const text = typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content)
  writeFileSync(at(name), text)
  return at(name)
}
const npy = Buffer.concat([npyHeader('f32', [2]), new Uint8Array(Float32Array.of(1, 2).buffer)])

beforeEach(() => {
  put('model.json', { tensors: { w: { file: 'w.npy' }, b: [0.5] }, metadata: { mode: 'x' } })
  put('w.npy', npy)
})

/** Complaints of a run that must not write anything. */
async function refused(...args: string[]): Promise<[number, string]> {
  const before = readdirSync(at()).toSorted()
  const { status, stdout, stderr } = await tare('pack', ...args)
  expect(stdout).toBe('')
  expect(readdirSync(at()).toSorted()).toEqual(before)
  return [status, stderr]
}

describe('writes', () => {
  test('a file, and says what', async () => {
    const { status, stdout, stderr } = await tare('pack', description(), '-o', at('out.safetensors'))
    expect([status, stdout]).toEqual([0, ''])
    expect(stderr).toContain('safetensors, 2 tensors')
    const { tensors, metadata } = JSON.parse((await tare('inspect', '--json', at('out.safetensors'))).stdout)
    expect(tensors).toMatchObject([
      { name: 'b', dtype: 'f64' },
      { name: 'w', dtype: 'f32', shape: [2] },
    ])
    expect(metadata).toEqual({ mode: { type: 'str', value: 'x' } })
  })

  test('the same bytes each time', async () => {
    for (const name of ['1.oinf', '2.oinf']) expect((await tare('pack', description(), '-o', at(name))).status).toBe(0)
    expect(readFileSync(at('1.oinf')).equals(readFileSync(at('2.oinf')))).toBe(true)
  })

  test('one JSON object with a bare --json', async () => {
    const { status, stdout, stderr } = await tare('pack', description(), '-o', at('out.safetensors'), '--json')
    expect([status, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toMatchObject({
      file: description(),
      format: 'description',
      target: 'safetensors',
      loss: 'none',
      files: [{ name: at('out.safetensors') }],
    })
  })

  test('with the options of the format', async () => {
    expect((await tare('pack', description(), '-o', at('out.oinf'), '--oinf-version', '2')).status).toBe(0)
    expect(JSON.parse((await tare('inspect', '--json', at('out.oinf'))).stdout).version).toBe('2')
  })

  test('nothing with --dry-run', async () => {
    const { status, stdout } = await tare('pack', description(), '--to', 'safetensors', '--dry-run')
    expect([status, stdout]).toEqual([0, expect.stringContaining('description → safetensors')])
    expect(existsSync(at('model.safetensors'))).toBe(false)
    const plan = await tare('pack', description(), '--to', 'safetensors', '--dry-run', '--json')
    expect(JSON.parse(plan.stdout)).toMatchObject({ loss: 'none', allowed: true })
  })
})

describe('modules', () => {
  test('export descriptions and functions, by name or by default', async () => {
    const module = put(
      'm.mjs',
      `export const Fixed = { tensors: { w: [1] } }
       export default async ({ n = 1 }) => ({ tensors: { w: new Float32Array(n) } })`,
    )
    const data = put('data.json', { n: 3 })
    const shapeOf = async (...args: string[]): Promise<unknown> => {
      expect((await tare('pack', ...args, '-o', at('o.safetensors'))).status).toBe(0)
      return JSON.parse((await tare('inspect', '--json', at('o.safetensors'))).stdout).tensors[0].shape
    }
    expect(await shapeOf(`${module}#Fixed`)).toEqual([1])
    expect(await shapeOf(module)).toEqual([1])
    expect(await shapeOf(`${module}#`, '--data', data)).toEqual([3])
    expect(await shapeOf(`${module}#Fixed`, '--json', put('w.json', { w: [1, 2, 3, 4] }))).toEqual([4])
    expect(await shapeOf(`${module}#Fixed`, '--data', put('w.yaml', 'w: [1, 2]'))).toEqual([2])
  })

  test('export classes, which are made with the fields', async () => {
    const module = put(
      'c.mjs',
      `export class Layer {
         constructor({ D = 2 }) { this.sizevars = { D }; this.tensors = { w: { shape: ['D'], data: new Float32Array(D) } } }
       }`,
    )
    const data = put('data.json', { D: 3 })
    expect((await tare('pack', `${module}#Layer`, '--json', data, '-o', at('c.oinf'))).status).toBe(0)
    expect((await tare('show', at('c.oinf'))).stdout).toMatch(/^D := 3\n\nw: f32\[3\] = /)
  })

  test('a # elsewhere in a name is part of it', async () => {
    const odd = put('a#b.json', { tensors: { w: [1] } })
    expect((await tare('pack', odd, '-o', at('o.safetensors'))).status).toBe(0)
  })

  test.each<[string, string, string]>([
    ['#None', 'export const Some = {}', 'there is no export "None"; it exports Some'],
    ['', 'export const Some = {}', 'there is no export "default"; it exports Some'],
    ['#Some', 'export const Some = () => { throw new Error("oh") }', 'the module failed: oh'],
    ['#Some', 'export const Some = 5', 'expected an object with sizevars, metadata and tensors, not 5'],
    ['#Some', 'export const Some = (', 'the module failed'],
    ['#Some', 'export const Some = class {}', ', not an object of type Some'],
    ['#Some', 'export class Some { constructor() { throw new Error("oh") } }', 'the module failed: oh'],
  ])('%s of %s', async (name, text, words) => {
    const module = put('bad.mjs', text)
    expect(await refused(`${module}${name}`, '-o', at('o.oinf'))).toEqual([1, expect.stringContaining(words)])
  })
})

describe('refuses', () => {
  test('a mistake in the description, with its field', async () => {
    put('model.json', { tensors: { w: { dtype: 'i8', data: [1, 300] } } })
    const [status, stderr] = await refused(description(), '-o', at('o.oinf'))
    expect([status, stderr]).toEqual([
      1,
      `tare: ${description()} tensors.w.data[1]: 300 does not fit i8 (pack/value-range)\n`,
    ])
    const { status: again, stdout } = await tare('pack', description(), '-o', at('o.oinf'), '--json')
    expect([again, JSON.parse(stdout)]).toEqual([
      1,
      {
        file: description(),
        format: null,
        error: { code: 'pack/value-range', message: '300 does not fit i8', offset: null, path: 'tensors.w.data[1]' },
      },
    ])
  })

  test('a value in a file that does not fit, and leaves nothing behind', async () => {
    put('model.json', { tensors: { w: { file: 'w.npy', dtype: 'u1' } } })
    const [status, stderr] = await refused(description(), '-o', at('o.oinf'))
    expect([status, stderr]).toEqual([1, expect.stringContaining('tensors.w.file: element 1: 2 does not fit u1')])
  })

  test.each([['../w.npy'], ['/etc/passwd'], ['C:\\w.npy'], ['sub/../../w.npy'], ['a\0b']])(
    'to leave the folder: %j',
    async (file) => {
      put('model.json', { tensors: { w: { file, dtype: 'u8', shape: [1] } } })
      const [status, stderr] = await refused(description(), '-o', at('o.oinf'))
      expect([status, stderr]).toEqual([1, expect.stringContaining('leads out of')])
      expect(stderr).toContain('tensors.w.file')
    },
  )

  test.each(['', '.', './'])('%j as the name of a data file', async (file) => {
    put('model.json', { tensors: { w: { file } } })
    const [status, stderr] = await refused(description(), '-o', at('out.oinf'))
    expect(status).toBe(1)
    expect(stderr).toContain('tensors.w.file')
    expect(stderr).toContain('this is not a file name')
  })

  test('a link out of the folder; --root widens it', async () => {
    mkdirSync(at('sub'))
    symlinkSync(at('w.npy'), at('sub', 'link.npy'))
    put('sub/d.json', { tensors: { w: { file: 'link.npy' } } })
    expect(await refused(at('sub', 'd.json'), '-o', at('o.oinf'))).toEqual([
      1,
      expect.stringContaining('a link that leads out of'),
    ])
    put('sub/d.json', { tensors: { w: { file: 'sub/link.npy' } } })
    expect((await tare('pack', at('sub', 'd.json'), '--root', at(), '-o', at('o.oinf'))).status).toBe(0)
  })

  test('to write over what it reads', async () => {
    put('model.json', { tensors: { w: { file: 'w.npy' } } })
    for (const output of ['w.npy', 'model.json', 'data.json']) {
      put('data.json', {})
      const [status, stderr] = await refused(description(), '--json', at('data.json'), '-o', at(output), '--to', 'oinf')
      expect([status, stderr]).toEqual([2, expect.stringContaining('this is the input itself')])
    }
    put('old.oinf', 'old')
    expect((await refused(description(), '-o', at('old.oinf'), '--no-overwrite'))[0]).toBe(2)
    expect(readFileSync(at('old.oinf'), 'utf8')).toBe('old')
  })

  test('loss, unless it is allowed', async () => {
    put('model.json', { sizevars: { D: 1 }, tensors: { w: [1] } })
    const to = ['--to', 'primitiv']
    const [status, stderr] = await refused(description(), '-o', at('o.model'), ...to)
    expect([status, stderr]).toEqual([1, expect.stringContaining('write/loss-refused')])
    expect((await tare('pack', description(), '-o', at('o.model'), ...to, '--allow-loss')).status).toBe(0)
    expect((await tare('pack', description(), ...to, '--dry-run')).status).toBe(1)
  })

  test.each<[string[], number, string]>([
    [['none.json', '-o', 'x.oinf'], 2, 'none.json'],
    [['.', '-o', 'x.oinf'], 2, 'this is a directory'],
    [['none.json'], 2, 'name the output with -o'],
    [['none.json', '-o', 'x.xyz'], 2, 'add --to with one of'],
    [['none.json', '-o', 'x', '--to', 'nothing'], 2, 'there is no format "nothing"'],
    [['none.json', '-o', '-', '--to', 'oinf', '--json'], 2, 'both write to standard output'],
    [['none.json', '-o', 'x.oinf', '--json', 'a', '--data', 'b'], 2, 'give one of them'],
    [['--json', 'none.json', '-o', 'x.oinf'], 2, 'missing required argument'],
  ])('%j', async (args, status, words) => {
    expect(await refused(...args)).toEqual([status, expect.stringContaining(words)])
  })

  test('an output that cannot be written', async () => {
    expect((await refused(description(), '-o', at('w.npy', 'x.oinf')))[0]).toBe(2)
  })
})
