import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { globMatcher } from '../../src/transforms/glob.js'
import { parseRename } from '../../src/transforms/select.js'

fc.configureGlobal({ seed: 5 })

/** What a pattern means, said in another way: fine for short names. */
function byExpression(pattern: string): (name: string) => boolean {
  const body = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  const expression = new RegExp(`^${body}$`, 'su')
  return (name) => expression.test(name)
}

describe('globMatcher', () => {
  it.each<[string, string, boolean]>([
    ['', '', true],
    ['', 'a', false],
    ['*', '', true],
    ['*', 'a.b\nc', true],
    ['a*', 'a', true],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['*.weight', 'blk.0.weight', true],
    ['*.weight', 'blk.0.weights', false],
    ['blk.*.attn*', 'blk.12.attn_q', true],
    ['*ab*ab*', 'abab', true],
    ['*aba*ab', 'abab', false],
    ['a?c', 'a😀c', true],
    ['a?c', 'ac', false],
    ['*?', '', false],
    ['**', 'x', true],
    ['a**b', 'ab', true],
    ['(a)+[b]$', '(a)+[b]$', true],
    ['a.c', 'abc', false],
    ['A*', 'abc', false],
  ])('%j takes %j: %s', (pattern, name, isTaken) => {
    expect(globMatcher(pattern)(name)).toBe(isTaken)
  })

  it('means what an expression of the same form means', () => {
    const text = (...units: string[]) => fc.string({ unit: fc.constantFrom(...units), maxLength: 12 })
    fc.assert(
      fc.property(text('a', 'b', '*', '?', '😀'), text('a', 'b', '😀'), (pattern, name) => {
        expect(globMatcher(pattern)(name)).toBe(byExpression(pattern)(name))
      }),
      { numRuns: 20_000 },
    )
  })

  it('does not go back: names of a million characters are no more than long', () => {
    const name = 'a'.repeat(1_000_000)
    for (const star of ['*', '?*']) {
      const pattern = `${`a${star}`.repeat(50)}b`
      expect([globMatcher(pattern)(name), globMatcher(pattern)(`${name}b`)]).toEqual([false, true])
    }
  })
})

describe('rename rules', () => {
  it('are not tried on names that would take them forever', () => {
    const rename = parseRename('s/.*\\.x/y/')
    expect(rename('a.x')).toBe('y')
    expect(rename('a'.repeat(10_000))).toHaveLength(10_000)
    expect(() => rename('a'.repeat(1_000_000))).toThrow(expect.objectContaining({ code: 'usage/option' }))
  })
})
