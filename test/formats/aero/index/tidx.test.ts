import { encode } from '@msgpack/msgpack'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { strictReport, TareError } from '../../../../src/errors/index.js'
import { parseIndex } from '../../../../src/formats/aero/index/tidx.js'
import { MemorySource, openModel } from '../../../../src/kit.js'
import { aeroBytes, entry, index, weights } from '../build.js'

const chunk = { index: 0, fourcc: 'TIDX', name: 'tensors', flags: 4, offset: 0, ulen: 0, hash: new Uint8Array(32) }

/** Everything that the parser says about each entry. */
function parsed(bytes: Uint8Array): unknown[] {
  const entries: unknown[] = []
  const content = { chunk: { ...chunk, length: bytes.byteLength }, bytes }
  parseIndex(content, strictReport('test.aero'), ({ at: _at, ...each }) => entries.push(each))
  return entries
}

const hexDigits = fc.constantFrom(...'0123456789abcdefABCDEF')
/** The encoder writes larger numbers as floats, unless they are bigints. */
const large = (value: number): number | bigint => (value < 2 ** 32 ? value : BigInt(value))

const anyEntry = fc.record(
  {
    name: fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: 'grapheme', maxLength: 20 })),
    dtype: fc.oneof(fc.nat(12), fc.constantFrom(0x8000, 65_537, 2n ** 40n)),
    shape: fc.array(fc.oneof(fc.nat(200), fc.nat(), fc.constantFrom(2n ** 33n, 2n ** 53n - 1n)), {
      maxLength: 18,
    }),
    shard_id: fc.oneof(fc.nat(3), fc.nat()),
    data_off: fc.oneof(fc.nat(70_000), fc.maxSafeNat().map(large), fc.constant(2n ** 63n)),
    data_len: fc.oneof(fc.nat(70_000), fc.maxSafeNat().map(large)),
    flags: fc.constantFrom(0, 0, 0, 1, 300),
    hash_b3: fc.oneof(
      fc.string({ unit: hexDigits, minLength: 64, maxLength: 64 }),
      fc.constantFrom('', 'g'.repeat(64), 'ab'),
    ),
    quant_id: fc.nat(3),
    quant_params: fc.constant({ ggml_type: 2 }),
  },
  { requiredKeys: ['name', 'dtype', 'shape', 'shard_id', 'data_off', 'data_len'] },
)

const options = { useBigInt64: true }
const behind = Array.from({ length: 20 }, (_, i) => entry(`behind.${i}`))
const encoded = (entries: readonly object[]): Uint8Array => encode({ tensors: [...entries, ...behind] }, options)

describe('entries of the index', () => {
  it('mean the same in the order of the writers and in any other', () => {
    fc.assert(
      fc.property(fc.array(anyEntry, { maxLength: 40 }), (entries) => {
        const reversed = entries.map((each) => Object.fromEntries(Object.entries(each).reverse()))
        const expected = parsed(encoded(reversed))
        expect(parsed(encoded(entries))).toEqual(expected)
        expect(parsed(encode({ tensors: entries }, options))).toEqual(expected.slice(0, entries.length))
      }),
      { numRuns: 200 },
    )
  })

  it('that were cut or changed give an error, or entries, but nothing else', () => {
    const whole = encoded(Array.from({ length: 30 }, (_, i) => entry(`t${i}`, { hash_b3: '0f'.repeat(32) })))
    fc.assert(
      fc.property(fc.nat(whole.byteLength - 1), fc.nat(255), fc.boolean(), (at, value, isCut) => {
        const bytes = isCut ? whole.slice(0, at) : whole.slice()
        if (!isCut) bytes[at] = value
        try {
          parsed(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(TareError)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('with names that only together are UTF-8 are refused', () => {
    const bytes = encoded([entry('aé'), entry('b')])
    const at = Buffer.from(bytes).indexOf('é')
    // The first name keeps one byte of the letter.
    bytes[at - 2]! -= 1
    expect(() => parsed(bytes)).toThrow(TareError)
  })

  it('keep their order, shapes and hashes', async () => {
    const count = 1000
    const tensors = Array.from({ length: count }, (_, i) =>
      entry(`layer.${i}.${i % 7 === 0 ? 'größe' : 'weight'}`, {
        shape: [1 + (i % 5), 1],
        data_off: i,
        data_len: 1 + (i % 5),
        hash_b3: i.toString(16).padStart(64, '0'),
      }),
    )
    const model = await openModel(new MemorySource(await aeroBytes([index(...tensors), weights(count + 10)])))
    expect(model.tensors.map(({ name, shape, data }) => [name, shape, data!.origin!.length])).toEqual(
      tensors.map(({ name, shape, data_len }) => [name, shape, data_len]),
    )
  })

  it('that say a name twice are found, however far apart', async () => {
    const names = [...Array.from({ length: 2000 }, (_, i) => `t${i}`), 't3']
    const bytes = await aeroBytes([index(...names.map((name) => entry(name))), weights()])
    await expect(openModel(new MemorySource(bytes))).rejects.toMatchObject({
      code: 'aero/tidx-duplicate',
      finding: { path: 'tensors[2000].name' },
    })
  })
})
