// The index both ways: read, with a byte map and without, and written; and which tensors are stored once.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ExtentList } from '../../../../src/bytes/index.js'
import { f32 } from '../../../../src/dtypes/index.js'
import { encodeTensorIndex } from '../../../../src/formats/mcf/tensor-index/encode-index.js'
import { ownersOf } from '../../../../src/formats/mcf/write/place.js'
import { bytesPayload, MemorySource, openModel, rangePayload, type Tensor } from '../../../../src/kit.js'
import { readWith } from '../../../support/read-with.js'
import { assemble, base, indexOf, inEntry, poke, sectionOf } from '../build.js'

const entry = (name: string, at: number) => ({ name, dtype: 1, dims: [4n], dataOff: BigInt(at), dataSize: 16n })

describe('the index', () => {
  it('says the same with a byte map and without', async () => {
    const own = assemble([
      [4, new Uint8Array(128)],
      [3, indexOf([entry('b', 64), entry('b', 80), entry('a', 96), entry('é', 112), entry('c', 128)])],
    ])
    const change = fc.record({ at: fc.nat(400), value: fc.constantFrom(0, 1, 2, 4, 16, 64, 0x61, 0x80, 0xff) })
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(own, base()), fc.array(change, { maxLength: 3 }), async (original, changes) => {
        const file = original.slice()
        const { offset, size } = sectionOf(file, 3)
        for (const { at, value } of changes) file[offset + (at % size)] = value
        expect(await readWith('mcf', file, undefined)).toEqual(await readWith('mcf', file, new ExtentList()))
      }),
      { numRuns: 500 },
    )
  })

  it('is read when it is long', async () => {
    const names = Array.from({ length: 40_000 }, (_, i) => `t${String((i * 7919) % 40_000).padStart(6, '0')}`)
    const index = indexOf(names.map((name, i) => entry(name, 64 + 16 * (i % 4))))
    const { tensors } = await openModel(
      new MemorySource(
        assemble([
          [4, new Uint8Array(128)],
          [3, index],
        ]),
        'a.mcf',
      ),
    )
    expect(Array.from(tensors, ({ name }) => name)).toEqual(names)
    expect(Array.from(tensors, ({ data }) => data!.origin!.offset)).toEqual(names.map((_, i) => 64 + 16 * (i % 4)))
  })

  it('does not compare names that share their bytes again and again', async () => {
    const count = 20_000
    const names = ['a'.repeat(1_000_000), ...Array.from({ length: count }, () => 'a')]
    const file = assemble([
      [4, new Uint8Array(128)],
      [3, indexOf(names.map((name) => entry(name, 64)))],
    ])
    for (let i = 0; i < names.length; i++) {
      poke(file, inEntry(file, i, 'nameOff'), 0, 4)
      poke(file, inEntry(file, i, 'nameLen'), 900_000 + i, 4)
    }
    const start = performance.now()
    const { findings } = await readWith('mcf', file, undefined)
    expect(findings.map(({ code }) => code)).toContain('mcf/index-names-over-limit')
    expect(performance.now() - start).toBeLessThan(3000)
  })

  it('names the first of two entries that are called the same, wherever it stands', async () => {
    const names = ['a', 'b', 'b', 'c', 'a']
    const index = indexOf(names.map((name) => entry(name, 64)))
    const { findings } = await readWith(
      'mcf',
      assemble([
        [4, new Uint8Array(128)],
        [3, index],
      ]),
      undefined,
    )
    const twice = findings.filter(({ code }) => code === 'mcf/duplicate-name')
    expect(twice.map(({ path, message }) => [path, message])).toEqual([
      ['tensor_index.entries[2]', '"b" is also the name of entry 1'],
      ['tensor_index.entries[4]', '"a" is also the name of entry 0'],
    ])
  })
})

const tensor = (name: string, data = bytesPayload(new Uint8Array(16)), rawName?: Uint8Array[]): Tensor => ({
  ...{ name, dtype: f32, shape: [4], order: 'row', role: 'weight', data },
  ...(rawName && { rawName }),
})

describe('the bytes of an index', () => {
  it('end with those of all names', () => {
    const name = fc.oneof(fc.string({ unit: 'binary', maxLength: 6 }), fc.string({ maxLength: 6 }))
    const half = fc.constantFrom('\ud800', 'a\udc00b', '\udc00\ud800', '\u{10000}\ud800')
    fc.assert(
      fc.property(fc.array(fc.oneof(name, half), { maxLength: 20 }), (names) => {
        const tensors = [...names.map((each) => tensor(each)), tensor('?', undefined, [Uint8Array.of(0xff)])]
        const index = encodeTensorIndex(
          tensors,
          tensors.map(() => 0),
        )
        const expected = Buffer.concat([...names.map((each) => Buffer.from(each)), Buffer.of(0xff)])
        expect(Buffer.compare(index.subarray(-expected.byteLength), expected)).toBe(0)
      }),
    )
  })

  it('are those of each entry, for many tensors', () => {
    const count = 10_000
    const tensors = Array.from({ length: count }, (_, i) => tensor(`t${String(i).padStart(5, '0')}`))
    const offsets = tensors.map((_, i) => 2 ** 40 + 64 * i)
    const expected = indexOf(tensors.map(({ name }, i) => entry(name, offsets[i]!)))
    expected[4] = 3 // sorted and UTF-8
    expect(Buffer.compare(encodeTensorIndex(tensors, offsets), expected)).toBe(0)
  })
})

describe('tensors with the same bytes', () => {
  it('are found by range and by payload, each with the first one', () => {
    const sources = [new MemorySource(new Uint8Array(64), 'a'), new MemorySource(new Uint8Array(64), 'b')]
    const payloads = [new Uint8Array(4), new Uint8Array(4)].map(bytesPayload)
    const range = fc.record({ source: fc.nat(1), offset: fc.nat(3), length: fc.nat(2) })
    const ranged = range.map(({ source, offset, length }) => rangePayload(sources[source]!, offset, length))
    const data = fc.oneof(ranged, fc.constantFrom(...payloads))
    fc.assert(
      fc.property(fc.array(data, { maxLength: 30 }), (list) => {
        const keys = list.map((each) => {
          const { origin } = each
          return origin
            ? `${origin.source.name} ${origin.offset} ${origin.length}`
            : `payload ${payloads.indexOf(each)}`
        })
        const tensors = list.map((each, i) => tensor(String(i), each))
        const expected = keys.map((key) => keys.indexOf(key))
        expect(ownersOf(tensors, tensors.toReversed())).toEqual(expected)
      }),
    )
  })
})
