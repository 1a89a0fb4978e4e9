// Metadata as JSON: every value that fits comes back with the type that it had.
import { describe, expect, it } from 'vitest'
import { diffModels, type MetaValue, openModel, planConversion, text } from '../../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../../support/convert.js'
import { sampleModel, sampleTensor } from '../../../support/sample-model.js'

const values: readonly MetaValue[] = [
  ...[0, -0, 1, -1, 0.5, 1e6, 1e15, 2 ** 53, 1e21, 1e300, 5e-324, -1.5e-7].map(
    (value): MetaValue => ({ type: 'f64', value }),
  ),
  ...[0, 1, -1, 2 ** 53 - 1].map((value): MetaValue => ({ type: 'i64', value })),
  { type: 'i64', value: -(2n ** 63n) },
  { type: 'u64', value: 2n ** 64n - 1n },
  { type: 'bool', value: true },
  { type: 'null' },
  text('1.0'),
]

const model = () =>
  sampleModel([sampleTensor('a', 'f32', [3])], new Map(values.map((value, i) => [`key${i}`, value] as const)))

describe.each(['aero', 'aeroset'])('metadata in %s', (target) => {
  it.each([true, false])('keep their types, whether or not anything can be stowed (%s)', async (stow) => {
    const source = model()
    const { plan } = await planConversion(source, target, { name: `out.${target}`, stow })
    for (const { subject, name, action, loss } of plan.actions) {
      if (subject === 'metadata') expect([name, action, loss]).toEqual([name, 'copy', 'none'])
    }
    const files = await convertToFiles(source, target, { name: 'model.aeroset.json', stow })
    const back = await openModel(sourceOf(files))
    for (const [i, value] of values.entries()) {
      const { type, value: stored } = back.metadata.get(`key${i}`) as { type: string; value?: unknown }
      expect([i, type]).toEqual([i, value.type])
      const wanted = (value as { value?: unknown }).value
      expect(Object.is(stored, wanted) || BigInt(stored as bigint) === BigInt(wanted as bigint)).toBe(true)
    }
    expect((await diffModels(source, back)).equal).toBe(true)
  })
})
