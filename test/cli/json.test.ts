import { expect, test } from 'vitest'
import { toJsonLine } from '../../src/cli/json.js'

test('integers beyond 2^53-1 are decimal strings', () => {
  const values = { small: 5n, most: 9007199254740991n, more: 9007199254740992n, less: -9007199254740992n }
  expect(toJsonLine(values)).toBe(
    '{"small":5,"most":9007199254740991,"more":"9007199254740992","less":"-9007199254740992"}\n',
  )
})

test('NaN and the infinities are strings', () => {
  expect(toJsonLine([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1.5])).toBe(
    '["NaN","Infinity","-Infinity",1.5]\n',
  )
})

test('maps become objects in their order, whatever their keys', () => {
  const map = new Map<string, unknown>([
    ['b', 1],
    ['__proto__', { x: 1 }],
    ['constructor', 2n],
  ])
  expect(toJsonLine({ metadata: map })).toBe('{"metadata":{"b":1,"__proto__":{"x":1},"constructor":2}}\n')
})

test('bytes are lists of numbers', () => {
  expect(toJsonLine(Uint8Array.of(1, 2))).toBe('[1,2]\n')
})

test('one line, with nothing that a terminal obeys', () => {
  expect(toJsonLine({ name: '\x1b\n\x9b\u202e\u2028\ud800' })).toBe(
    '{"name":"\\u001b\\n\\u009b\\u202e\\u2028\\ud800"}\n',
  )
})
