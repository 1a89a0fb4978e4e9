import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemorySource } from '../../src/bytes/index.js'
import { dtypes, f32 } from '../../src/dtypes/index.js'
import { bytesPayload, rangePayload, readPayload, type Tensor } from '../../src/model/index.js'
import { PackedTensors } from '../../src/model/packed-tensors.js'

const sources = ['a', 'b'].map(
  (name) =>
    new MemorySource(
      Uint8Array.from({ length: 100 }, (_, i) => i),
      name,
    ),
)
const names = fc.array(fc.string({ unit: 'binary', maxLength: 5 }), { maxLength: 4 })
const range = fc
  .record({ source: fc.constantFrom(...sources), offset: fc.nat(50), length: fc.nat(50) })
  .map(({ source, offset, length }) => rangePayload(source, offset, length))
const dtype = fc.constantFrom(...dtypes.values())

const tensor: fc.Arbitrary<Tensor> = fc
  .record(
    {
      parts: names,
      isJoined: fc.boolean(),
      hasPath: fc.boolean(),
      rawName: fc.constant([Uint8Array.of(255)]),
      dtype,
      encoding: dtype,
      shape: fc.array(fc.oneof(fc.nat(9), fc.maxSafeNat(), fc.constant(2 ** 60)), { maxLength: 4 }),
      order: fc.constantFrom('row', 'column'),
      role: fc.constantFrom('weight', 'state'),
      stat: fc.string(),
      isNamedByStat: fc.boolean(),
      data: fc.oneof(range, fc.constant(null), fc.constant(bytesPayload(Uint8Array.of(1)))),
      quant: fc.constant({ scheme: 'symmetric', scales: [1] }),
      extra: fc.constant({ some: 'thing' }),
    },
    { requiredKeys: ['parts', 'isJoined', 'hasPath', 'dtype', 'shape', 'order', 'role', 'data'] },
  )
  .map(({ parts, isJoined, isNamedByStat, hasPath, ...rest }) => ({
    ...rest,
    name: (isJoined ? parts.join('.') : (parts[0] ?? 'none')) + (isNamedByStat ? `#${rest.stat}` : ''),
    ...(hasPath && { path: parts }),
  })) as fc.Arbitrary<Tensor>

describe('packed tensors', () => {
  it('are what was put in', () => {
    fc.assert(
      fc.property(fc.array(tensor, { maxLength: 40 }), (tensors) => {
        const packed = PackedTensors.from(tensors)
        expect([...packed]).toEqual(tensors)
        expect(tensors.map((_, i) => packed.nameAt(i))).toEqual(tensors.map(({ name }) => name))
      }),
    )
  })

  it('do what an array of them does', () => {
    const isWanted = (each: Tensor, i: number): boolean => each.shape.length > 1 && i % 3 > 0
    const compare = (a: Tensor, b: Tensor): number => a.shape.length - b.shape.length
    fc.assert(
      fc.property(fc.array(tensor, { maxLength: 20 }), fc.integer({ min: -25, max: 25 }), (tensors, at) => {
        const packed = PackedTensors.from(tensors)
        expect(packed.at(at)).toEqual(tensors.at(at))
        expect(packed.slice(at)).toEqual(tensors.slice(at))
        expect(packed.slice(1, at)).toEqual(tensors.slice(1, at))
        expect([...packed.keys()]).toEqual([...tensors.keys()])
        expect([...packed.entries()]).toEqual([...tensors.entries()])
        expect(packed.map((each, i) => [each.name, i])).toEqual(tensors.map((each, i) => [each.name, i]))
        expect(packed.flatMap(({ shape }) => shape)).toEqual(tensors.flatMap(({ shape }) => shape))
        expect(packed.filter(isWanted)).toEqual(tensors.filter(isWanted))
        expect(packed.find(isWanted)).toEqual(tensors.find(isWanted))
        expect(packed.some(isWanted)).toBe(tensors.some(isWanted))
        expect(packed.every(isWanted)).toBe(tensors.every(isWanted))
        expect(packed.reduce((sum, { name }, i) => sum + i + name, '')).toBe(
          tensors.reduce((sum, { name }, i) => sum + i + name, ''),
        )
        expect(packed.toSorted(compare)).toEqual(tensors.toSorted(compare))
        expect(packed.toJSON()).toEqual(tensors)
      }),
    )
  })

  it('have the shapes that they had, however many there are', () => {
    const shapes = Array.from({ length: 10_000 }, (_, i) => [i % 5000, 2])
    const [one] = fc.sample(tensor, 1) as [Tensor]
    const packed = PackedTensors.from(shapes.map((shape) => ({ ...one, shape })))
    expect(packed.map(({ shape }) => shape)).toEqual(shapes)
  })

  it('can be replaced', () => {
    const [one, two] = fc.sample(tensor, 2) as [Tensor, Tensor]
    const packed = PackedTensors.from([one, one, one])
    packed.replace(1, two)
    expect([...packed]).toEqual([one, two, one])
  })

  it('give their bytes', async () => {
    const packed = PackedTensors.from([
      { name: 'w', dtype: f32, shape: [3], order: 'row', role: 'weight', data: rangePayload(sources[0]!, 7, 3) },
    ])
    expect(await readPayload(packed.at(0)!.data!)).toEqual(Uint8Array.of(7, 8, 9))
  })
})
