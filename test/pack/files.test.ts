import { describe, expect, test } from 'vitest'
import { dtypeById, type Tensor } from '../../src/kit.js'
import { readPayload } from '../../src/model/index.js'
import { npyHeader } from '../../src/wire/npy/header.js'
import { convertToFiles } from '../support/convert.js'
import { bytesOf, filesOf, pack, refusalOf, valuesOf } from './support.js'

const join = (...parts: Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]))
const npy = (dtype: string, shape: number[], data: ArrayBufferView, fortran = false): Uint8Array =>
  join(npyHeader(dtype, shape, fortran), bytesOf(data))

/** An NPY file as another machine would write it. */
function bigEndian(descr: string, shape: string, data: ArrayBufferView, width: number): Uint8Array {
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${shape}, }`.padEnd(117)
  const swapped = bytesOf(data).slice()
  for (let at = 0; at < swapped.length; at += width) swapped.subarray(at, at + width).reverse()
  return join(
    Uint8Array.of(0x93),
    new TextEncoder().encode('NUMPY'),
    Uint8Array.of(1, 0, 118, 0),
    new TextEncoder().encode(`${text}\n`),
    swapped,
  )
}

const packFiles = (entry: object, files: Record<string, Uint8Array>) =>
  pack({ sizevars: { D: 2 }, tensors: { t: entry } }, filesOf(files))
const two = Float32Array.of(1.5, -2)

test('a .npy file brings type and shape', async () => {
  const model = await packFiles({ file: 'a.npy', shape: ['D'] }, { 'a.npy': npy('f32', [2], two) })
  expect(model.tensors.at(0)).toMatchObject({ dtype: { id: 'f32' }, shape: [2], order: 'row' })
  expect(await valuesOf(model, 't')).toEqual([1.5, -2])
  expect(model.files.map(({ name }) => name)).toEqual(['a.npy'])
})

test('a file that is named twice is opened once', async () => {
  const model = await pack(
    { tensors: { a: { file: 'x.npy' }, b: { file: 'x.npy' } } },
    filesOf({ 'x.npy': npy('f32', [2], two) }),
  )
  expect(model.files).toHaveLength(1)
})

test('bytes will do in place of a source', async () => {
  const model = await pack({ tensors: { t: { file: 'a.npy' } } }, { readFile: async () => npy('f32', [2], two) })
  expect(await valuesOf(model, 't')).toEqual([1.5, -2])
})

test('Fortran order comes out row-major', async () => {
  const model = await packFiles(
    { file: 'a.npy' },
    { 'a.npy': npy('u8', [2, 3], Uint8Array.of(1, 4, 2, 5, 3, 6), true) },
  )
  expect(model.tensors.at(0)!.order).toBe('column')
  const [bytes] = (await convertToFiles(model, 'safetensors')).values()
  expect([...bytes!.slice(-6)]).toEqual([1, 2, 3, 4, 5, 6])
})

test('big-endian elements are turned round, complex ones by halves', async () => {
  const files = { 'a.npy': bigEndian('>f4', '(2,)', two, 4), 'c.npy': bigEndian('>c8', '(1,)', two, 4) }
  expect(await valuesOf(await packFiles({ file: 'a.npy' }, files), 't')).toEqual([1.5, -2])
  expect(await valuesOf(await packFiles({ file: 'c.npy' }, files), 't')).toEqual([{ re: 1.5, im: -2 }])
})

test('raw files need type and shape, and take packed and block types', async () => {
  const model = await packFiles({ file: 'w.bin', dtype: 'i4', shape: ['D', 2] }, { 'w.bin': Uint8Array.of(0x21, 0xf8) })
  expect(await valuesOf(model, 't')).toEqual([1, 2, -8, -1])
  const block = { file: 'w.bin', dtype: 'ggml.q4_0', shape: [32] }
  expect((await packFiles(block, { 'w.bin': new Uint8Array(18) })).tensors.at(0)!.dtype.id).toBe('ggml.q4_0')
})

test.each<[string, string, number[], readonly number[], string]>([
  ['a boolean beyond 1', 'bool', [4], [0, 1, 2, 1], 'byte 2: 2 does not fit bool'],
  ['the fourth ternary code', 't2', [8], [0b11_00_01_00, 0b01_10_11_00], 'byte 1: a code that is none'],
  ['bits after the last element', 'i4', [3], [0x21, 0x13], 'byte 1: bits after the last element'],
  ['the fourth code after the last element', 't2', [3], [0b10_00_01_00], 'byte 0: bits after the last element'],
])('raw files cannot bring in what is not a value: %s', async (_, dtype, shape, bytes, message) => {
  const model = await packFiles({ file: 'w.bin', dtype, shape }, { 'w.bin': Uint8Array.from(bytes) })
  const refusal = await refusalOf(() => valuesOf(model, 't'))
  expect(refusal).toMatchObject({ code: 'pack/value-range', path: 'tensors.t.file' })
  expect(refusal.message).toContain(message)
})

test('raw bytes that are values come through as they are', async () => {
  for (const [dtype, shape, bytes] of [
    ['bool', [3], [0, 1, 1]],
    ['t2', [3], [0b00_11_01_00]],
    ['u1', [3], [0b101]],
    ['i4', [3], [0xf8, 0x07]],
  ] as const) {
    const model = await packFiles({ file: 'w.bin', dtype, shape }, { 'w.bin': Uint8Array.from(bytes) })
    expect([...(await readPayload(model.tensors.at(0)!.data!))], dtype).toEqual([...bytes])
  }
})

test('a .npy file of booleans cannot hold others', async () => {
  const model = await packFiles({ file: 'b.npy' }, { 'b.npy': npy('bool', [2], Uint8Array.of(1, 3)) })
  expect((await refusalOf(() => valuesOf(model, 't'))).message).toContain('byte 1: 3 does not fit bool')
})

test('metadata arrays come from files too, in row-major order', async () => {
  const file = npy('u8', [2, 3], Uint8Array.of(1, 4, 2, 5, 3, 6), true)
  const { metadata } = await pack(
    { metadata: { m: { file: 'm.npy', dtype: 'u16', shape: [2, 3] } } },
    filesOf({ 'm.npy': file }),
  )
  expect(metadata.get('m')).toMatchObject({
    type: 'ndarray',
    shape: [2, 3],
    value: bytesOf(Uint16Array.of(1, 2, 3, 4, 5, 6)),
  })
})

describe('another type for the data of a file', () => {
  test.each<[string, ArrayBufferView, string, unknown[]]>([
    ['f32', two, 'f64', [1.5, -2]],
    ['f64', Float64Array.of(0.1, 2), 'f32', [Math.fround(0.1), 2]],
    ['f64', Float64Array.of(7, -8), 'i4', [7, -8]],
    ['i64', BigInt64Array.of(2n ** 62n + 1n, 3n), 'u64', [2n ** 62n + 1n, 3n]],
    ['i64', BigInt64Array.of(5n, -3n), 'i8', [5, -3]],
    ['u8', Uint8Array.of(0, 1), 'bool', [false, true]],
    ['f32', Float32Array.of(Number.NaN, Number.POSITIVE_INFINITY), 'f16', [Number.NaN, Number.POSITIVE_INFINITY]],
  ])('%s %o as %s', async (from, data, dtype, values) => {
    const model = await packFiles({ file: 'a.npy', dtype }, { 'a.npy': npy(from, [2], data) })
    expect(await valuesOf(model, 't')).toEqual(values)
  })

  test.each<[string, ArrayBufferView, string, string]>([
    ['f64', Float64Array.of(1, 1e39), 'f32', 'element 1: 1e+39 does not fit f32'],
    ['f64', Float64Array.of(0.5, 1), 'i32', 'element 0: 0.5 does not fit i32'],
    ['i64', BigInt64Array.of(0n, 256n), 'u4', 'element 1: 256 does not fit u4'],
    ['u64', BigUint64Array.of(2n ** 63n, 0n), 'i64', 'element 0: 9223372036854775808 does not fit i64'],
    ['f32', Float32Array.of(0, 65520), 'f16', 'element 1: 65520 does not fit f16'],
  ])('%s %o does not go into %s', async (from, data, dtype, words) => {
    const model = await packFiles({ file: 'a.npy', dtype }, { 'a.npy': npy(from, [2], data) })
    const refusal = await refusalOf(() => convertToFiles(model, 'oinf'))
    expect(refusal).toEqual({ code: 'pack/value-range', path: 'tensors.t.file', message: words })
  })

  test('the place of a value is right beyond one window', async () => {
    const data = new Float64Array(300_000)
    data[290_001] = 1e300
    const model = await packFiles({ file: 'a.npy', dtype: 'f32' }, { 'a.npy': npy('f64', [300_000], data) })
    expect((await refusalOf(() => valuesOf(model, 't'))).message).toContain('element 290001:')
  })

  test('has no way from complex numbers or blocks', async () => {
    const complex = { 'a.npy': npy('c64', [1], two) }
    expect(await refusalOf(() => packFiles({ file: 'a.npy', dtype: 'f32' }, complex))).toMatchObject({
      code: 'pack/dtype',
    })
    const reals = { 'a.npy': npy('f32', [2], two) }
    expect(await refusalOf(() => packFiles({ file: 'a.npy', dtype: 'ggml.q4_0' }, reals))).toMatchObject({
      code: 'pack/dtype',
    })
  })
})

describe('a file that cannot be used is an error of the field', () => {
  const good = npy('f32', [2], two)
  test.each<[object, Record<string, Uint8Array>, string, string, string]>([
    [{ file: 'no.npy' }, {}, 'pack/data-file', 'tensors.t.file', 'no.npy: not there (io/not-found)'],
    [{ file: 'a.npy' }, { 'a.npy': good.slice(0, 30) }, 'pack/data-file', 'tensors.t.file', '(npy/truncated)'],
    [
      { file: 'a.npy' },
      { 'a.npy': good.slice(0, -1) },
      'pack/data-file',
      'tensors.t.file',
      'takes 8 bytes, the file has 7',
    ],
    [
      { file: 'a.npy' },
      { 'a.npy': join(good, good) },
      'pack/data-file',
      'tensors.t.file',
      'takes 8 bytes, the file has 144',
    ],
    [
      { file: 'a.npy' },
      { 'a.npy': bigEndian('<U1', '(1,)', two, 4) },
      'pack/data-file',
      'tensors.t.file',
      '"<U1" is not numeric',
    ],
    [
      { file: 'a.npy', shape: ['D', 1] },
      { 'a.npy': good },
      'pack/shape-mismatch',
      'tensors.t.shape',
      'a.npy has the shape [2]',
    ],
    [{ file: 'a.npy', shape: ['2*D'] }, { 'a.npy': good }, 'pack/shape-mismatch', 'tensors.t.shape[0]', '2*D is 4'],
    [{ file: 'a.bin', dtype: 'f32' }, { 'a.bin': good }, 'pack/missing', 'tensors.t.file', 'say their shape too'],
    [{ file: 'a.bin', shape: [1] }, { 'a.bin': good }, 'pack/missing', 'tensors.t.file', 'say their dtype too'],
    [
      { file: 'a.bin', dtype: 'f32', shape: [3] },
      { 'a.bin': bytesOf(two) },
      'pack/shape-mismatch',
      'tensors.t.file',
      'has 8 bytes, but f32 [3] takes 12',
    ],
    [
      { file: 'a.bin', dtype: 'ggml.q4_0', shape: [3] },
      { 'a.bin': good },
      'pack/shape-mismatch',
      'tensors.t.shape',
      'impossible',
    ],
  ])('%o', async (entry, files, code, path, words) => {
    const refusal = await refusalOf(() => packFiles(entry, files))
    expect(refusal).toMatchObject({ code, path })
    expect(refusal.message).toContain(words)
  })

  test('and every file that was opened is closed', async () => {
    const closed: string[] = []
    const { readFile } = filesOf({ 'a.npy': good })
    const options = {
      readFile: async (name: string) => {
        const source = (await readFile!(name)) as Exclude<Awaited<ReturnType<NonNullable<typeof readFile>>>, Uint8Array>
        source.close = async () => void closed.push(name)
        return source
      },
    }
    await refusalOf(() => pack({ tensors: { a: { file: 'a.npy' }, b: { file: 'b.npy' } } }, options))
    expect(closed).toEqual(['a.npy'])
  })
})

test('quantization travels with the tensor', async () => {
  const quant = { scheme: 'asymmetric', axis: 1, scales: [0.1, 0.2], zeroPoints: [-1, 3] }
  const { tensors } = await pack({ tensors: { q: { dtype: 'i8', shape: [1, 2], data: [1, 2], quant } } })
  const wanted: Tensor['quant'] = {
    scheme: 'asymmetric',
    axis: 1,
    scales: [0.1, 0.2].map(Math.fround),
    zeroPoints: [-1, 3],
  }
  expect(tensors.at(0)).toMatchObject({ dtype: dtypeById('i8'), quant: wanted })
})
