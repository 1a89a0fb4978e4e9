// Packing and opening gives the values back, whichever way the description came.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { formatById, openModel, parseDescription } from '../../src/kit.js'
import { parseYamlDescription } from '../../src/node/pack/pack-yaml.js'
import { convertToFiles, sourceOf } from '../support/convert.js'
import { schemaErrors } from './schema-validator.js'
import { pack, valuesOf } from './support.js'

const integers: Record<string, [bigint, bigint]> = {
  ...{
    i8: [-128n, 127n],
    i16: [-32768n, 32767n],
    i32: [-(2n ** 31n), 2n ** 31n - 1n],
    i64: [-(2n ** 63n), 2n ** 63n - 1n],
  },
  ...{ u8: [0n, 255n], u16: [0n, 65535n], u32: [0n, 2n ** 32n - 1n], u64: [0n, 2n ** 64n - 1n] },
  ...{ i4: [-8n, 7n], i2: [-2n, 1n], i1: [-1n, 0n], u4: [0n, 15n], u2: [0n, 3n], u1: [0n, 1n], t2: [-1n, 1n] },
}
/** Small multiples of powers of two, which these types hold exactly. */
const dyadic = (bits: number) =>
  fc
    .tuple(fc.integer({ min: -(2 ** bits), max: 2 ** bits }), fc.integer({ min: -6, max: 6 }))
    .map(([m, e]) => m * 2 ** e)
const exact: Record<string, fc.Arbitrary<number>> = {
  f64: fc.double(),
  f32: fc.float(),
  f16: dyadic(8),
  bf16: dyadic(7),
  f8_e5m2: dyadic(2),
}

/** A number as JSON can write it. */
const asText = (value: number | bigint): unknown =>
  typeof value === 'number' && !Number.isFinite(value) ? String(value) : value

interface Sample {
  readonly dtype: string
  readonly shape: readonly number[]
  readonly values: readonly (number | bigint)[]
}

const arbitraryValue = (dtype: string): fc.Arbitrary<number | bigint> => {
  const range = integers[dtype]
  if (!range) return exact[dtype]!
  return fc
    .bigInt({ min: range[0], max: range[1] })
    .map((value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value))
}

function samples(dtypes: readonly string[]): fc.Arbitrary<Sample> {
  const shapes = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 3 })
  return fc.tuple(fc.constantFrom(...dtypes), shapes).chain(([dtype, shape]) => {
    const count = shape.reduce((product, dim) => product * dim, 1)
    return fc
      .array(arbitraryValue(dtype), { minLength: count, maxLength: count })
      .map((values) => ({ dtype, shape, values }))
  })
}

/** Lists in lists, as deep as the shape. */
function nest(values: readonly unknown[], shape: readonly number[]): unknown {
  if (shape.length === 0) return values[0]
  const [dim = 0, ...rest] = shape
  const size = values.length / Math.max(dim, 1)
  return Array.from({ length: dim }, (_, i) => nest(values.slice(i * size, (i + 1) * size), rest))
}

const describeSample = ({ dtype, shape, values }: Sample): object => {
  // A zero hides the dimensions behind it from nested lists; the shape then speaks alone.
  const data = shape.includes(0) ? [] : nest(values.map(asText), shape)
  return {
    sizevars: { N: shape[0] ?? 1 },
    tensors: { t: { dtype, shape: shape.map((dim, i) => (i === 0 ? 'N' : dim)), data } },
  }
}

/** JSON with bigints as plain digits. */
const toJson = (value: unknown): string =>
  JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `#${each}#` : each)).replace(/"#(-?\d+)#"/g, '$1')

function same(found: unknown, wanted: number | bigint): boolean {
  if (typeof found === 'bigint') return found === BigInt(wanted)
  return Object.is(found, wanted) || found === wanted
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const ways: [string, (description: object) => unknown][] = [
  ['an object', (description) => description],
  ['JSON', (description) => parseDescription(encode(toJson(description)), 'd.json')],
  [
    'YAML',
    (description) => parseYamlDescription(encode(stringify(description, { aliasDuplicateObjects: false })), 'd.yaml'),
  ],
]
const targets: [string, string[]][] = [
  ['oinf', [...Object.keys(integers), ...Object.keys(exact)]],
  ['safetensors', ['i8', 'i16', 'i32', 'i64', 'u8', 'u16', 'u32', 'u64', 'f64', 'f32', 'f16', 'bf16', 'f8_e5m2']],
]

describe.each(targets)('into %s', (target, dtypes) => {
  test.skipIf(!formatById(target)).each(ways)('from %s', async (_, through) => {
    await fc.assert(
      fc.asyncProperty(samples(dtypes), async (sample) => {
        const description = describeSample(sample)
        const files = await convertToFiles(await pack(through(description)), target)
        const opened = await openModel(sourceOf(files), { from: target })
        expect(opened.tensors.at(0)).toMatchObject({ name: 't', dtype: { id: sample.dtype }, shape: sample.shape })
        const found = await valuesOf(opened, 't')
        for (const [i, value] of sample.values.entries())
          expect(same(found[i], value), `${found[i]} for ${value}`).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})

test('what can be packed keeps to the schema', () => {
  fc.assert(
    fc.property(samples([...Object.keys(integers), ...Object.keys(exact)]), (sample) => {
      expect(schemaErrors(parseDescription(encode(toJson(describeSample(sample))), 'd.json'))).toEqual([])
    }),
  )
})
