import { describe, expect, it } from 'vitest'
import { Memo } from '../../../src/wire/pickle/memo.js'

const ops = (...parts: (string | number)[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...part].map((c) => c.charCodeAt(0)))))

describe('what a pickle puts aside', () => {
  const filled = (bytes: Uint8Array): unknown[] => {
    const memo = new Memo(bytes)
    for (let i = 0; i < 4; i++) memo.set(i, `value ${i}`)
    expect(memo.size).toBe(4)
    return [0, 1, 2, 3].map((i) => memo.get(i))
  }

  it('is kept when it is read back, and counted in any case', () => {
    expect(filled(ops('h', 2, '.'))).toEqual([undefined, undefined, 'value 2', undefined])
    expect(filled(ops('j', 1, 0, 0, 0, '.'))).toEqual([undefined, 'value 1', undefined, undefined])
  })

  it('is all kept when a text says what is read back', () => {
    expect(filled(ops('g2\n.'))).toEqual(['value 0', 'value 1', 'value 2', 'value 3'])
  })

  // The bytes `h`, 3 are data here, and the entry that is read back comes behind them.
  it.each([
    ['a short text', ops(0x8c, 2, 'h', 3)],
    ['a text', ops('X', 2, 0, 0, 0, 'h', 3)],
    ['a long text', ops(0x8d, 2, 0, 0, 0, 0, 0, 0, 0, 'h', 3)],
    ['bytes', ops('C', 2, 'h', 3)],
    ['a line', ops('Ih\n')],
    ['two lines', ops('ch\nh\n')],
    ['an integer', ops('Jh', 3, 'h', 3)],
    ['a float', ops('Gh', 3, 'h', 3, 'h', 3, 'h', 3)],
    ['a frame', ops(0x95, 'h', 3, 'h', 3, 0, 0, 0, 0)],
  ])('is not taken from %s', (_, data) => {
    expect(filled(ops(...data, 'h', 0, '.'))).toEqual(['value 0', undefined, undefined, undefined])
  })

  it.each([ops('X', 2), ops('h'), ops('c'), ops(0x8d, 255, 255, 255, 255, 255, 255, 255, 255), ops('j', 1)])(
    'ends where the pickle does',
    (bytes) => expect(new Memo(bytes).get(0)).toBeUndefined(),
  )
})
