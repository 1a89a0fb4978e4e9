// Receipts of conversions, written and checked through the command line.
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { useTempDir } from '../../node/temp-dir.js'
import { runCli as tare } from '../run-cli.js'

const at = useTempDir()
const sample = join(import.meta.dirname, '../../../examples', 'tiny-mlp.safetensors')
const json = async (...args: string[]) => JSON.parse((await tare(...args, '--json')).stdout)

beforeEach(() => copyFileSync(sample, at('a.safetensors')))

const convert = (...more: string[]) =>
  tare('convert', at('a.safetensors'), '-o', at('b.oinf'), '--receipt', at('r.json'), ...more)
const verify = (...more: string[]) => tare('verify', '--receipt', at('r.json'), at('b.oinf'), ...more)

describe('convert --receipt', () => {
  test('says what became of each tensor', async () => {
    expect((await convert('--cast', 'f16', '--exclude', '*.bias')).status).toBe(0)
    const receipt = JSON.parse(readFileSync(at('r.json'), 'utf8'))
    expect(receipt.source.fingerprint).toBe((await json('hash', at('a.safetensors'))).fingerprint)
    expect(receipt.output.fingerprint).toBe((await json('hash', at('b.oinf'))).fingerprint)
    expect(receipt.tensors.map((each: { loss: string }) => each.loss)).toEqual([
      'precision',
      'content',
      'precision',
      'content',
    ])
    expect(receipt.source.files[0]).toMatchObject({ name: 'a.safetensors', size: readFileSync(sample).byteLength })
  })

  test('is named in the JSON', async () => {
    const { stdout } = await convert('--json')
    expect(JSON.parse(stdout)).toMatchObject({ receipt: at('r.json') })
  })

  test('writes none when the conversion is refused, or only planned', async () => {
    expect(
      (await tare('convert', at('a.safetensors'), '-o', at('b.npz'), '--no-stow', '--receipt', at('r.json'))).status,
    ).toBe(1)
    expect((await convert('--dry-run')).status).toBe(0)
    expect(existsSync(at('r.json'))).toBe(false)
  })

  test.each<[string, (at: (name: string) => string) => string[], string]>([
    ['several inputs', (p) => [p('a.safetensors'), p('a.safetensors'), '-o', p('')], 'one input'],
    ['standard output', (p) => [p('a.safetensors'), '-o', '-', '--to', 'oinf'], 'standard output'],
    ['its own name', (p) => [p('a.safetensors'), '-o', p('r.json'), '--to', 'oinf'], 'different names'],
  ])('refuses %s', async (_, args, words) => {
    const { status, stderr } = await tare('convert', ...args(at), '--receipt', at('r.json'))
    expect([status, stderr]).toEqual([2, expect.stringContaining(words)])
  })

  test('does not replace the input, and needs a place to go', async () => {
    const over = await tare('convert', at('a.safetensors'), '-o', at('b.oinf'), '--receipt', at('a.safetensors'))
    expect(over.status).toBe(2)
    expect(readFileSync(at('a.safetensors'))).toEqual(readFileSync(sample))
    const nowhere = await tare('convert', at('a.safetensors'), '-o', at('b.oinf'), '--receipt', at('no', 'r.json'))
    expect(nowhere.status).toBe(2)
    expect((await tare('convert', at('a.safetensors'), '-o', at('b.oinf'), '--receipt', at(''))).status).toBe(2)
    copyFileSync(sample, at('more.safetensors'))
    const merged = ['--merge', at('more.safetensors'), '--receipt', at('more.safetensors')]
    expect((await tare('convert', at('a.safetensors'), '-o', at('b.oinf'), ...merged)).status).toBe(2)
    expect(readFileSync(at('more.safetensors'))).toEqual(readFileSync(sample))
    // All of it is known before anything is written.
    expect(existsSync(at('b.oinf'))).toBe(false)
  })
})

describe('verify --receipt', () => {
  test('says what is wrong with a file that is no receipt', async () => {
    writeFileSync(at('r.json'), 'x')
    const { status, stderr } = await tare('verify', '--receipt', at('r.json'), at('a.safetensors'))
    expect([status, stderr]).toEqual([2, expect.stringContaining('r.json: not JSON: ')])
  })

  test('is content with both sides as they were', async () => {
    await convert('--rename', 's/layers/blocks/')
    const { status, stdout } = await verify('--source', at('a.safetensors'))
    expect(status).toBe(0)
    expect(stdout).toContain(': ok — oinf, 4 tensors')
    expect(stdout).toContain('checked, against the receipt and its source')
  })

  test('finds damage that the format cannot show', async () => {
    await convert()
    const bytes = readFileSync(at('b.oinf'))
    bytes[bytes.length - 1] = bytes.at(-1)! ^ 1
    writeFileSync(at('b.oinf'), bytes)
    expect((await tare('verify', at('b.oinf'))).status).toBe(0)
    const found = await json('verify', '--receipt', at('r.json'), at('b.oinf'))
    expect(found).toMatchObject({
      verdict: 'errors',
      findings: expect.arrayContaining([
        expect.objectContaining({ code: 'receipt/digest', offset: expect.any(Number) }),
      ]),
    })
    expect((await verify()).status).toBe(1)
  })

  test('finds a source that is another one', async () => {
    await convert()
    await tare('convert', at('a.safetensors'), '-o', at('c.safetensors'), '--exclude', '*.bias')
    const { status, stdout } = await verify('--source', at('c.safetensors'))
    expect([status, stdout]).toEqual([1, expect.stringContaining('receipt/missing')])
  })

  test.each<[string, string[], string]>([
    ['no receipt', ['--receipt', 'none.json'], 'none.json'],
    ['something else', ['--receipt', sample], 'not JSON'],
    ['a quick look', ['--receipt', sample, '--quick'], '--quick'],
    ['a source alone', ['--source', sample], '--receipt'],
  ])('refuses %s', async (_, args, words) => {
    const { status, stderr } = await tare('verify', sample, ...args)
    expect([status, stderr]).toEqual([2, expect.stringContaining(words)])
  })
})
