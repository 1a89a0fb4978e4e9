// What is written is read back as the same, and in the bytes that Python writes.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { strictReport } from '../../../src/errors/index.js'
import {
  PickleDict,
  PickleGlobal,
  PickleList,
  PickleObject,
  PickleReference,
  type PickleValue,
  readPickle,
} from '../../../src/wire/pickle/pickle.js'
import { writePickle } from '../../../src/wire/pickle/write.js'

const read = (bytes: Uint8Array): PickleValue => readPickle(bytes, strictReport('x'), { path: 'x' }).value
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** As data that can be compared. */
function shown(value: PickleValue): unknown {
  if (value instanceof PickleList) return [value.kind, ...value.items.map(shown)]
  if (value instanceof PickleDict) return ['dict', ...[...value.entries()].map((entry) => entry.map(shown))]
  if (value instanceof PickleGlobal) return value.fullName
  if (value instanceof PickleReference) return ['reference', shown(value.id)]
  if (!(value instanceof PickleObject)) return value
  const { callee, args, items, entries, state } = value
  return ['call', shown(callee), shown(args), items.map(shown), shown(entries), state === undefined ? [] : shown(state)]
}

const { value: anyValue } = fc.letrec<{ value: PickleValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
    fc.double(),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 5 }).map((items) => new PickleList('list', items)),
    fc.array(tie('value'), { maxLength: 5 }).map((items) => new PickleList('tuple', items)),
    fc.array(fc.tuple(fc.string(), tie('value')), { maxLength: 5 }).map((entries) => {
      const dict = new PickleDict()
      for (const [key, value] of entries) dict.set(key, value)
      return dict
    }),
    fc.array(tie('value'), { maxLength: 3 }).map((args) => {
      const object = new PickleObject(new PickleGlobal('m', 'f', 0), new PickleList('tuple', args), 0)
      for (const [i, arg] of args.entries()) {
        object.items.push(arg)
        object.entries.set(`k${i}`, arg)
      }
      if (args.length > 1) object.state = args[0]!
      return object
    }),
  ),
}))

describe('a written pickle', () => {
  it('is read as what was written', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(shown(read(writePickle(value)))).toEqual(shown(value))
      }),
    )
  })

  it('has the opcodes of Python', () => {
    const dict = new PickleDict()
    dict.set('a', new PickleList('list', [1n, 300n, -2n, 70_000n, 2n ** 40n]))
    dict.set('b', new PickleList('tuple', [null, true, 1.5, 'a']))
    // pickle.dumps({'a': [1, 300, -2, 70000, 2**40], 'b': (None, True, 1.5, 'a')}, 2)
    const python =
      '80027d7100285801000000617101' +
      '5d7102284b014d2c014afeffffff4a701101008a06000000000001' +
      '655801000000627103284e88473ff800000000000068017471' +
      '04752e'
    expect(hex(writePickle(dict))).toBe(python)
  })

  it.each([0, 1, 2, 999, 1000, 1001, 2000])('keeps %i entries in batches', (count) => {
    const dict = new PickleDict()
    for (let i = 0; i < count; i++) dict.set(`k${i}`, BigInt(i))
    const object = new PickleObject(new PickleGlobal('collections', 'OrderedDict', 0), new PickleList('tuple', []), 0)
    for (const [key, value] of dict.entries()) object.entries.set(key, value)
    const list = new PickleList(
      'list',
      [...dict.entries()].map(([, value]) => value),
    )
    for (const value of [dict, object, list]) expect(shown(read(writePickle(value)))).toEqual(shown(value))
  })

  it('refers to what occurs again, also inside itself', () => {
    const list = new PickleList('list', [])
    list.items.push(list, 'x')
    const again = read(writePickle(new PickleList('list', [list, list]))) as PickleList
    expect(again.items[0]).toBe(again.items[1])
    expect((again.items[0] as PickleList).items[0]).toBe(again.items[0])
  })

  it('spells bytes, sets and halves of surrogate pairs as protocol 2 has to', () => {
    const bytes = read(writePickle(Uint8Array.of(0, 0x80, 0xff))) as PickleObject
    expect([bytes.className, (bytes.args as PickleList).items]).toEqual(['_codecs.encode', ['\0\x80\xff', 'latin1']])
    const set = read(writePickle(new PickleList('set', [1n]))) as PickleObject
    expect(set.className).toBe('__builtin__.set')
    expect(read(writePickle('a\ud800b'))).toBe('a\ud800b')
  })
})
