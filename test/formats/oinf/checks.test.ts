// Every check, each fired by a file that is wrong in one place.
import { describe, expect, it } from 'vitest'
import { codes, type OinfCode } from '../../../src/formats/oinf/codes.js'
import { MemorySource, openModel, TareError, verifySource } from '../../../src/kit.js'
import {
  bytes,
  type Craft,
  type CraftedValue,
  craft,
  f32,
  join,
  ndarray,
  padded,
  quant,
  string,
  u32,
  u64,
} from './build.js'

const value = (type: number, payload: Uint8Array, more: Partial<CraftedValue> = {}): Craft => ({
  metadata: [{ key: 'k', type, payload, ...more }],
})
const tensor = (more: Partial<NonNullable<Craft['tensors']>[number]>, version = 1): Craft => ({
  version,
  tensors: [{ name: 't', tag: 5, dims: [2], data: bytes(1, 2), ...more }],
})
const quantized = (payload: Uint8Array, more: object = {}): Craft =>
  tensor({ quant: payload, dims: [2, 1], ...more }, 2)
const offsetsWith =
  (index: number, change: (offset: bigint) => bigint): Craft['offsets'] =>
  (offsets) =>
    offsets.map((offset, i) => (i === index ? change(offset) : offset))
const cut = (length: number): Craft => ({ patch: (file) => file.subarray(0, length) })
const valid: Craft = {
  sizevars: [['B', 4n]],
  metadata: [{ key: 'mode', type: 14, payload: string('fast') }],
  tensors: [{ name: 't', tag: 10, dims: [2], data: f32(1, 2) }],
}

