// Every mistake is named by its field. Values that do not fit their type are refused, never wrapped.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { asFloat, dtypes } from '../../src/kit.js'
import { integerRange } from '../../src/pack/values.js'
import { pack, refusalOf } from './support.js'

const quantized = (quant: unknown, shape = [2, 3]) => ({
  tensors: { q: { dtype: 'i8', shape, data: Array(6).fill(0), quant } },
})

test.each<[unknown, string, string | undefined]>([
  [null, 'pack/field-type', undefined],
  [[], 'pack/field-type', undefined],
  [{ tensor: {} }, 'pack/unknown-field', 'tensor'],
  [{ tensors: [] }, 'pack/field-type', 'tensors'],
  [{ sizevars: { N: null } }, 'pack/missing', 'sizevars.N'],
  [{ metadata: { k: null } }, 'pack/missing', 'metadata.k'],
  [{ metadata: { k: { dtype: 'f32' } } }, 'pack/missing', 'metadata.k'],
  [{ metadata: { 'a b': ['x'] } }, 'pack/mixed', 'metadata["a b"][0]'],
  [{ metadata: { k: [1, 'x'] } }, 'pack/mixed', 'metadata.k[1]'],
  [{ metadata: { k: [true, 1] } }, 'pack/mixed', 'metadata.k[1]'],
  [{ metadata: { k: [[1], 2] } }, 'pack/ragged', 'metadata.k[1]'],
  [{ metadata: { k: new Date(0) } }, 'pack/field-type', 'metadata.k'],
  [{ tensors: { t: new Set([1]) } }, 'pack/field-type', 'tensors.t'],
  [{ metadata: { k: () => 1 } }, 'pack/field-type', 'metadata.k'],
  [{ metadata: { k: { value: 1, bitset: '1' } } }, 'pack/conflict', 'metadata.k'],
  [{ metadata: { k: { bitset: '1', dtype: 'u8' } } }, 'pack/conflict', 'metadata.k'],
  [{ metadata: { k: { bitset: '102' } } }, 'pack/bitset', 'metadata.k.bitset[2]'],
  [{ metadata: { k: { bitset: 5 } } }, 'pack/bitset', 'metadata.k.bitset'],
  [{ metadata: { k: { value: 'x', dtype: 'u8' } } }, 'pack/field-type', 'metadata.k.value'],
  [{ metadata: { k: { value: 1, dtype: 'str' } } }, 'pack/value-range', 'metadata.k.value'],
  [{ metadata: { k: { value: true, dtype: 'u8' } } }, 'pack/value-range', 'metadata.k.value'],
  [{ metadata: { k: { value: 1, dtype: 'f8_e4m3' } } }, 'pack/dtype', 'metadata.k.value'],
  [{ metadata: { k: { value: 'x', shape: [1] } } }, 'pack/conflict', 'metadata.k.shape'],
  [{ metadata: { k: { valeu: 1 } } }, 'pack/unknown-field', 'metadata.k.valeu'],
  [{ metadata: { k: 1e40 } }, 'pack/value-range', 'metadata.k'],
  [{ metadata: { k: asFloat(1e300) } }, 'pack/value-range', 'metadata.k'],
  [{ metadata: { k: 2n ** 64n } }, 'pack/value-range', 'metadata.k'],
  [{ metadata: { k: [-1, 2n ** 63n] } }, 'pack/value-range', 'metadata.k[0]'],
  [{ metadata: { k: new DataView(new ArrayBuffer(4)) } }, 'pack/field-type', 'metadata.k'],
  [{ tensors: { t: null } }, 'pack/missing', 'tensors.t'],
  [{ tensors: { t: 'w.npy' } }, 'pack/field-type', 'tensors.t'],
  [{ tensors: { t: {} } }, 'pack/missing', 'tensors.t'],
  [{ tensors: { t: { data: null, dtype: 'f32' } } }, 'pack/missing', 'tensors.t'],
  [{ tensors: { t: { data: null, shape: [1] } } }, 'pack/missing', 'tensors.t'],
  [{ tensors: { t: { data: [1], file: 'x' } } }, 'pack/conflict', 'tensors.t'],
  [{ tensors: { t: { data: [1], dtype: 'f31' } } }, 'pack/dtype', 'tensors.t.dtype'],
  [{ tensors: { t: { data: [1], dtype: 14 } } }, 'pack/field-type', 'tensors.t.dtype'],
  [{ tensors: { t: { data: [1], dtype: 26 } } }, 'pack/field-type', 'tensors.t.dtype'],
  [{ tensors: { t: { data: [1], dtype: 'c64' } } }, 'pack/dtype', 'tensors.t.data'],
  [{ tensors: { t: { data: [1], dtype: 'packed' } } }, 'pack/dtype', 'tensors.t.dtype'],
  [{ tensors: { t: { data: [1], shape: 3 } } }, 'pack/field-type', 'tensors.t.shape'],
  [{ tensors: { t: { data: [[1, 2], [3]] } } }, 'pack/ragged', 'tensors.t.data[1]'],
  [
    {
      tensors: {
        t: {
          data: [
            [[1], [2]],
            [[3], 4],
          ],
        },
      },
    },
    'pack/ragged',
    'tensors.t.data[1][1]',
  ],
  [{ tensors: { t: { data: [[1], [[2]]] } } }, 'pack/ragged', 'tensors.t.data[1][0]'],
  [{ tensors: { t: { data: new Array(2) } } }, 'pack/mixed', 'tensors.t.data[0]'],
  [{ tensors: { t: { file: 'x' } } }, 'pack/data-file', 'tensors.t.file'],
  [{ tensors: { t: { file: 5 } } }, 'pack/field-type', 'tensors.t.file'],
  [quantized({}), 'pack/missing', 'tensors.q.quant'],
  [quantized({ scheme: 'symmetric' }), 'pack/missing', 'tensors.q.quant'],
  [quantized({ scheme: 'affine', scales: 1 }), 'pack/quant', 'tensors.q.quant.scheme'],
  [quantized({ scheme: 'symmetric', scale: 1 }), 'pack/unknown-field', 'tensors.q.quant.scale'],
  [quantized({ scheme: 'symmetric', scales: [1, 2] }), 'pack/quant', 'tensors.q.quant.scales'],
  [quantized({ scheme: 'symmetric', scales: [1, 2], axis: 1 }), 'pack/quant', 'tensors.q.quant.scales'],
  [quantized({ scheme: 'symmetric', scales: [[1]] }), 'pack/quant', 'tensors.q.quant.scales'],
  [quantized({ scheme: 'symmetric', scales: [1, 2, 3], axis: 2 }), 'pack/quant', 'tensors.q.quant.axis'],
  [quantized({ scheme: 'symmetric', scales: 1, axis: -1 }), 'pack/quant', 'tensors.q.quant.axis'],
  [quantized({ scheme: 'symmetric', scales: 1, zeroPoints: 0 }), 'pack/quant', 'tensors.q.quant.zeroPoints'],
  [
    quantized({ scheme: 'asymmetric', scales: 1, zeroPoints: 2 ** 31 }),
    'pack/value-range',
    'tensors.q.quant.zeroPoints',
  ],
  [quantized({ scheme: 'asymmetric', scales: 1, zeroPoints: [1, 2] }), 'pack/quant', 'tensors.q.quant.zeroPoints'],
  [quantized({ scheme: 'symmetric', scales: [1, 1e39], axis: 0 }), 'pack/value-range', 'tensors.q.quant.scales[1]'],
  [quantized({ scheme: 'symmetric', scales: 0 }), 'pack/quant', 'tensors.q.quant.scales'],
  [quantized({ scheme: 'symmetric', scales: [1, 1e-60], axis: 0 }), 'pack/quant', 'tensors.q.quant.scales[1]'],
  [quantized([]), 'pack/field-type', 'tensors.q.quant'],
])('%o', async (description, code, path) => {
  expect(await refusalOf(() => pack(description))).toMatchObject({ code, path })
})

