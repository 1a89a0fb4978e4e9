// Descriptions as JSON and YAML text.
import { describe, expect, test } from 'vitest'
import { asFloat, parseDescription, TareError } from '../../src/kit.js'
import { parseYamlDescription } from '../../src/node/pack/pack-yaml.js'
import { refusalOf } from './support.js'

const json = (text: string) => parseDescription(new TextEncoder().encode(text), 'd.json')
const yaml = (text: string) => parseYamlDescription(new TextEncoder().encode(text), 'd.yaml')

describe.each([
  ['JSON', json],
  ['YAML', yaml],
])('%s', (_, parse) => {
  test('tells integers from floats and keeps large integers', () => {
    expect(parse('{"a": 1, "b": 1.0, "c": 18446744073709551615, "d": -1.5e0, "e": 1e3}')).toEqual(
      new Map<string, unknown>([
        ['a', 1],
        ['b', asFloat(1)],
        ['c', 18446744073709551615n],
        ['d', -1.5],
        ['e', asFloat(1000)],
      ]),
    )
  })

  test('marks one float per list', () => {
    expect(parse('[1.0, 2.0, 3]')).toEqual([asFloat(1), 2, 3])
    expect(parse('[1.0, 2.5, 3]')).toEqual([1, 2.5, 3])
  })

  test('takes __proto__ for a name', () => {
    const root = parse('{"__proto__": {"x": null}}') as Map<string, unknown>
    expect([...root.keys()]).toEqual(['__proto__'])
  })

  test.each([['{"a": 1, "a": 2}'], ['{"a": 1'], ['[1, 2'], ['{"a": 1e999}'], [`${'['.repeat(200)}${']'.repeat(200)}`]])(
    'refuses %s',
    (text) => {
      expect(() => parse(text)).toThrow(TareError)
    },
  )

  test('refuses what is not UTF-8', () => {
    const bytes = Uint8Array.of(0x22, 0xff, 0x22)
    expect(() => parseDescription(bytes, 'x')).toThrow(TareError)
    expect(() => parseYamlDescription(bytes, 'x')).toThrow(TareError)
  })
})

describe('YAML', () => {
  test('reads its own notation', () => {
    expect(yaml('a: .nan\nb: -.inf\nc: 0x10\nd: no\ne: ~\nf: &x [1, 2]\ng: *x\n')).toEqual(
      new Map<string, unknown>([
        ['a', Number.NaN],
        ['b', Number.NEGATIVE_INFINITY],
        ['c', 16],
        ['d', 'no'],
        ['e', null],
        ['f', [1, 2]],
        ['g', [1, 2]],
      ]),
    )
  })

  test.each([
    ['a: !!binary aGk=', 'binary'],
    ['a: !mine 5', 'mine'],
    ['a: !!int "5"', 'tag'],
    ['1: x', 'put it in quotes'],
    ['? [a]\n: x', 'put it in quotes'],
    ['a: 1\n---\nb: 2', 'document'],
    ['a: *x', 'x'],
    ['a: 1\na: 2', 'unique'],
  ])('refuses %j', async (text, words) => {
    const refusal = await refusalOf(() => yaml(text))
    expect(refusal.code).toBe('pack/yaml')
    expect(refusal.message).toContain(words)
    expect(refusal.message).toMatch(/^line \d+, column \d+: /)
  })

  test('does not merge: << is a name like any other', () => {
    expect(yaml('a: {<<: {b: 1}}')).toEqual(new Map([['a', new Map([['<<', new Map([['b', 1]])]])]]))
  })

  test('does not let aliases multiply', async () => {
    const lines = ['a0: &a0 [1, 1]']
    for (let i = 1; i < 10; i++)
      lines.push(
        `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      )
    expect((await refusalOf(() => yaml(lines.join('\n')))).message).toContain('more than 100 aliases')
  })

  test('an anchor inside itself ends', async () => {
    expect((await refusalOf(() => yaml('a: &a [*a]'))).code).toBe('pack/yaml')
  })

  test.each([
    ['lists', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['lists that never end', '['.repeat(1_000_000)],
    ['mappings', '{a: '.repeat(100_000)],
    ['dashes', '- '.repeat(100_000)],
    ['questions', '? '.repeat(100_000)],
    ['indents', Array.from({ length: 1000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
    ['lists behind a name', `a: ${'['.repeat(129)}${']'.repeat(129)}`],
  ])('is not nested without end: %s', async (_, text) => {
    const { code, message } = await refusalOf(() => yaml(text))
    expect([code, message]).toEqual(['pack/yaml', expect.stringContaining('nested too deeply')])
  })

  test('may be nested as deeply as anybody needs', () => {
    expect(yaml(`a: ${'['.repeat(120)}${']'.repeat(120)}`)).toBeInstanceOf(Map)
  })

  test('takes one document', async () => {
    const error = await refusalOf(() => yaml('metadata: {}\n---\nmetadata: {}\n'))
    expect(error).toMatchObject({
      code: 'pack/yaml',
      message: expect.stringContaining('line 2, column 1: here a second document'),
    })
  })

  test('says where', async () => {
    const error = await refusalOf(() => yaml('größe: 1\nb: !x 2\n'))
    expect(error.message).toMatch(/^line 2, column 4: /)
  })
})
