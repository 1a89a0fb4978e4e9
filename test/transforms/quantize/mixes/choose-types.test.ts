// The choices of llama-quantize for models with the layers and heads of real ones, and for names and shapes of all kinds.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { MetaValue } from '../../../../src/kit.js'
import { chooseTypes, type MixChoice } from '../../../../src/transforms/quantize/mixes/choose-types.js'
import { mixOf } from '../../../../src/transforms/quantize/mixes/file-types.js'
import { modelFacts } from '../../../../src/transforms/quantize/mixes/model-facts.js'
import { besideRoot } from '../../../support/fixtures.js'

interface Named {
  readonly name: string
  readonly ne: readonly number[]
  readonly type: string
}

interface Mixes {
  readonly metadata: Readonly<Record<string, string | number>>
  readonly typeNames: readonly string[]
  readonly tensors: readonly Named[]
  readonly results: readonly {
    readonly mix: string
    readonly fileType: number
    readonly imatrix: readonly ('without' | 'with')[]
    readonly types: readonly number[]
    readonly fallbacks?: number
    readonly needsImatrix?: boolean
    readonly error?: string
  }[]
}

const folder = join(besideRoot, 'mixes')
const models = existsSync(folder)
  ? readdirSync(folder).filter((file) => file.endsWith('.json') && file !== 'kept.json')
  : []

const metaValue = (value: string | number): MetaValue =>
  typeof value === 'string' ? { type: 'str', value } : { type: Number.isInteger(value) ? 'u32' : 'f32', value }

const shaped = ({ name, ne }: Named) => ({ name, shape: ne.toReversed() })
const typeOf = (choice: MixChoice, { type }: Named): string => choice.type ?? type

describe.skipIf(models.length === 0)('the types that llama-quantize gives', () => {
  it.each(models)('%s', (file) => {
    const { metadata, typeNames, tensors, results } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Mixes
    const facts = modelFacts(new Map(Object.entries(metadata).map(([key, value]) => [key, metaValue(value)])))!
    let compared = 0
    for (const { mix, imatrix, fileType: value, types, error, needsImatrix } of results) {
      const fileType = mixOf(mix)
      if (fileType === undefined) {
        expect([mix, error]).toEqual(['NVFP4', 'invalid output file type 39'])
        continue
      }
      expect([mix, fileType.value]).toEqual([mix, value])
      for (const how of imatrix) {
        const choices = chooseTypes(tensors.map(shaped), { fileType, facts, hasImatrix: how === 'with' })
        if (error !== undefined) {
          // The program refuses such a model; here the rows that nothing fits are kept, and it is said why.
          expect(error).toMatch(/^no tensor type fallback/)
          expect(choices.some(({ type, reason }) => !type && reason?.startsWith('rows of '))).toBe(true)
          continue
        }
        const found = choices.map((choice, i) => `${tensors[i]!.name} ${typeOf(choice, tensors[i]!)}`)
        const wanted = types.map((type, i) => `${tensors[i]!.name} ${typeNames[type]}`)
        expect({ mix, how, found }).toEqual({ mix, how, found: wanted })
        if (how === 'without')
          expect([mix, choices.some((each) => each.needsWeights)]).toEqual([mix, needsImatrix === true])
        compared += 1
      }
    }
    expect(compared).toBeGreaterThan(file === 'llama-width-not-32.json' ? 2 : 60)
  })

  it('kept.json', () => {
    const kept = JSON.parse(readFileSync(join(folder, 'kept.json'), 'utf8')) as {
      readonly models: readonly {
        readonly architecture: string
        readonly refused: readonly string[]
        readonly tensors: readonly (Named & Record<string, string>)[]
      }[]
    }
    for (const { architecture, refused, tensors } of kept.models) {
      const facts = { architecture, layers: 2, experts: 0, headsPerKv: 2, isLarge: false }
      for (const mix of ['Q4_K_M', 'Q8_0', 'F16'].filter((each) => !refused.includes(each))) {
        const choices = chooseTypes(tensors.map(shaped), { fileType: mixOf(mix)!, facts, hasImatrix: false })
        const found = choices.map((choice, i) => `${tensors[i]!.name} ${typeOf(choice, tensors[i]!)}`)
        expect({ mix, found }).toEqual({ mix, found: tensors.map((tensor) => `${tensor.name} ${tensor[mix]}`) })
      }
    }
  })
})

describe('the layers that rules count with', () => {
  const layersOf = (metadata: Record<string, string | number>): number | undefined =>
    modelFacts(new Map(Object.entries(metadata).map(([key, value]) => [key, metaValue(value)])))?.layers

  it.each([
    ['llama', {}, 12],
    ['nanbeige', { 'nanbeige.num_loops': 2 }, 24],
    ['nanbeige', {}, 12],
    ['graniteswitch', {}, 13],
  ])('of %s with %j are %i', (architecture, more, layers) => {
    expect(layersOf({ 'general.architecture': architecture, [`${architecture}.block_count`]: 12, ...more })).toBe(
      layers,
    )
  })

  it('are none in an image encoder, and without a count there are no rules', () => {
    expect(layersOf({ 'general.architecture': 'clip', 'clip.vision.block_count': 24 })).toBe(0)
    expect(layersOf({ 'general.architecture': 'llama' })).toBeUndefined()
    const fileType = mixOf('q4_k_m')!
    const facts = modelFacts(new Map([['general.architecture', metaValue('clip')]]))!
    const tensors = [
      'v.blk.0.ffn_down.weight',
      'v.blk.0.ffn_up.weight',
      'v.patch_embd.weight',
      'v.position_embd.weight',
    ]
    const named = tensors.map((name) => ({ name, shape: [32, 256] }))
    const types = chooseTypes(named, { fileType, facts, hasImatrix: false }).map(({ type }) => type)
    expect(types).toEqual(['q6_k', 'q4_k', undefined, undefined])
  })
})
