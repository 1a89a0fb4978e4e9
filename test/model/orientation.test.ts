import { describe, expect, it } from 'vitest'
import { findOrientation } from '../../src/model/orientation.js'
import { encoder } from '../support/encoder.js'
import { sampleTensor } from '../support/sample-model.js'

const size = { hidden: 4, intermediate: 6, layers: 2 }

describe('findOrientation', () => {
  it.each(['in-out', 'out-in'] as const)('sees %s, whatever the names begin with', (orientation) => {
    for (const prefix of ['', 'bert.', '0.auto_model.']) {
      const found = findOrientation(encoder(orientation, size, prefix).tensors)
      expect(found.linear).toBe(orientation)
      expect(found.names).toHaveLength(12)
      expect(found.names.every((name) => name.endsWith('.weight') && !name.includes('Norm'))).toBe(true)
    }
  })

  it('cannot tell when the inner size is the hidden size', () => {
    expect(findOrientation(encoder('in-out', { hidden: 4, intermediate: 4 }).tensors)).toMatchObject({
      linear: 'undecidable',
    })
  })

  it('does without word embeddings, but not without biases', () => {
    const { tensors } = encoder('in-out', size)
    const without = (text: string) => tensors.filter(({ name }) => !name.includes(text))
    expect(findOrientation(without('word_embeddings')).linear).toBe('in-out')
    expect(findOrientation(without('.bias')).linear).toBe('undecidable')
  })

  it('does not choose between layers that contradict each other', () => {
    const first = encoder('in-out', size).tensors.filter(({ name }) => !name.includes('layer.1.'))
    const second = encoder('out-in', size).tensors.filter(({ name }) => name.includes('layer.1.'))
    expect(findOrientation([...first, ...second]).linear).toBe('undecidable')
  })

  it('says nothing about other models', () => {
    const tensors = [sampleTensor('h.0.mlp.weight', 'f32', [2, 3]), sampleTensor('pooler.dense.weight', 'f32', [2, 2])]
    expect(findOrientation(tensors)).toEqual({ linear: 'none', names: [] })
  })
})
