import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { strictReport } from '../../../src/errors/index.js'
import { describeJson, parseJson, printJson } from '../../../src/wire/index.js'

const parse = (text: string) => parseJson(new TextEncoder().encode(text), strictReport('test'))

describe('printing JSON', () => {
  it('looks as JSON.stringify makes it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value, null, 2)
        expect(printJson(parse(text))).toBe(text)
      }),
    )
  })

  it('keeps all digits', () => {
    const text = '{\n  "a": [\n    9007199254740993,\n    -18446744073709551617\n  ]\n}'
    expect(printJson(parse(text))).toBe(text)
  })
})

describe('describing JSON', () => {
  it.each([
    ['9007199254740993', '9007199254740993'],
    ['null', 'null'],
    ['1.5', '1.5'],
    ['"a\\"b"', '"a\\"b"'],
    [`"${'x'.repeat(50)}"`, `"${'x'.repeat(40)}…"`],
    ['[]', 'an empty list'],
    ['[1]', 'a list'],
    ['{"a":1}', 'an object'],
  ])('calls %s %s', (text, words) => expect(describeJson(parse(text))).toBe(words))
})
