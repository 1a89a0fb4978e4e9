// Patterns of tokenizer.json: those of published tokenizers are run, those that could run forever are not.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkTokenizer } from '../../../src/families/tokenizers/check-tokenizer.js'
import { knownPatterns } from '../../../src/families/tokenizers/from-gguf/splits.js'
import { patternProblem } from '../../../src/families/tokenizers/patterns.js'

describe('patternProblem', () => {
  it.each([
    String.raw`\p{N}{1,3}`,
    String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+ `,
    String.raw`(?=(\d{3})+(?!\d)) `,
    String.raw`[^[a-z]&&[^\]]]+x`,
    'a'.repeat(100),
    '',
  ])('runs %s', (pattern) => expect(patternProblem(pattern)).toBeUndefined())

  it.each([
    ['(a+)+$', 'several ways|repetition'],
    ['(a|a)*$', 'several ways'],
    ['(a?){40}a{40}', 'too many ways'],
    ['a?'.repeat(40) + 'a'.repeat(40), 'too many ways'],
    ['(a|b|ab)'.repeat(20), 'too many ways'],
    ['((a*)*)*', 'several ways'],
    ['(?:a{1,30}){1,30}b', 'too many ways'],
    ['.*.*.*.*.*x', 'more than 3'],
    ['a{100000}', 'more than 1024'],
    ['('.repeat(100), 'nested'],
    ['(a', 'not closed'],
    ['[a', 'not closed'],
    ['a)', 'not opened'],
    ['x'.repeat(10_000), 'characters'],
  ])('does not run %s', (pattern, why) => expect(patternProblem(pattern)).toMatch(new RegExp(why)))

  it('takes every pattern of the table as harmless, also by its shape', () => {
    for (const pattern of knownPatterns) expect(patternProblem(`${pattern}|€`), pattern).toBeUndefined()
  })

  it('ends for every text', () => {
    const part = fc.constantFrom(
      'a',
      '.',
      '(',
      ')',
      '[',
      ']',
      '*',
      '+',
      '?',
      '{2}',
      '{1,3}',
      '|',
      '\\',
      '\\p{L}',
      '(?:',
    )
    const pattern = fc.array(part, { maxLength: 30 }).map((parts) => parts.join(''))
    const run = (source: string): void => {
      if (patternProblem(source) !== undefined) return
      try {
        'a'.repeat(60).match(new RegExp(source, 'gu'))
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError)
      }
    }
    fc.assert(fc.property(pattern, run), { numRuns: 2000, seed: 7 })
  })
})

describe('checkTokenizer', () => {
  const refused = (tokenizer: Record<string, unknown>): string => {
    try {
      checkTokenizer(tokenizer, (path, message) => {
        throw new Error(`${path}: ${message}`)
      })
      return ''
    } catch (error) {
      return (error as Error).message
    }
  }
  const doubling = { type: 'Replace', pattern: { String: 'a' }, content: 'aa' }
  const sequence = (normalizers: readonly unknown[]) => ({ normalizer: { type: 'Sequence', normalizers } })
  const nested = (depth: number): unknown => (depth === 0 ? null : { type: 'Sequence', decoders: [nested(depth - 1)] })

  it.each<[string, Record<string, unknown>, string]>([
    ['texts that double', sequence(Array(20).fill(doubling)), 'normalizer.normalizers[6]: a text could become'],
    ['too many steps', sequence(Array(100).fill({ type: 'NFC' })), 'more than 64 steps'],
    ['steps that contain steps', { decoder: nested(40) }, 'more than 64 steps, or more than 8 deep'],
    ['references', sequence([{ ...doubling, content: '$&$&' }]), 'refers to what it replaces'],
    ['pieces without length', { pre_tokenizer: { type: 'FixedLength', length: 0 } }, 'pre_tokenizer.length: 0 is not'],
    [
      'long templates',
      { post_processor: { type: 'TemplateProcessing', single: Array(1000) } },
      'post_processor.single',
    ],
    [
      'patterns in a list',
      { pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Split', pattern: { Regex: '(a*)*' } }] } },
      'pre_tokenizer.pretokenizers[0].pattern.Regex: the pattern is not run',
    ],
    ['something else than an object', { decoder: 7 }, 'decoder: an object was expected'],
  ])('refuses %s', (_, tokenizer, message) => expect(refused(tokenizer)).toContain(message))
})
