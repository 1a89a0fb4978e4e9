// Which type a value gets when none is given.
import { describe, expect, test } from 'vitest'
import { asFloat } from '../../src/kit.js'
import { pack, valuesOf } from './support.js'

describe('metadata', () => {
  test.each<[unknown, string, unknown?]>([
    [0, 'u8'],
    [255, 'u8'],
    [256, 'u16'],
    [65536, 'u32'],
    [2 ** 32, 'u64', 2n ** 32n],
    [2n ** 64n - 1n, 'u64'],
    [-1, 'i8'],
    [-129, 'i16'],
    [-32769, 'i32'],
    [-(2 ** 31) - 1, 'i64', -(2n ** 31n) - 1n],
    [-(2n ** 63n), 'i64'],
    [0.5, 'f32'],
    [0.1, 'f32', Math.fround(0.1)],
    [asFloat(1), 'f32', 1],
    [Number.POSITIVE_INFINITY, 'f32'],
    [true, 'bool'],
    ['clamp up', 'str'],
    ['NaN', 'str'],
    [{ value: 'NaN', dtype: 'f64' }, 'f64', Number.NaN],
    [{ value: 3, dtype: ' F16 ' }, 'f16', 3],
    [{ value: 3, dtype: 'i64' }, 'i64', 3n],
    [{ value: -1, dtype: 't1' }, 't1', -1],
    [{ value: 1, dtype: 'bool' }, 'bool', true],
    [{ value: 'x', dtype: 'str' }, 'str', 'x'],
    [{ value: 1.9, dtype: 'f8' }, 'f8_e5m2', 2],
  ])('%o is %s', async (value, type, stored) => {
    const { metadata } = await pack({ metadata: { key: value } })
    expect(metadata.get('key')).toEqual({ type, value: stored === undefined ? value : stored })
  })

  test.each<[unknown, string, number[]]>([
    [[1, 2, 3], 'i8', [3]],
    [[1, -200], 'i16', [2]],
    [[70000], 'i32', [1]],
    [[2 ** 40], 'i64', [1]],
    [[2n ** 63n], 'u64', [1]],
    [[1.5, 2], 'f32', [2]],
    [[asFloat(1)], 'f32', [1]],
    [[], 'f32', [0]],
    [[[], []], 'f32', [2, 0]],
    [[true, false], 'bool', [2]],
    [
      [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
      'i8',
      [3, 2],
    ],
    [Float64Array.of(0.1), 'f64', [1]],
    [BigInt64Array.of(0n, 1n), 'i64', [2]],
    [{ value: [1, 2], dtype: 'u4' }, 'u4', [2]],
    [{ value: 7, dtype: 'i16', shape: [] }, 'i16', []],
    [{ value: [1, 2, 3, 4], shape: [2, 2] }, 'i8', [2, 2]],
    [['NaN', 1], 'f32', [2]],
  ])('%o is an array', async (value, dtype, shape) => {
    const found = (await pack({ metadata: { key: value } })).metadata.get('key')!
    expect(found.type === 'ndarray' && [found.dtype.id, found.shape]).toEqual([dtype, shape])
  })

  test('bitsets keep their length, bit 0 lowest', async () => {
    const { metadata } = await pack({
      metadata: { text: { bitset: '100101110' }, list: { bitset: [true, 0, 1, false] }, none: { bitset: '' } },
    })
    expect([...metadata.values()]).toEqual([
      { type: 'bitset', bits: 9, value: Uint8Array.of(0xe9, 0) },
      { type: 'bitset', bits: 4, value: Uint8Array.of(5) },
      { type: 'bitset', bits: 0, value: new Uint8Array(0) },
    ])
  })
})

test.each<[unknown, string, number[], unknown[]]>([
  [[1, 2], 'i64', [2], [1n, 2n]],
  [[2n ** 63n], 'u64', [1], [2n ** 63n]],
  [[1, 0.1], 'f64', [2], [1, 0.1]],
  [[[true], [false]], 'bool', [2, 1], [true, false]],
  [[], 'f64', [0], []],
  [5, 'i64', [], [5n]],
  [{ data: 5, dtype: 'f32' }, 'f32', [], [5]],
  [{ data: 'NaN' }, 'f64', [], [Number.NaN]],
  [Float32Array.of(0.5), 'f32', [1], [0.5]],
  [{ data: Float32Array.of(0.1), dtype: 'f64' }, 'f64', [1], [Math.fround(0.1)]],
  [{ data: Uint8Array.of(1, 2), shape: [2, 1], dtype: 'i4' }, 'i4', [2, 1], [1, 2]],
  [{ data: [1], dtype: 10 }, 'f32', [1], [1]],
  [{ data: [1], dtype: 13 }, 'bitset', [1], [1]],
  [{ data: [1], dtype: 16 }, 'bf16', [1], [1]],
  [{ data: [1], dtype: 25n }, 't1', [1], [1]],
  [{ data: [-2, 1], dtype: 'I2' }, 'i2', [2], [-2, 1]],
  [{ data: [1, 0], dtype: 'bool' }, 'bool', [2], [true, false]],
  [{ data: [255], dtype: 'bitset' }, 'bitset', [1], [255]],
])('the tensor %o', async (entry, dtype, shape, values) => {
  const model = await pack({ tensors: { t: entry } })
  expect([model.tensors.at(0)!.dtype.id, model.tensors.at(0)!.shape]).toEqual([dtype, shape])
  expect(await valuesOf(model, 't')).toEqual(values)
})

const { Float16Array } = globalThis as { Float16Array?: { of(...values: number[]): ArrayBufferView } }
test.skipIf(!Float16Array)('a typed array of f16 keeps its type', async () => {
  const model = await pack({ tensors: { t: Float16Array!.of(1.5, -2) } })
  expect(model.tensors.at(0)!.dtype.id).toBe('f16')
  expect(await valuesOf(model, 't')).toEqual([1.5, -2])
})

test('a typed array that is a view keeps to its part', async () => {
  const model = await pack({ tensors: { t: Float32Array.of(1, 2, 3, 4).subarray(1, 3) } })
  expect(await valuesOf(model, 't')).toEqual([2, 3])
})
