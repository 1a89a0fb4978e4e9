import { describe, expect, it } from 'vitest'
import { readCodes } from '../../../src/index.js'
import { castTensor, dtypeById } from '../../../src/kit.js'
import { countCodes } from '../../../viewer/src/engine/rooms/tensor/code-levels.js'
import { errorBetween } from '../../../viewer/src/engine/rooms/tensor-errors.js'
import { levelsOf } from '../../../viewer/src/screens/tensor/panel/levels.js'
import { sampleTensor } from '../../support/sample-model.js'

const { signal } = new AbortController()

describe('codes of a quantized tensor', () => {
  it('are counted one by one where there are few', async () => {
    const tensor = sampleTensor('w', 'ggml.q4_0', [40, 256], 5)
    const found = await countCodes(tensor, { rows: 40, columns: 256 }, signal)
    const { codes } = await readCodes(tensor)
    expect(found.isSample).toBe(false)
    expect(found.count).toBe(codes.length)
    for (const [i, count] of found.counts.entries())
      expect(count).toBe(codes.filter((code) => code === found.first + i).length)
  })

  it('come from rows over the whole of a large one', async () => {
    const found = await countCodes(sampleTensor('w', 'ggml.q8_0', [4096, 512], 5), { rows: 4096, columns: 512 }, signal)
    expect(found.isSample).toBe(true)
    expect(found.count).toBe(8 * 2 ** 16)
    expect(found.counts.reduce((sum, count) => sum + count, 0)).toBe(found.count)
  })

  it('stand for levels of the block under the cursor, or of a typical one', () => {
    const codes = { first: -1, counts: [1, 2, 3], count: 6, isSample: false, scale: 0.5, offset: 1 }
    expect(levelsOf(codes, undefined)).toEqual([0.5, 1, 1.5])
    expect(levelsOf(codes, { value: 0, code: 1, scale: -2 })).toEqual([-2, 0, 2])
  })
})

describe('the error between two tensors', () => {
  it('is that of all values where the sample has all of them', async () => {
    const a = sampleTensor('w', 'f32', [16, 256], 7)
    const b = castTensor(a, dtypeById('bf16')!)
    const error = await errorBetween(a, b)
    expect(error).toBeGreaterThan(40)
    expect(await errorBetween(a, a)).toBe(null)
  })

  it('looks into every plane of a few', async () => {
    const a = sampleTensor('w', 'f32', [3, 64, 64], 7)
    expect(await errorBetween(a, castTensor(a, dtypeById('f16')!))).toBeGreaterThan(50)
    expect(await errorBetween(sampleTensor('s', 'f32', [], 1), sampleTensor('s', 'f32', [], 2))).toBeTypeOf('number')
  })
})
