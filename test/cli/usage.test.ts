import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { formatItem, wrapLines } from '../../src/cli/help.js'
import { flagTerms, withBareValues } from '../../src/cli/parser.js'
import { convert } from '../../src/cli/verbs/convert/index.js'
import { verbs } from '../../src/cli/verbs/index.js'
import { runCli as tare } from './run-cli.js'

describe('help', () => {
  const about = 'the number of workers, where the scheduler tells only which one this is'

  test('puts descriptions below their options on narrow terminals', () => {
    expect(formatItem('--parts <n>', 22, about, 80)).toMatch(/^ {2}--parts <n> {13}the number .*\n {26}\S/)
    const narrow = formatItem('--parts <n>', 22, about, 50).split('\n')
    expect(narrow.slice(0, 2)).toEqual(['  --parts <n>', '      the number of workers, where the scheduler'])
    expect(Math.max(...narrow.map((line) => line.length))).toBeLessThanOrEqual(50)
  })

  test('wraps paragraphs, and lists with what continues an item indented', () => {
    expect(wrapLines('one two three\n\n  four five six', 10)).toBe('one two\nthree\n\n  four\n    five\n    six')
  })

  test('lists every verb', async () => {
    const { status, stdout, stderr } = await tare('--help')
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout.replace(/\s+/g, ' ')).toContain(
      'a directory that holds one model, an http, s3, gs or hf address, or - for',
    )
    for (const { name, summary } of verbs) expect(stdout.replace(/\s+/g, ' ')).toContain(`${name} ${summary}`)
  })

  test('without a verb it goes to standard error, with status 2', async () => {
    const { status, stdout, stderr } = await tare()
    expect([status, stdout]).toEqual([2, ''])
    for (const title of new Set(verbs.map(({ group }) => group))) expect(stderr).toContain(`\n${title}:`)
  })

  test.each(verbs)('of $name has its options and an example', async ({ name, flags, examples }) => {
    const { status, stdout } = await tare(name, '--help')
    expect(status).toBe(0)
    const terms = Object.entries(flags).flatMap(([flag, row]) => flagTerms(flag, row))
    expect(terms.length).toBeGreaterThan(0)
    for (const [term] of terms) expect(stdout).toContain(term)
    const [words] = stdout.split('\nExamples:')
    expect(Math.max(...words!.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(examples.length).toBeGreaterThan(0)
    for (const [line] of examples) {
      expect(line).toMatch(new RegExp(`^tare ${name} `))
      expect(stdout).toContain(line)
    }
  })
})

test('help of convert is grouped, daily options first', async () => {
  const { stdout } = await tare('convert', '--help')
  const headings = stdout.split('\n').filter((line) => /^[A-Z].*:$/.test(line))
  expect(headings.slice(0, 5)).toEqual(['Arguments:', 'Options:', 'Quantizing:', 'Tensors:', 'Metadata and files:'])
  expect(headings).toEqual(
    expect.arrayContaining(['Input:', 'Output:', 'Remote:', 'For AERO, AEROSET:', 'Exit status:']),
  )
  expect(stdout).toContain('\n\nConvert any format to any other, streaming; what would be lost is named first.\n')
})

describe('wrong usage gives status 2 and says what would be right', () => {
  test.each<[string[], string]>([
    [['inspct', 'x'], 'Did you mean inspect?'],
    [['inspect', '--tre', 'x'], 'Did you mean --tree?'],
    [['inspect'], "missing required argument 'input'"],
    [['inspect', '--sort', 'colour', 'x'], 'Allowed are size, name, offset.'],
    [['inspect', '--limit', 'ten', 'x'], 'Expected a whole number.'],
    [['inspect', '--from', 'nothing', 'x'], 'there is no format "nothing"; known are'],
    [['hash', '--algorithm', 'md5', 'x'], 'Allowed are blake3, sha256, crc32.'],
    [['hash', '--check', 'none', 'x'], 'tare: none cannot be read: no such file or directory\n'],
    [['hash', '--check', '-', '-'], 'standard input can be read only once'],
    [['verify', '--receipt', 'none', 'x'], 'tare: none cannot be read: no such file or directory\n'],
    [['verify', '--receipt', import.meta.dirname, 'x'], 'cannot be read: illegal operation on a directory\n'],
    [['map', '--at', 'end', 'x'], 'Expected a byte offset'],
    [['extract', 'x', 'w'], 'name the output with -o'],
    [['extract', 'x', 'w', '-o', '-', '--json'], 'both write to standard output'],
    [['convert', 'x'], 'name the output with -o'],
    [['convert', 'x', '-o', 'y', '--shard-size', '2XB'], 'such as 2GB, 64K or 1MiB'],
    [['convert', 'x', '-o', 'y', '--to', 'nothing'], 'there is no format "nothing"'],
    [['convert', 'x', '-o', 'y', '--rename', 'a/b'], 's/old/new/'],
    [['convert', 'x', '-o', 'y', '--set', 'key'], 'Expected key=value'],
    [['convert', 'x', 'z', '-o', 'y'], 'several inputs need a directory'],
    [['convert', 'one/x.gguf', 'two/x.npz', '-o', './', '--to', 'mcf'], 'one/x.gguf and two/x.npz would have the same'],
    [['verify', '-', '-'], 'standard input can be read only once'],
    [['verify', 'az://bucket/x'], 'az addresses are not opened'],
  ])('%j', async (args, words) => {
    const { status, stdout, stderr } = await tare(...args)
    expect(stderr).toContain(words)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).not.toMatch(/^ +at /m)
  })
})

