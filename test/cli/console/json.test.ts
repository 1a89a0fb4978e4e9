import { expect, test } from 'vitest'
import { JsonList, jsonPieces, toJsonLine } from '../../../src/cli/console/json.js'
import type { Plan, PlanAction } from '../../../src/convert/plan.js'

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

test('what comes in pieces is the same line', () => {
  const items = Array.from({ length: 5000 }, (_, i) => ({
    name: `t\u202e${i}`,
    shape: [i, 2],
    bytes: i,
    none: undefined,
  }))
  const odd = [
    { scale: Number.NaN },
    { big: 2n ** 60n },
    { map: new Map([['a', 1]]) },
    'text',
    null,
    undefined,
    [1n],
    5,
  ]
  for (const value of [{ a: 1, items, b: { c: 2n } }, { items: [...items, ...odd] }, { skipped: undefined, items }]) {
    expect([...jsonPieces(value)].join('')).toBe(toJsonLine(value))
  }
  for (const value of [{ a: 1 }, [1, 2], 'text', null]) expect([...jsonPieces(value)]).toEqual([toJsonLine(value)])
})

test('a list that is made while it is printed has any length', () => {
  const pieces = [...jsonPieces({ file: 'x', items: new JsonList(20_000, (i) => ({ i })) })]
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(70_000)
  expect(JSON.parse(pieces.join(''))).toEqual({ file: 'x', items: Array.from({ length: 20_000 }, (_, i) => ({ i })) })
  expect([...jsonPieces({ items: new JsonList(0, () => null) })].join('')).toBe('{"items":[]}\n')
})

test('a plan is printed action by action', () => {
  const actions = Array.from(
    { length: 5000 },
    (_, i): PlanAction => ({
      subject: 'tensor',
      name: `blk.${i}.é`,
      action: i % 3 === 0 ? 'cast' : 'copy',
      loss: 'none',
    }),
  )
  const source = { file: 'a.gguf', format: 'gguf' }
  const plan: Plan = {
    ...{ source, target: 'aero', actions: actions, notes: [], loss: 'none', unrequestedLoss: 'none', size: 1 },
    ...{ files: [], peakMemory: 2 },
  }
  const pieces = [...jsonPieces({ ...plan })]
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(70_000)
  expect(pieces.join('')).toBe(toJsonLine({ ...plan, actions }))
})
