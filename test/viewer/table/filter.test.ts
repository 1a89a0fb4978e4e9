import { describe, expect, it } from 'vitest'
import { parseFilter } from '../../../viewer/src/engine/rooms/table/filter.js'
import { sampleTensor } from '../../support/sample-model.js'

const tensors = [
  sampleTensor('blk.0.attn_q.weight', 'ggml.q4_k', [64, 256]),
  sampleTensor('blk.0.attn_norm.weight', 'f32', [256]),
  sampleTensor('blk.1.ffn_Up.weight', 'f16', [3, 64, 256]),
]
const figures = [{ nan: 0, std: 0.5 }, { nan: 2, std: 1 }, undefined] as never[]

const found = (text: string): number[] => {
  const filter = parseFilter(text)
  return tensors.flatMap((tensor, i) => (filter.test(tensor, i, (index) => figures[index]) ? i : []))
}

describe('the filter', () => {
  it('looks for parts of names and for patterns', () => {
    expect(found('')).toEqual([0, 1, 2])
    expect(found('attn')).toEqual([0, 1])
    expect(found('blk.*.attn_*')).toEqual([0, 1])
    expect(found('*attn')).toEqual([])
    expect(found('ffn_up')).toEqual([2])
    expect(found('FFN_up')).toEqual([])
    expect(found('-norm')).toEqual([0, 2])
  })

  it('compares properties', () => {
    expect(found('dtype:q4_k')).toEqual([0])
    expect(found('type:F*')).toEqual([1, 2])
    expect(found('shape:*,256')).toEqual([0])
    expect(found('shape:3×*×256')).toEqual([2])
    expect(found('rank=1')).toEqual([1])
    expect(found('size>=1K')).toEqual([0, 1, 2])
    expect(found('size>1k rank>1')).toEqual([0, 2])
    expect(found('values<300')).toEqual([1])
  })

  it('leaves out what has no figures yet, and says that it needs them', () => {
    expect(found('nan>0')).toEqual([1])
    expect(found('std<=0.5')).toEqual([0])
    expect(found('-nan>0')).toEqual([0, 2])
    expect(parseFilter('nan>0').needsFigures).toBe(true)
    expect(parseFilter('size>0').needsFigures).toBe(false)
  })

  it('says which words it does not understand, and goes by the others', () => {
    const { problems } = parseFilter('weight>3 size>big attn')
    expect(problems).toEqual([expect.stringContaining('weight cannot be compared'), 'size>big ends in no number'])
    expect(found('size>big attn')).toEqual([0, 1])
    expect(parseFilter('constructor>1').problems).toHaveLength(1)
  })
})
