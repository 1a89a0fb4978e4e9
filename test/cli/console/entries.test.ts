import { describe, expect, test } from 'vitest'
import { formatEntry } from '../../../src/cli/console/format-entry.js'

describe('metadata entries', () => {
  test.each([
    ['f32', Math.fround(0.1), '0.1'],
    ['f32', Math.fround(1e-5), '0.00001'],
    ['f32', 16_777_216, '16777216'],
    ['f64', 0.1 + 0.2, '0.30000000000000004'],
    ['str', 'a', '"a"'],
  ])('%s %s is shown as %s', (type, value, text) => {
    expect(formatEntry({ type, value })).toEqual([type, text])
  })

  test('the digits of a float are enough to tell it from its neighbours', () => {
    for (const value of [Math.fround(1 / 3), Math.fround(1e30), 1.401298464324817e-45, Math.fround(0.1 + 1e-8)])
      expect(Math.fround(Number(formatEntry({ type: 'f32', value })[1]))).toBe(value)
  })

  test('lists show their items the same way', () => {
    const value = [Math.fround(0.1), Math.fround(0.2)]
    expect(formatEntry({ type: 'array', item: 'f32', length: 3, value })).toEqual(['f32[3]', '[0.1, 0.2, …]'])
  })
})
