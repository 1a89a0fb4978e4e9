// The verbs for texts: tokenize and embed.
import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { useTempDir } from '../../node/temp-dir.js'
import { fixturePath } from '../../support/fixtures.js'
import { runCli as tare } from '../run-cli.js'

const at = useTempDir()
const stream = fixturePath('embd', 'stream-tiny-bert-1layer.bin')
const sectioned = fixturePath('embd', 'sect-tiny-bert-1layer.weights')
const records = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('tokenize', () => {
  test('shows tokens above their ids', async () => {
    const { status, stdout, stderr } = await tare('tokenize', stream, 'the foxes run', 'a \x1b[2J')
    expect([status, stderr]).toEqual([0, ''])
    const [title, tokens, ids, second] = stdout.split('\n')
    expect(title).toBe('the foxes run  6 tokens')
    expect(tokens).toBe('  [CLS]  the  fox  ##es  run  [SEP]')
    expect(ids).toBe('  2      5    6    7     11   3')
    expect(second).toContain('\\x1b[2J')
    expect(stdout).not.toContain('\x1b')
  })

  test('gives one JSON object per text', async () => {
    const flags = ['--json', '--profile', 'reference', '--max-length', '8']
    const { status, stdout } = await tare('tokenize', ...flags, stream, 'the foxes run', 'quick')
    expect(status).toBe(0)
    expect(records(stdout)).toEqual([
      {
        file: stream,
        format: 'embd',
        text: 'the foxes run',
        profile: 'reference',
        tokenizer: 'WordPiece',
        ids: [2, 5, 6, 7, 11, 3, 0, 0],
        tokens: ['[CLS]', 'the', 'fox', '##es', 'run', '[SEP]'],
        count: 6,
        cut: 0,
      },
      expect.objectContaining({ text: 'quick', tokens: ['[CLS]', '[UNK]', '[SEP]'] }),
    ])
  })

  test.each([[], ['--profile', 'original'], ['--profile', 'bert']])(
    'calls the profile as embed does (%s %s)',
    async (...flags) => {
      const { stdout } = await tare('tokenize', '--json', ...flags, stream, 'fox')
      expect(records(stdout)).toMatchObject([{ profile: 'original' }])
    },
  )

  test('says what was cut, and fits lines to the width', async () => {
    const { stdout } = await tare('tokenize', '--max-length', '4', stream, 'the foxes run')
    expect(stdout).toContain('4 tokens, 2 cut off')
    const long = await tare('tokenize', stream, 'the foxes run '.repeat(40))
    for (const line of long.stdout.trimEnd().split('\n')) expect(line.length).toBeLessThanOrEqual(120)
  })

  test('takes texts from a file and another vocabulary', async () => {
    writeFileSync(at('texts.txt'), 'a\r\n\nfox')
    writeFileSync(at('vocab.txt'), '[UNK]\n[CLS]\n[SEP]\n[PAD]\nfox\n')
    const { stdout } = await tare(
      'tokenize',
      '--json',
      '--file',
      at('texts.txt'),
      '--vocab',
      at('vocab.txt'),
      stream,
      'x',
    )
    expect(records(stdout).map(({ text, ids }) => [text, ids])).toEqual([
      ['x', [1, 0, 2]],
      ['a', [1, 0, 2]],
      ['', [1, 2]],
      ['fox', [1, 4, 2]],
    ])
  })
})

describe('embed', () => {
  test('shows the beginning of each vector', async () => {
    const { status, stdout, stderr } = await tare('embed', sectioned, 'the foxes run', 'A fox')
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('vector of 8 values')
    expect(stdout).toMatch(/the foxes run +6 +-?0\.\d{4} .*…\n/)
  })

  test('gives whole vectors as JSON, in both layouts and both profiles', async () => {
    const flags = ['--json', '--heads', '2', '--max-length', '8']
    const vectors = async (...more: string[]): Promise<number[][]> =>
      records((await tare('embed', ...flags, ...more, 'the foxes run', 'A fox')).stdout).map(({ vector }) => vector)
    const [first, second] = await vectors('--profile', 'reference', stream)
    expect(first![0]).toBeCloseTo(0.100969513, 5)
    expect(second![0]).toBeCloseTo(0.0765978844, 5)
    const original = await vectors(stream)
    expect(Math.abs(original[0]![0]! - first![0]!)).toBeGreaterThan(1e-3)
    const raw = await vectors('--profile', 'reference', '--no-normalize', stream)
    expect(raw[0]![0]).toBeCloseTo(0.224782317, 5)
  })

  test('compares texts', async () => {
    const { stdout } = await tare('embed', '--heads', '2', '--similarity', stream, 'a', 'a', 'the foxes run')
    expect(stdout).toMatch(/^ {2}1 {2}1\.0000 {2}1\.0000 {2}0\.\d{4} {2}a$/m)
    const json = await tare('embed', '--heads', '2', '--similarity', '--json', stream, 'a', 'fox')
    const [a, b] = records(json.stdout)
    expect([a.similarity[0], a.similarity[1]]).toEqual([1, b.similarity[0]])
    writeFileSync(at('many.txt'), `${'fox\n'.repeat(11)}the\n`)
    const many = await tare('embed', '--heads', '2', '--similarity', '--file', at('many.txt'), stream)
    expect(many.stdout).toMatch(/^ {2}fox +1\.0000 {2}fox$/m)
  })

  test('says that texts were cut', async () => {
    const { stderr } = await tare('embed', '--heads', '2', stream, 'the foxes run '.repeat(9))
    expect(stderr).toContain('1 text longer than 8 tokens')
  })

  test.each<[number, string, string[]]>([
    [1, 'embed/heads', [stream, 'fox']],
    [2, 'usage/option', [stream, '--heads', '3', 'fox']],
    [2, 'usage/option', [stream, '--heads', '2', '--max-length', '999', 'fox']],
    [1, 'embed/not-an-encoder', [fixturePath('embd', 'sect-utf8.weights'), 'fox']],
    [2, 'give texts', [stream]],
    [2, 'cannot be read', [stream, '--file', 'none']],
    [2, 'cannot be read', [stream, '--heads', '2', '--vocab', 'none', 'fox']],
    [2, 'only once', ['-', '--file', '-']],
  ])('fails with status %i and %s', async (status, words, args) => {
    const ran = await tare('embed', ...args)
    expect([ran.status, ran.stdout]).toEqual([status, ''])
    expect(ran.stderr).toContain(words)
    expect(ran.stderr).not.toMatch(/^ +at /m)
  })
})
