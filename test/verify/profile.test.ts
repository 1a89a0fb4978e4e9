import { describe, expect, it } from 'vitest'
import { encodeUtf8 } from '../../src/bytes/index.js'
import { tableOf, vocabularyPart } from '../../src/content/vocabulary.js'
import { type Model, type Part, text } from '../../src/kit.js'
import { checkProfile, type Profile, wantedTensors } from '../../src/verify/profile.js'
import { bertEncoder, encoderMetadata } from '../../src/verify/profiles/bert-encoder.js'
import { profiles, requireProfile } from '../../src/verify/profiles/index.js'
import { encoder } from '../support/encoder.js'
import { sampleTensor } from '../support/sample-model.js'

const tiny: Profile = {
  name: 'tiny',
  title: 'tiny',
  dimensions: { vocab: 12, positions: 8, types: 2, hidden: 4, intermediate: 6, layers: 2, heads: 2 },
  dtypes: ['f32'],
  tensors: bertEncoder,
  metadata: encoderMetadata,
  vocabulary: 'vocab',
}
const metadata = new Map(
  encoderMetadata
    .map((each) => ['dimension' in each ? String(tiny.dimensions[each.dimension]) : 'x', each.key] as const)
    .map(([value, key]) => [key as string, text(value)]),
)
const size = { hidden: 4, intermediate: 6, layers: 2 }
const whole: Model = { ...encoder('out-in', size), format: 'safetensors', metadata }
const codesOf = (model: Model, profile = tiny): string[] => checkProfile(model, profile).map(({ code }) => code)

describe('checkProfile', () => {
  it('has nothing to say about a model that fits, either way round', () => {
    expect(codesOf(whole)).toEqual([])
    expect(codesOf({ ...encoder('in-out', size), format: 'safetensors', metadata })).toEqual([])
  })

  it('names tensors that are missing or extra', () => {
    const tensors = [
      ...whole.tensors.slice(1),
      sampleTensor('more', 'f32', [1]),
      sampleTensor('pooler.dense.bias', 'f32', [4]),
    ]
    const findings = checkProfile({ ...whole, tensors }, tiny)
    expect(findings.map(({ code, severity, path }) => [code, severity, path])).toEqual([
      ['profile/tensor-missing', 'error', 'tensor["embeddings.word_embeddings.weight"]'],
      ['profile/tensor-extra', 'warning', 'tensor["more"]'],
    ])
  })

  it('compares shapes and types', () => {
    const tensors = whole.tensors.map((tensor) => {
      if (tensor.name === 'embeddings.LayerNorm.bias') return sampleTensor(tensor.name, 'f32', [5])
      return tensor.name === 'embeddings.LayerNorm.weight' ? sampleTensor(tensor.name, 'f16', [4]) : tensor
    })
    const findings = checkProfile({ ...whole, tensors }, tiny)
    expect(findings.map(({ code }) => code)).toEqual(['profile/dtype', 'profile/shape'])
    expect(findings[1]!.message).toBe('"embeddings.LayerNorm.bias" is [5], not [4]')
  })

  it('does not let single weights lie the other way round', () => {
    const other = encoder('in-out', size).tensors.find(({ name }) => name.endsWith('1.output.dense.weight'))!
    const tensors = whole.tensors.map((tensor) => (tensor.name === other.name ? other : tensor))
    expect(codesOf({ ...whole, tensors })).toEqual(['profile/shape'])
  })

  it('wants the metadata keys, with values that agree with the dimensions', () => {
    const wrong = new Map([...metadata, ['hidden_size', text('5')] as const])
    wrong.delete('created_at')
    expect(codesOf({ ...whole, metadata: wrong })).toEqual(['profile/metadata-value', 'profile/metadata-missing'])
    expect(codesOf({ ...whole, metadata: new Map([...metadata, ['heads', text('')] as const]) })).toEqual([])
    expect(
      codesOf({ ...whole, metadata: new Map([...metadata, ['hidden_size', { type: 'u32', value: 4 }] as const]) }),
    ).toEqual([])
    expect(codesOf({ ...whole, format: 'embd', metadata: new Map() })).toHaveLength(10)
  })

  it('does not blame containers that have no metadata', () => {
    expect(codesOf({ ...whole, format: 'memory', metadata: new Map() })).toEqual(['profile/metadata-unchecked'])
  })

  it('does not blame containers whose format asks for none of the keys, whatever else they state', () => {
    for (const others of [new Map(), new Map([['format', text('pt')]])])
      expect(codesOf({ ...whole, metadata: others })).toEqual(['profile/metadata-unchecked'])
  })

  it('knows encoders inside other models, and the names of old files', () => {
    const inside = { ...encoder('out-in', size, 'bert.'), format: 'safetensors', metadata }
    expect(codesOf(inside)).toEqual([])
    const old = (name: string): string => name.replace('Norm.weight', 'Norm.gamma').replace('Norm.bias', 'Norm.beta')
    const tensors = inside.tensors.map((tensor) => ({ ...tensor, name: old(tensor.name) }))
    expect(codesOf({ ...inside, tensors })).toEqual([])
    const [missing] = checkProfile({ ...inside, tensors: tensors.slice(0, -1) }, tiny)
    expect(missing?.message).toContain('"bert.encoder.layer.1.output.LayerNorm.bias" [4] is missing')
  })

  it('counts the tokens', () => {
    const part = (count: number): Part => vocabularyPart(tableOf(new Array(count).fill(encodeUtf8('a'))))
    expect(codesOf({ ...whole, parts: [part(12)] })).toEqual([])
    expect(codesOf({ ...whole, parts: [part(11)] })).toEqual(['profile/vocabulary-size'])
  })
})

describe('profiles', () => {
  it('know how many tensors they want', () => {
    const required = (name: string) => wantedTensors(requireProfile(name)).filter(({ isOptional }) => !isOptional)
    expect(required('all-MiniLM-L6-v2')).toHaveLength(101)
    expect(required('BERT-base')).toHaveLength(197)
    const parameters = required('all-minilm-l6-v2').reduce(
      (sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1),
      0,
    )
    expect(parameters).toBe(22_565_376)
  })

  it('name each tensor once, in known dimensions', () => {
    for (const profile of profiles) {
      const names = wantedTensors(profile).map(({ name }) => name)
      expect(new Set(names).size).toBe(names.length)
      for (const { dimension } of profile.metadata) if (dimension) expect(profile.dimensions).toHaveProperty(dimension)
    }
    expect(() => wantedTensors({ ...tiny, dimensions: {} })).toThrow(/no dimension/)
    expect(() => requireProfile('nobody')).toThrow(/known are all-MiniLM-L6-v2, bert-base/)
  })
})
