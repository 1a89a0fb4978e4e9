import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readPayload } from '../../src/model/index.js'
import { changesForm, keepBytes, keepModelBytes } from '../../src/transforms/keep-bytes.js'
import { rowMajor, transposed } from '../../src/transforms/reorder.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

const column = (shape: readonly number[]) => ({ ...sampleTensor('w', 'f32', shape), order: 'column' as const })

describe('keeping the bytes', () => {
  it('reverses the dims and leaves the data alone', () => {
    const tensor = column([2, 3, 4])
    const kept = keepBytes(tensor, 'row')
    expect(kept).toMatchObject({ shape: [4, 3, 2], order: 'row' })
    expect(kept.data).toBe(tensor.data)
    expect(keepBytes(kept, 'column')).toEqual(tensor)
    expect(keepBytes(tensor, 'column')).toBe(tensor)
  })

  it('is the transpose of a matrix', async () => {
    const tensor = column([3, 5])
    const moved = rowMajor(transposed(tensor))
    const kept = keepBytes(tensor, 'row')
    expect(kept.shape).toEqual(moved.shape)
    expect(await readPayload(kept.data!)).toEqual(await readPayload(moved.data!))
  })

  it('moves the axis of scales along', () => {
    const quant = { scheme: 'symmetric' as const, axis: 0, scales: [1, 2] }
    expect(keepBytes({ ...column([2, 3, 4]), quant }, 'row').quant).toEqual({ ...quant, axis: 2 })
  })

  it('does so for every tensor, and tells where it shows', () => {
    const model = keepModelBytes(sampleModel([column([2, 3]), column([7])]), 'row')
    expect(model.tensors.map(({ shape }) => shape)).toEqual([[3, 2], [7]])
    expect(changesForm(column([7]), 'row')).toBe(false)
    expect(changesForm(column([7, 1]), 'row')).toBe(true)
    expect(changesForm(column([7, 1]), 'column')).toBe(false)
  })

  it('twice is nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 5 }), (shape) => {
        const tensor = column(shape)
        expect(keepBytes(keepBytes(tensor, 'row'), 'column')).toEqual(tensor)
      }),
    )
  })
})
