import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { escapeJson, escapeName, escapeText } from '../../../src/cli/console/escape.js'

/** Every code unit that must not reach a terminal, lone surrogates apart. */
const hidden = [
  ...Array.from({ length: 0x20 }, (_, i) => i),
  ...Array.from({ length: 0x21 }, (_, i) => 0x7f + i),
  ...[0xad, 0x61c, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029],
  ...[0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2066, 0x2067, 0x2068, 0x2069, 0xfeff, 0xe0001, 0xe0041],
]

const isClean = (text: string): boolean =>
  [...text].every((character) => {
    const code = character.codePointAt(0)!
    return !hidden.includes(code) && !(code >= 0xd800 && code < 0xe000)
  })

const nasty = fc.oneof(
  fc.constantFrom(...hidden).map((code) => String.fromCodePoint(code)),
  fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit)),
  fc.constantFrom('\\', 'x', '1', 'b', 'u', '2', '0', 'e', 'n', '{', '}'),
  fc.string({ unit: 'binary', maxLength: 3 }),
)
const names = fc.array(nasty, { maxLength: 8 }).map((parts) => parts.join(''))

test.each([
  ['blk.0.attn_q.weight', 'blk.0.attn_q.weight'],
  ['Grüße 世界 🦙 é', 'Grüße 世界 🦙 é'],
  ['\x1b]52;c;aGk=\x07', '\\x1b]52;c;aGk=\\x07'],
  ['a\u202eb', 'a\\u202eb'],
  ['a\u200bb', 'a\\u200bb'],
  ['\x9b31m', '\\x9b31m'],
  ['a\nb\tc\r', 'a\\nb\\tc\\r'],
  ['\ud800x', '\\ud800x'],
  ['\u{e0041}', '\\u{e0041}'],
  ['a\\nb', 'a\\\\nb'],
])('the name %j is shown as %s', (name, shown) => {
  expect(escapeName(name)).toBe(shown)
})

describe('for any name', () => {
  test('nothing that a terminal obeys gets through', () => {
    fc.assert(
      fc.property(names, (name) => isClean(escapeName(name)) && isClean(escapeText(name))),
      { numRuns: 2000 },
    )
  })

  test('different names look different', () => {
    const pairs = fc.property(names, names, (a, b) => a === b || escapeName(a) !== escapeName(b))
    fc.assert(pairs, { numRuns: 5000 })
  })

  test('JSON stays what it was, and is clean', () => {
    const property = fc.property(names, (name) => {
      const json = JSON.stringify({ [name]: name })
      const escaped = escapeJson(json)
      expect(JSON.parse(escaped)).toEqual(JSON.parse(json))
      expect(isClean(escaped)).toBe(true)
    })
    fc.assert(property, { numRuns: 1000 })
  })
})

test('every code point that Unicode calls control or format is hidden', () => {
  const leaked: number[] = []
  for (let code = 0; code < 0x110000; code++) {
    const character = String.fromCodePoint(code)
    if (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(character) && escapeText(character) === character) leaked.push(code)
  }
  expect(leaked).toEqual([])
})