const fired: readonly (readonly [OinfCode, string, Craft])[] = [
  ['magic', 'another first byte', { patch: (file) => file.fill(0x50, 0, 1) }],
  ['magic', 'text from before the binary format', { patch: () => new TextEncoder().encode('D := 128\nx: f32[D]\n') }],
  ['truncated', '68 bytes', cut(68)],
  ['truncated', 'the magic alone', cut(5)],
  ['version', 'version 3', { version: 3 }],
  ['file-size', 'one byte more', { patch: (file) => join(file, bytes(0)) }],
  ['file-size', 'one byte less', { ...valid, patch: (file) => file.subarray(0, -1) }],
  [
    'file-size-alignment',
    'an end that is not aligned',
    { ...tensor({}), offsets: offsetsWith(4, (end) => end - 6n), patch: (file) => file.subarray(0, -6) },
  ],
  ['header-flags', 'flags', { flags: 1 }],
  ['header-reserved', 'reserved', { reserved: 7 }],
  ['section-order', 'metadata before sizevars', { ...valid, offsets: offsetsWith(1, () => 64n) }],
  ['section-order', 'data beyond the end', { offsets: (all) => [...all.slice(0, 3), 80n, 80n] }],
  ['section-order', 'offsets beyond 2^63', { offsets: offsetsWith(3, () => 2n ** 64n - 8n) }],
  ['section-alignment', 'tensors at an odd place', { ...valid, offsets: offsetsWith(2, (at) => at - 4n) }],
  ['section-in-header', 'a table at 0', { ...valid, offsets: offsetsWith(0, () => 0n) }],
  ['section-empty-offset', 'an empty table at 0', { offsets: offsetsWith(0, () => 0n) }],
  [
    'index-limit',
    'values that overlap to more than the file',
    {
      metadata: Array.from({ length: 40 }, (_, i) => ({
        key: `k${i}`,
        type: 15,
        payload: i === 0 ? ndarray(5, [16000], new Uint8Array(16000)) : bytes(),
        nbytes: 16016n,
        offset: 40n * 32n + 72n,
      })),
    },
  ],
  ['count', 'four billion sizevars', { counts: [0xffff_ffff, 0, 0] }],
  ['count', 'four billion tensors', { ...valid, counts: [1, 1, 0xffff_ffff] }],
  [
    'table-overrun',
    'a sizevar too few',
    {
      sizevars: [['abcdefgh', 1n]],
      counts: [1, 0, 0],
      offsets: (all) => [72n, ...all.slice(1).map((at) => at - 8n)],
      patch: (file) => file.subarray(0, -8),
    },
  ],
  [
    'table-overrun',
    'ranges beyond the table',
    { ...tensor({ name: 'tensor' }), offsets: offsetsWith(3, (at) => at - 8n) },
  ],
  [
    'string-length',
    'a length beyond the file',
    { ...valid, patch: (_, view) => void view.setUint32(72, 0xffff_ffff, true) },
  ],
  ['string-empty', 'no name', { sizevars: [['', 1n]] }],
  ['string-charset', 'a slash', { sizevars: [['a/b', 1n]] }],
  ['string-charset', 'UTF-8', { sizevars: [['ä', 1n]] }],
  ['string-charset', 'a zero byte', value(14, string('a\0'))],
  ['string-charset', 'a line feed alone', value(14, string('\n'))],
  ['string-newline', 'a line feed at the end', value(14, string('a\n'))],
  [
    'duplicate-sizevar',
    'twice',
    {
      sizevars: [
        ['a', 1n],
        ['a', 2n],
      ],
    },
  ],
  ['duplicate-metadata', 'twice', { metadata: [1, 2].map((byte) => ({ key: 'a', type: 5, payload: bytes(byte) })) }],
  ['duplicate-tensor', 'twice', { tensors: [1, 2].map(() => ({ name: 'a', tag: 5, dims: [1], data: bytes(1) })) }],
  [
    'name-escape',
    'two names that are one',
    { tensors: ['x-_41_-y', 'x-_2d_-_41_-y'].map((name) => ({ name, tag: 5, dims: [], data: bytes(1) })) },
  ],
  [
    'name-escape',
    'two keys that are one',
    {
      metadata: [
        { key: 'a', type: 5, payload: bytes(1) },
        { key: 'tare.oinf.text.a', type: 15, payload: ndarray(5, [3], bytes(0x61, 0x20, 0x62)) },
      ],
    },
  ],
  ['metadata-type', 'type 0', value(0, bytes(1))],
  ['metadata-type', 'type 26', value(26, bytes(1))],
  ['metadata-flags', 'flags', value(5, bytes(1), { flags: 1 })],
  ['metadata-alignment', 'an odd offset', value(5, bytes(1), { offset: 108n })],
  ['metadata-before-data', 'inside the tables', value(5, bytes(1), { offset: 72n })],
  ['metadata-past-end', 'beyond the end', value(5, bytes(1), { offset: 112n })],
  ['metadata-past-end', 'a size that wraps', value(5, bytes(1), { nbytes: 2n ** 64n - 1n })],
  ['scalar-size', 'a u8 of two bytes', value(5, bytes(1, 0))],
  ['scalar-size', 'an f64 of four', value(11, f32(1))],
  ['scalar-bits', 'an i4 of five bits', value(18, bytes(0x1f))],
  ['string-size', 'padding missing', value(14, join(u32(3), bytes(97, 98, 99)))],
  ['string-size', 'two bytes', value(14, bytes(1, 0))],
  ['bitset-size', 'four bytes', value(13, u32(8))],
  ['bitset-size', 'padding missing', value(13, join(u32(8, 1), bytes(1)))],
  ['bitset-count', 'bytes for other bits', value(13, padded(join(u32(8, 2), bytes(1, 1))))],
  ['bitset-tail', 'a bit too many', value(13, padded(join(u32(3, 1), bytes(9))))],
  ['ndarray-size', 'four bytes', value(15, u32(5))],
  ['ndarray-size', 'an element too few', value(15, ndarray(7, [3], u32(1)))],
  ['ndarray-type', 'strings', value(15, ndarray(14, [1], bytes(1)))],
  ['ndarray-type', 'bitsets', value(15, ndarray(13, [1], bytes(1)))],
  ['ndarray-dims', 'two billion dimensions', value(15, padded(u32(5, 0x7fff_ffff)))],
  ['ndarray-overflow', 'more than 2^53 elements', value(15, ndarray(5, [2 ** 32, 2 ** 32], bytes()))],
  ['ndarray-overflow', 'a dimension of 2^63', value(15, ndarray(5, [2n ** 63n], bytes()))],
  ['tensor-type', 'strings', tensor({ tag: 14 })],
  ['tensor-type', 'type 26', tensor({ tag: 26 })],
  ['tensor-bitset', 'bitsets', tensor({ tag: 13 })],
  ['tensor-flags', 'bit 2 in version 2', tensor({ flags: 5 }, 2)],
  ['tensor-flags-unknown', 'bit 31 in version 1', tensor({ flags: 0x8000_0001 })],
  ['tensor-dims', 'two billion dimensions', tensor({ ndim: 0x7fff_ffff })],
  ['tensor-overflow', 'a dimension of 2^53', tensor({ dims: [2n ** 53n], data: bytes() })],
  ['tensor-overflow', 'elements beyond 2^53', tensor({ dims: [2 ** 32, 2 ** 32], data: bytes() })],
  ['tensor-overflow', 'bytes beyond 2^53', tensor({ tag: 11, dims: [2 ** 52], data: bytes() })],
  ['tensor-no-data', 'a size without data', tensor({ flags: 0 })],
  ['tensor-alignment', 'an odd offset', tensor({ offset: 124n })],
  ['tensor-before-data', 'inside the tables', tensor({ offset: 72n })],
  ['tensor-size', 'a byte too few', tensor({ nbytes: 1n })],
  ['tensor-size', 'packed bytes rounded up too far', tensor({ tag: 18, dims: [2] })],
  ['tensor-past-end', 'beyond the end', tensor({ offset: 128n })],
  ['tensor-past-end', 'an offset that wraps', tensor({ offset: 2n ** 64n - 8n })],
  ['tensor-tail', 'bits after the last element', tensor({ tag: 18, dims: [3], data: bytes(0x11, 0x31) })],
  ['tensor-tail', 'bits after the last element of an array', value(15, ndarray(20, [3], bytes(8)))],
  ['tensor-tail', 'the fourth code after the last ternary', tensor({ tag: 24, dims: [3], data: bytes(0x80) })],
  ['tensor-t2', 'the fourth code', tensor({ tag: 24, dims: [3], data: bytes(0x08) })],
  ['quant-no-flag', 'an offset without the flag', tensor({ quantOffset: 8n }, 2)],
  ['quant-alignment', 'an odd offset', quantized(quant(), { quantOffset: 148n })],
  ['quant-before-data', 'inside the tables', quantized(quant(), { quantOffset: 72n })],
  ['quant-past-end', 'beyond the end', quantized(quant(), { quantNbytes: 64n })],
  ['quant-size', '40 bytes', quantized(quant().subarray(0, 40))],
  ['quant-size', 'eight bytes more', quantized(join(quant(), u64(0)))],
  ['quant-scheme', 'scheme 3', quantized(quant({ scheme: 3 }))],
  ['quant-scale-mode', 'mode 0', quantized(quant({ scaleMode: 0 }))],
  ['quant-zero-mode', 'mode 3', quantized(quant({ zpMode: 3 }))],
  ['quant-reserved', 'reserved', quantized(quant({ reserved: 1 }))],
  ['quant-scale-axis', 'an axis per tensor', quantized(quant({ scaleAxis: 1 }))],
  ['quant-scale-axis', 'an axis that is not there', quantized(quant({ scaleMode: 2, scaleAxis: 2 }))],
  ['quant-scale-count', 'two scales per tensor', quantized(quant({ scales: [1, 2] }))],
  ['quant-scale-count', 'a huge count', quantized(quant({ scaleCount: 2n ** 63n }))],
  ['quant-symmetric', 'zero points', quantized(quant({ zpMode: 1, zeroPoints: [1] }))],
  ['quant-zero-mismatch', 'other modes', quantized(quant({ scheme: 2, zpMode: 2, zeroPoints: [1, 2] }))],
  [
    'quant-zero-axis',
    'another axis',
    quantized(quant({ scheme: 2, scaleMode: 2, zpMode: 2, zpAxis: 1, scales: [1, 1], zeroPoints: [1, 1] })),
  ],
  ['quant-zero-count', 'zero points without a mode', quantized(quant({ scheme: 2, zeroPoints: [1] }))],
  ['quant-zero-axis-unused', 'an axis without zero points', quantized(quant({ zpAxis: 9 }))],
  ['quant-scale-value', 'a scale of NaN', quantized(quant({ scales: [Number.NaN] }))],
  ['quant-scale-value', 'a scale of 0', quantized(quant({ scales: [0] }))],
  [
    'quant-misplaced',
    'data first, quantization after them',
    {
      version: 2,
      misplaced: true,
      tensors: [1, 2].map((i) => ({ name: `t${i}`, tag: 1, dims: [2], data: bytes(i, i), quant: quant() })),
    },
  ],
  ['engine-limits', 'ternary tensors in version 2', tensor({ tag: 24, dims: [8] }, 2)],
  ['engine-limits', 'an array with padding', value(15, ndarray(5, [3], bytes(1, 2, 3)))],
  ['engine-limits', 'a long bitset', value(13, padded(join(u32(9, 2), bytes(1, 1))))],
  ['engine-limits', 'a packed array in version 2', { ...value(15, ndarray(23, [64], new Uint8Array(8))), version: 2 }],
  ['padding', 'after the header', { patch: (file) => file.fill(1, 70, 71) }],
  ['padding', 'after a name', { sizevars: [['a', 1n]], patch: (file) => file.fill(1, 77, 78) }],
  ['padding', 'after a table', { ...tensor({}), patch: (file) => file.fill(1, 116, 117) }],
  ['padding', 'after a scalar', { ...value(5, bytes(1)), patch: (file) => file.fill(1, -1) }],
  ['padding', 'inside a string value', value(14, join(u32(1), bytes(97, 0, 0, 1)))],
  ['padding', 'inside quantization', quantized(join(quant().subarray(0, 52), u32(1)))],
  ['padding', 'after a tensor', { ...tensor({}), patch: (file) => file.fill(1, -1) }],
  [
    'overlap',
    'two tensors at one place',
    {
      tensors: ['a', 'b'].map((name) => ({
        name,
        tag: 5,
        dims: [8],
        data: bytes(1, 1, 1, 1, 1, 1, 1, 1),
        offset: 160n,
      })),
    },
  ],
  [
    'gap',
    'room between values',
    {
      tensors: [
        { name: 'a', tag: 5, dims: [1], data: bytes(1) },
        { name: 'b', tag: 5, dims: [1], data: new Uint8Array(32), nbytes: 1n, offset: 184n },
      ],
      patch: (file) => file.fill(1, 184, 185),
    },
  ],
  [
    'gap-bytes',
    'something between values',
    { tensors: [{ name: 'a', tag: 5, dims: [1], data: new Uint8Array(32).fill(1), nbytes: 1n }] },
  ],
  [
    'trailing-bytes',
    'zeros after the last value',
    { tensors: [{ name: 'a', tag: 5, dims: [1], data: new Uint8Array(32), nbytes: 1n }] },
  ],
]