test('a list that holds itself ends', async () => {
  const selfish: unknown[] = []
  selfish.push(selfish)
  expect((await refusalOf(() => pack({ tensors: { t: { data: selfish } } }))).code).toBe('pack/ragged')
})

describe('values that do not fit', () => {
  test.each<[string, unknown[], number]>([
    ['i8', [0, 300], 1],
    ['u8', [-1], 0],
    ['i4', [1, 2, 256], 2],
    ['u4', [16], 0],
    ['i1', [1], 0],
    ['t1', [0], 0],
    ['t2', [-2], 0],
    ['bool', [2], 0],
    ['i32', [0.5], 0],
    ['i64', [2n ** 63n], 0],
    ['i64', [0.5], 0],
    ['u64', [-1], 0],
    ['u64', [2 ** 64], 0],
    ['i16', ['NaN'], 0],
    ['f16', [65504, 65520], 1],
    ['f32', [3.5e38], 0],
    ['bf16', [3.4e38], 0],
    ['f8', [61440], 0],
    ['f8_e4m3', [448, 465], 1],
    ['f8_e4m3', ['Infinity'], 0],
    ['f4_e2m1', [7], 0],
    ['f4_e2m1', ['NaN'], 0],
    ['f8_e8m0', [0], 0],
    ['f8_e8m0', [-1], 0],
    ['f64', [10n ** 400n], 0],
  ])('%s does not take %o', async (dtype, data, index) => {
    const refusal = await refusalOf(() => pack({ tensors: { t: { dtype, data } } }))
    expect(refusal).toMatchObject({ code: 'pack/value-range', path: `tensors.t.data[${index}]` })
    expect(refusal.message).toContain('does not fit')
  })

  test('what only rounds is taken', async () => {
    await pack({
      tensors: {
        a: { dtype: 'f16', data: [65519] },
        b: { dtype: 'f8_e4m3', data: [464] },
        c: { dtype: 'f32', data: [1e-60, 16777217] },
      },
    })
  })

  const integers = [...dtypes.values()].filter(({ kind, id }) => /^[iu]\d+$/.test(id) && kind !== 'block')
  test.each(integers)('no integer that $id lacks, all that it has', async (dtype) => {
    const [lowest, highest] = integerRange(dtype)
    const near = fc.bigInt({ min: lowest - 300n, max: highest + 300n })
    await fc.assert(
      fc.asyncProperty(near, async (value) => {
        const packed = pack({ tensors: { t: { dtype: dtype.id, data: [value] } } })
        if (value >= lowest && value <= highest) return void (await packed)
        expect((await refusalOf(() => packed)).code).toBe('pack/value-range')
      }),
      { numRuns: 50 },
    )
  })
})
