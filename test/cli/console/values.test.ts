import { describe, expect, test } from 'vitest'
import {
  formatAmount,
  formatBytes,
  formatDuration,
  formatSize,
  formatValue,
  plural,
} from '../../../src/cli/console/format-values.js'
import {
  parseAssignment,
  parseCount,
  parseOffset,
  parsePositive,
  parseSize,
} from '../../../src/cli/flags/parse-values.js'
import { UsageError } from '../../../src/cli/status.js'

describe('sizes', () => {
  test.each([
    ['1', 1],
    ['512b', 512],
    ['64K', 65_536],
    ['64KiB', 65_536],
    ['64kb', 64_000],
    ['1MiB', 1_048_576],
    ['2GB', 2_000_000_000],
    ['2 GB', 2_000_000_000],
    ['1.5g', 1_610_612_736],
    ['1TB', 1_000_000_000_000],
  ])('%s is %i bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes)
  })

  test.each(['', 'GB', '0', '-1', '1e3', '2XB', '1,5G', '99999999999T', 'NaN', '0x10', 'constructor', '1constructor'])(
    '%j is not a size',
    (text) => {
      expect(() => parseSize(text)).toThrow(UsageError)
    },
  )

  test.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.00 KiB'],
    [1536, '1.50 KiB'],
    [10_240, '10.0 KiB'],
    [102_400, '100 KiB'],
    [1_048_575, '1.00 MiB'],
    [1_610_614_807, '1.50 GiB'],
    [2 ** 53 - 1, '8.00 PiB'],
  ])('%i bytes read as %s', (bytes, text) => {
    expect(formatSize(bytes)).toBe(text)
  })

  test('exact bytes stand beside a rounded size', () => {
    expect([formatBytes(1), formatBytes(828), formatBytes(5192)]).toEqual([
      '1 byte',
      '828 bytes',
      '5.07 KiB (5,192 bytes)',
    ])
  })
})

test('amounts are decimal', () => {
  expect([77, 999, 1000, 999_999, 6_738_415_616].map(formatAmount)).toEqual(['77', '999', '1.00 K', '1.00 M', '6.74 B'])
})

test.each([
  [0, '0:00'],
  [7.4, '0:07'],
  [59.6, '1:00'],
  [760, '12:40'],
  [11_100, '3:05:00'],
])('%d seconds are %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text)
})

test.each([
  [0, '0'],
  [-0, '-0'],
  [12, '12'],
  [3.14259, '3.143'],
  [-28_803_123, '-2.88e+7'],
  [0.000012345, '1.234e-5'],
  [null, '-'],
])('the value %d is shown as %s', (value, text) => {
  expect(formatValue(value)).toBe(text)
})

test('one thing, many things', () => {
  expect([plural(1, 'tensor'), plural(0, 'tensor'), plural(1234, 'byte')]).toEqual([
    '1 tensor',
    '0 tensors',
    '1,234 bytes',
  ])
})

describe('numbers', () => {
  test('offsets are decimal or hexadecimal', () => {
    expect([parseOffset('456'), parseOffset('0x1c8'), parseOffset('0X1C8')]).toEqual([456, 456, 456])
  })

  test.each(['', '-1', '1c8', '0x', '9007199254740992', '1.5'])('%j is no offset', (text) => {
    expect(() => parseOffset(text)).toThrow(UsageError)
  })

  test('counts are whole, and some must not be 0', () => {
    expect([parseCount('0'), parseCount('25'), parsePositive('1')]).toEqual([0, 25, 1])
    for (const text of ['', '-1', '1.5', 'ten', '1e3']) expect(() => parseCount(text)).toThrow(UsageError)
    expect(() => parsePositive('0')).toThrow(UsageError)
  })
})

test('an assignment is cut at its first equals sign', () => {
  expect(parseAssignment('a=b=c')).toEqual(['a', 'b=c'])
  expect(parseAssignment('a=')).toEqual(['a', ''])
  for (const text of ['a', '=b', '']) expect(() => parseAssignment(text)).toThrow(UsageError)
})
