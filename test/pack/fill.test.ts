import { describe, expect, test } from 'vitest'
import { asFloat, fillDescription } from '../../src/kit.js'
import { filesOf, pack, refusalOf, valuesOf } from './support.js'

const template = {
  sizevars: { D: null },
  metadata: {
    mode: 'fast',
    lr: 0.5,
    count: 1,
    on: true,
    dims: { dtype: 'i16' },
    later: null,
    both: 1,
    bits: { bitset: '1' },
  },
  tensors: { w: { dtype: 'f32', shape: ['D'] }, both: [1], zeros: { data: [0], dtype: 'u8' } },
}
const filled = (data: unknown) =>
  pack(fillDescription(template, { D: 2, w: [1, 2], dims: [1], later: 1, ...(data as object) }))

test('gives values to fields by name', async () => {
  const model = await filled({ mode: 'slow', zeros: [7, 8] })
  expect(model.parts[0]!.value).toEqual({ D: 2 })
  expect(await valuesOf(model, 'w')).toEqual([1, 2])
  expect(model.tensors.at(0)!.dtype.id).toBe('f32')
  expect(await valuesOf(model, 'zeros')).toEqual([7, 8])
  expect(model.metadata.get('mode')).toEqual({ type: 'str', value: 'slow' })
  expect(model.metadata.get('dims')).toMatchObject({ type: 'ndarray', dtype: { id: 'i16' } })
})

test('a plain default fixes the kind of the value', async () => {
  expect((await filled({ lr: 1 })).metadata.get('lr')).toEqual({ type: 'f32', value: 1 })
  expect((await filled({ lr: 10n ** 19n })).metadata.get('lr')).toEqual({ type: 'f32', value: Math.fround(1e19) })
  expect((await filled({ bits: { bitset: '11' } })).metadata.get('bits')).toMatchObject({ bits: 2 })
  expect((await filled({ mode: { value: 3 } })).metadata.get('mode')).toEqual({ type: 'u8', value: 3 })
})

test('a float can be filled with what JSON has no number for, a text stays a text', async () => {
  const filled = fillDescription({ metadata: { lr: 0.5, name: 'x' } }, { lr: '-Infinity', name: 'NaN' })
  const { metadata } = await pack(filled)
  expect(metadata.get('lr')).toMatchObject({ type: 'f32', value: -Infinity })
  expect(metadata.get('name')).toMatchObject({ type: 'str', value: 'NaN' })
})

test('sections can be filled as such, and extended', async () => {
  const model = await filled({ tensors: { both: [5], extra: [true] }, metadata: { note: 'x' }, sizevars: { E: 9 } })
  expect(model.tensors.map(({ name }) => name)).toEqual(['w', 'both', 'zeros', 'extra'])
  expect(await valuesOf(model, 'both')).toEqual([5n])
  expect(model.metadata.get('both')).toEqual({ type: 'u8', value: 1 })
  expect(model.parts[0]!.value).toEqual({ D: 2, E: 9 })
})

test('a tensor can be left without data, or get a file in place of data', async () => {
  expect((await filled({ w: null })).tensors.at(0)!.data).toBeNull()
  const description = fillDescription(template, {
    D: 2,
    later: 1,
    dims: [1],
    w: { file: 'w.bin' },
    zeros: { file: 'z.bin', shape: [1] },
  })
  const model = await pack(description, filesOf({ 'w.bin': new Uint8Array(8), 'z.bin': Uint8Array.of(9) }))
  expect(await valuesOf(model, 'zeros')).toEqual([9])
})

describe('refuses', () => {
  test.each<[unknown, string, string, string]>([
    [
      { wieght: [1] },
      'pack/unknown-field',
      'wieght',
      'declared are D, mode, lr, count, on, dims, later, both, bits, w, both, zeros',
    ],
    [{ both: [1] }, 'pack/ambiguous', 'both', 'metadata and tensors both have "both"'],
    [{ mode: 1 }, 'pack/field-type', 'mode', 'expected a text, as in the description, not 1'],
    [{ count: 1.5 }, 'pack/field-type', 'count', 'expected an integer'],
    [{ count: asFloat(2) }, 'pack/field-type', 'count', 'expected an integer'],
    [{ on: 1 }, 'pack/field-type', 'on', 'expected a boolean'],
    [{ lr: [0.5] }, 'pack/field-type', 'lr', 'not a list'],
    [{ tensors: [1] }, 'pack/unknown-field', 'tensors', 'no field "tensors"'],
    [{ D: 3 }, 'pack/shape-mismatch', 'tensors.w.shape[0]', 'D is 3'],
    [{ w: [1, 'x'] }, 'pack/mixed', 'tensors.w.data[1]', 'not the text "x"'],
  ])('%o', async (data, code, path, words) => {
    const refusal = await refusalOf(() => filled(data))
    expect(refusal).toMatchObject({ code, path })
    expect(refusal.message).toContain(words)
  })

  test('what is still without a value', async () => {
    expect(await refusalOf(() => pack(fillDescription(template, {})))).toMatchObject({
      code: 'pack/missing',
      path: 'sizevars.D',
    })
    expect(await refusalOf(() => pack(fillDescription(template, { D: 1, dims: [1] })))).toMatchObject({
      code: 'pack/missing',
      path: 'metadata.later',
    })
    expect(await refusalOf(() => pack(fillDescription(template, { D: 1, dims: [1], later: 0 })))).toMatchObject({
      code: 'pack/missing',
      path: 'tensors.w',
    })
  })

  test('data that are no object', async () => {
    expect((await refusalOf(() => fillDescription(template, [1]))).code).toBe('pack/field-type')
  })
})
