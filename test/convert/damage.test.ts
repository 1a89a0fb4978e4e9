import fc from 'fast-check'
import { expect, test } from 'vitest'
import { f32 } from '../../src/dtypes/index.js'
import { type Finding, MemorySource, rangePayload, type Tensor } from '../../src/kit.js'
import { Damage } from '../../src/model/damage.js'

const source = new MemorySource(new Uint8Array(200), 'm')
const range = fc.tuple(fc.nat(100), fc.nat(100))

const tensorAt = (offset: number, length: number): Tensor => ({
  name: 't',
  dtype: f32,
  shape: [],
  order: 'row',
  role: 'weight',
  data: rangePayload(source, offset, length),
})

test('finds exactly the findings that share a byte with a tensor', () => {
  fc.assert(
    fc.property(fc.array(range, { maxLength: 20 }), range, (places, [offset, length]) => {
      const findings = places.map(
        ([at, size], i): Finding => ({
          code: `x/${i}`,
          severity: 'error',
          message: '',
          file: 'm',
          offset: at,
          length: size,
        }),
      )
      const found = new Damage(findings).concerning(tensorAt(offset, length))
      const expected = findings.filter((each) => {
        const end = each.offset! + Math.max(1, each.length!)
        return length > 0 && each.offset! < offset + length && end > offset
      })
      expect(found.map(({ code }) => code).sort()).toEqual(expected.map(({ code }) => code).sort())
    }),
    { numRuns: 500, seed: 7 },
  )
})
