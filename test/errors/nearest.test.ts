import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { didYouMean, nearest } from '../../src/errors/index.js'

const names = ['layers.0.weight', 'layers.0.bias', 'layers.1.weight', 'embed.weight']

describe('nearest', () => {
  test.each<[string, string[]]>([
    ['layers.0.wieght', ['layers.0.weight', 'layers.1.weight']],
    ['LAYERS.0.BIAS', ['layers.0.bias']],
    ['bias', ['layers.0.bias']],
    ['*bais', ['layers.0.bias']],
    ['embd.*', ['embed.weight']],
    ['nothing like it', []],
    ['', []],
    ['*', []],
  ])('%s', (word, expected) => {
    expect(nearest(word, names)).toEqual(expected)
  })

  test('gives no more than asked for', () => {
    expect(nearest('layers', names, { max: 1 })).toHaveLength(1)
  })

  test('a word that is there is the first', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{4,12}$/), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(
        words,
        fc.nat(),
        (known, i) => nearest(known[i % known.length]!, known)[0] === known[i % known.length],
      ),
    )
  })

  test('one typing error is found', () => {
    const word = fc.stringMatching(/^[a-z]{4,12}$/)
    fc.assert(
      fc.property(word, fc.nat(), (known, i) => {
        const at = i % known.length
        expect(nearest(known.slice(0, at) + known.slice(at + 1), [known])).toEqual([known])
        expect(nearest(`${known.slice(0, at)}0${known.slice(at)}`, [known])).toEqual([known])
      }),
    )
  })

  test('words that are too long are left out', () => {
    expect(nearest('a'.repeat(1_000_000), ['a'])).toEqual([])
    expect(nearest('weight', ['weight'.repeat(1_000_000)])).toEqual([])
  })
})

test('didYouMean makes a sentence of it', () => {
  expect(didYouMean('layers.0.wieght', names)).toBe('; did you mean layers.0.weight or layers.1.weight?')
  expect(didYouMean('nothing like it', names)).toBe('')
})
