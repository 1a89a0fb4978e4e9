import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shorten, shortenMiddle, widthOf, wrapWords } from '../../../src/cli/console/width.js'

test.each([
  ['plain', 5],
  ['注意力', 6],
  ['レイヤー', 8],
  ['ﾊﾝｶｸ', 4],
  ['한국어', 6],
  ['🦙', 2],
  ['❤️', 2],
  ['🇩🇪', 2],
  ['e\u0301', 1],
  ['Привет', 6],
])('%s takes %i columns', (text, width) => {
  expect(widthOf(text)).toBe(width)
})

test('text is cut between characters, at the end or in the middle', () => {
  expect([shorten('abc', 3), shorten('abcd', 3), shorten('🦙🦙🦙🦙', 3)]).toEqual(['abc', 'ab…', '🦙…'])
  expect(shortenMiddle('model.layers.0.weight', 11)).toBe('mode…weight')
  expect(shortenMiddle('模型模型模型', 6)).toBe('模…型')
})

test('what is cut always fits', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '.', '模', '🦙', 'e\u0301', '🇩🇪'), maxLength: 40 })
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 50 }), (name, width) => {
      for (const cut of [shorten, shortenMiddle]) {
        expect(widthOf(cut(name, width))).toBeLessThanOrEqual(width)
        if (widthOf(name) <= width) expect(cut(name, width)).toBe(name)
      }
    }),
  )
})

test('lines are broken between words, never inside a number', () => {
  expect(wrapWords('llama, 16 layers, context 131072', 16)).toEqual(['llama, 16', 'layers, context', '131072'])
})
