import { describe, expect, test } from 'vitest'
import { parseDescription } from '../../src/kit.js'
import { pack, refusalOf } from './support.js'

const sizevars = { B: 2, D: 3, 'a*b': 4, big: 2n ** 63n }
const shaped = (shape: unknown, data: unknown = null) =>
  pack({ sizevars, tensors: { t: { dtype: 'f32', shape, data } } })

describe('dimensions', () => {
  test.each<[unknown[], number[]]>([
    [
      ['B', 'D'],
      [2, 3],
    ],
    [['B*D'], [6]],
    [
      ['2*D * B', 5],
      [12, 5],
    ],
    [['a*b'], [4]],
    [
      ['7', 0],
      [7, 0],
    ],
    [[], []],
  ])('%j is %j', async (shape, dims) => {
    expect((await shaped(shape)).tensors.at(0)!.shape).toEqual(dims)
  })

  test.each<[unknown, string, string]>([
    [['E'], 'tensors.t.shape[0]', 'there is no size variable "E"; declared are B, D, a*b, big'],
    [['B', 'B*'], 'tensors.t.shape[1]', 'there is no size variable ""'],
    [[-1], 'tensors.t.shape[0]', 'not -1'],
    [[1.5], 'tensors.t.shape[0]', 'not 1.5'],
    [[null], 'tensors.t.shape[0]', 'not null'],
    [['big'], 'tensors.t.shape[0]', '9223372036854775808, more than 2^53-1'],
    [['big*big'], 'tensors.t.shape[0]', 'more than 2^53-1'],
  ])('%j is refused', async (shape, path, words) => {
    const refusal = await refusalOf(() => shaped(shape))
    expect(refusal).toMatchObject({ code: 'pack/dimension', path })
    expect(refusal.message).toContain(words)
  })

  test('a whole float is a whole number', async () => {
    const model = await pack(
      parseDescription(
        new TextEncoder().encode('{"sizevars":{"B":2.0},"tensors":{"t":{"shape":["B",1.0],"data":[1,2]}}}'),
        'd',
      ),
    )
    expect(model.tensors.at(0)!.shape).toEqual([2, 1])
  })

  test('without size variables a name says so', async () => {
    const { message } = await refusalOf(() => pack({ tensors: { t: { shape: ['B'], data: [1] } } }))
    expect(message).toContain('none is declared')
  })
})

describe('shape and data', () => {
  test('a flat list takes the shape that is stated', async () => {
    expect((await shaped(['B', 'D'], [1, 2, 3, 4, 5, 6])).tensors.at(0)!.shape).toEqual([2, 3])
    expect((await shaped([0, 3], [])).tensors.at(0)!.shape).toEqual([0, 3])
  })

  test.each<[unknown[], unknown, string, string]>([
    [
      ['B', 'D'],
      [
        [1, 2],
        [3, 4],
      ],
      'tensors.t.shape[1]',
      'dimension 1 is 2, but D is 3',
    ],
    [['B', 3], [[1, 2, 3]], 'tensors.t.shape[0]', 'dimension 0 is 1, but B is 2'],
    [[2], [1, 2, 3], 'tensors.t.shape[0]', 'dimension 0 is 3, but 2 is stated'],
    [['B', 'D'], [1, 2, 3], 'tensors.t.shape', 'the data has the shape [3], but [2, 3] is stated'],
    [[1], 5, 'tensors.t.shape', 'the data has the shape [], but [1] is stated'],
  ])('%j does not go with %j', async (shape, data, path, words) => {
    const refusal = await refusalOf(() => shaped(shape, data))
    expect(refusal).toMatchObject({ code: 'pack/shape-mismatch', path })
    expect(refusal.message).toContain(words)
  })
})

test('size variables become a part that other formats understand', async () => {
  const { parts } = await pack({ sizevars: { B: 2, big: 2n ** 64n - 1n, ['__proto__']: 1 } })
  expect(parts).toMatchObject([{ kind: 'size-variables', sharing: 'shared' }])
  expect(JSON.stringify(parts[0]!.value)).toBe('{"B":2,"big":"18446744073709551615","__proto__":1}')
  expect(parts[0]!.content).toEqual(
    new Map([
      ['B', 2n],
      ['big', 2n ** 64n - 1n],
      ['__proto__', 1n],
    ]),
  )
  expect((await pack({})).parts).toEqual([])
})

test.each([[-1], [2n ** 64n], [1.5], ['4'], [true], [[4]]])('%s is not a size', async (value) => {
  expect(await refusalOf(() => pack({ sizevars: { N: value } }))).toMatchObject({
    code: 'pack/size-value',
    path: 'sizevars.N',
  })
})