describe('inputs that do not open', () => {
  test('are named, the run goes on, and the status is 2', async () => {
    const { status, stdout, stderr } = await tare('verify', 'none-1', 'none-2')
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr.split('\n')).toEqual([expect.stringContaining('none-1'), expect.stringContaining('none-2'), ''])
  })

  test('are lines of JSON with --json', async () => {
    const { status, stdout, stderr } = await tare('inspect', '--json', 'none-1', 'none-2')
    expect([status, stderr]).toEqual([2, ''])
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toEqual(
      ['none-1', 'none-2'].map((file) => ({
        file,
        format: null,
        error: { code: 'io/not-found', message: expect.any(String), offset: null, path: null },
      })),
    )
  })

  test('say in JSON which file it was, where it was not the input', async () => {
    const sample = new URL('../../examples/tiny-mlp.safetensors', import.meta.url).pathname
    const errorOf = async (...args: string[]) => JSON.parse((await tare(...args, '--json')).stdout)
    const output = join(new URL(import.meta.url).pathname, 'out.gguf')
    expect(await errorOf('convert', sample, '-o', output)).toMatchObject({
      file: sample,
      error: {
        code: 'io/failed',
        file: new URL(import.meta.url).pathname,
        message: expect.stringContaining('directory'),
      },
    })
    expect(await errorOf('convert', sample, '-o', 'x.gguf', '--merge', 'none')).toMatchObject({
      error: { file: 'none' },
    })
    expect((await errorOf('convert', sample, '-o', 'x.gguf', '--cast', 'f99')).error).not.toHaveProperty('file')
  })

  test('have their names escaped', async () => {
    const { stderr } = await tare('inspect', 'no\x1b[31mne')
    expect(stderr).toContain('no\\x1b[31mne')
    expect(stderr).not.toContain('\x1b')
  })
})

test.each([
  [['no\x1b[31mverb']],
  [['inspect', '--no\x1b[31mflag', 'x']],
  [['inspect', '--limit', 'no\x1b[31mnumber', 'x']],
])('words of the command line are escaped in what is said about them: %j', async (args) => {
  const { status, stderr } = await tare(...args)
  expect([status, stderr]).toEqual([2, expect.stringContaining('no\\x1b[31m')])
  expect(stderr).not.toContain('\x1b')
})

test('an option with an optional value takes the next word only when it is one of its choices', () => {
  const filled = (...args: string[]): string[] => withBareValues(args, convert.flags)
  expect(filled('convert', '--allow-loss', 'model.gguf')).toEqual(['convert', '--allow-loss=all', 'model.gguf'])
  expect(filled('convert', 'a', '--allow-loss')).toEqual(['convert', 'a', '--allow-loss=all'])
  expect(filled('convert', '--allow-loss', 'precision', 'a')).toEqual(['convert', '--allow-loss', 'precision', 'a'])
  expect(filled('convert', '--allow-loss=none', 'a')).toEqual(['convert', '--allow-loss=none', 'a'])
})