describe('checks', () => {
  it.each(fired)('%s: %s', async (code, _, parts) => {
    const { findings } = await verifySource(new MemorySource(craft(parts), 'model.oinf'))
    const found = findings.map((finding) => finding.code)
    expect(found).toContain(`oinf/${code}`)
    expect(found).not.toContain('verify/internal')
    for (const finding of findings.filter((each) => each.code.startsWith('oinf/'))) {
      expect(finding.offset, finding.code).toBeTypeOf('number')
      expect(finding.path, finding.code).toBeTypeOf('string')
    }
  })

  it.each(fired)('%s: %s, when opened', async (code, _, parts) => {
    const opened = openModel(new MemorySource(craft(parts), 'model.oinf'))
    if (codes[code].severity !== 'error') await expect(opened).resolves.toBeDefined()
    else await expect(opened).rejects.toThrow(TareError)
  })

  it('bool-value: in metadata, arrays and tensors', async () => {
    const odd = [
      value(12, bytes(2)),
      value(15, ndarray(12, [2], bytes(1, 2))),
      tensor({ tag: 12, data: bytes(1, 255) }),
    ]
    for (const parts of odd) {
      const { findings } = await verifySource(new MemorySource(craft(parts), 'model.oinf'))
      expect(findings.map(({ code }) => code)).toContain('verify/bool-value')
    }
  })

  it('tensor-t2: in metadata and arrays, but not beyond their end', async () => {
    const findingsOf = async (parts: Craft) =>
      (await verifySource(new MemorySource(craft(parts), 'model.oinf'))).findings.map(({ code }) => code)
    expect(await findingsOf(value(24, bytes(2)))).toContain('oinf/tensor-t2')
    expect(await findingsOf(value(15, ndarray(24, [5], bytes(0x00, 0x02))))).toContain('oinf/tensor-t2')
    expect(await findingsOf(value(15, ndarray(24, [5], bytes(0x55, 0x0b))))).not.toContain('oinf/tensor-t2')
    expect(await findingsOf(value(24, bytes(3)))).not.toContain('oinf/tensor-t2')
  })

  it('has one for every code', () => {
    expect(new Set(fired.map(([code]) => code))).toEqual(new Set(Object.keys(codes)))
  })

  it('finds nothing wrong with a right file', async () => {
    for (const version of [1, 2]) {
      const { verdict, findings } = await verifySource(new MemorySource(craft({ ...valid, version }), 'model.oinf'))
      expect(findings.map((finding) => finding.code)).toEqual(['verify/no-checksums'])
      expect(verdict).toBe('ok')
    }
  })

  it('says where and what', async () => {
    const { findings } = await verifySource(new MemorySource(craft(tensor({ nbytes: 1n })), 'model.oinf'))
    expect(findings[0]).toMatchObject({
      code: 'oinf/tensor-size',
      offset: 100,
      path: 'tensors[0].data_nbytes',
      message: '1 bytes, but shape [2] of u8 takes 2',
    })
  })

  it('goes on with the other tables when one cannot be read', async () => {
    const parts: Craft = { ...valid, counts: [9, 1, 1], metadata: [{ key: 'k', type: 0, payload: bytes(1) }] }
    const { findings } = await verifySource(new MemorySource(craft(parts), 'model.oinf'))
    expect(findings.map(({ code }) => code)).toEqual(expect.arrayContaining(['oinf/count', 'oinf/metadata-type']))
  })

  it('accepts an empty shape whose other dimensions would overflow', async () => {
    const parts = tensor({ dims: [2 ** 40, 0, 2 ** 40], data: bytes() })
    expect((await verifySource(new MemorySource(craft(parts), 'model.oinf'))).verdict).toBe('ok')
  })
})
