import fc from 'fast-check'
import { expect, test } from 'vitest'
import { f32 } from '../../../src/dtypes/index.js'
import { conflicts, sortedByKey } from '../../../src/formats/primitiv/names.js'
import { writeKeys } from '../../../src/formats/primitiv/write-keys.js'
import type { Tensor } from '../../../src/model/index.js'

const tensorOf = (name: string, path?: readonly string[]): Tensor => ({
  name,
  ...(path && { path }),
  dtype: f32,
  shape: [1],
  order: 'column',
  role: 'weight',
  data: null,
})

/** Names that begin alike, with dots and what sorts around them. */
const nameArb = fc.string({ unit: fc.constantFrom('a', 'b', '.', '-', '\0', 'é', '\uffff', '😀'), maxLength: 6 })
const tensorArb = fc
  .record({ name: nameArb, hasPath: fc.boolean() })
  .map(({ name, hasPath }) => tensorOf(name, hasPath ? name.split('.') : undefined))

test.each([true, false])('names are compared as their keys are (split: %s)', (isSplit) => {
  const keys = writeKeys(isSplit)
  const property = fc.property(fc.array(tensorArb, { maxLength: 12 }), (tensors) => {
    const expected = sortedByKey(tensors, keys.of)
    const sorted = keys.sorted(tensors)
    expect(sorted).toEqual(expected)
    expect([...keys.conflicts(sorted)]).toEqual([...conflicts(expected, keys.of)])
  })
  fc.assert(property, { numRuns: 500 })
})
