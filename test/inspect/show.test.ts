import { describe, expect, it } from 'vitest'
import { countingSource, MemorySource } from '../../src/bytes/index.js'
import {
  bf16,
  bool,
  c64,
  type DType,
  f8_e5m2,
  f16,
  f32,
  f64,
  i2,
  i4,
  i16,
  i32,
  i64,
  packed,
  u8,
} from '../../src/dtypes/index.js'
import { type ShowOptions, showModel } from '../../src/inspect/show.js'
import {
  bytesPayload,
  listOf,
  type MetaValue,
  type Model,
  type Part,
  rangePayload,
  type Tensor,
  text,
} from '../../src/model/index.js'

function tensor(
  name: string,
  dtype: DType,
  shape: readonly number[],
  values: readonly number[],
  more: Partial<Tensor> = {},
): Tensor {
  const bytes = new Uint8Array(dtype.byteLength([values.length])!)
  expect(dtype.codec!.fromF64!(Float64Array.from(values), bytes)).toBe(-1)
  return { name, dtype, shape, order: 'row', role: 'weight', data: bytesPayload(bytes), ...more }
}

const withoutData = (name: string, dtype: DType, shape: readonly number[], more: Partial<Tensor> = {}): Tensor => ({
  name,
  dtype,
  shape,
  order: 'row',
  role: 'weight',
  data: null,
  ...more,
})

interface Contents {
  readonly sizes?: Part['value']
  readonly metadata?: readonly (readonly [string, MetaValue])[]
  readonly tensors?: readonly Tensor[]
}

function modelOf({ sizes, metadata = [], tensors = [] }: Contents): Model {
  const parts: Part[] = sizes ? [{ kind: 'size-variables', sharing: 'shared', value: sizes }] : []
  return { format: 'memory', metadata: new Map(metadata), tensors, parts, files: [] }
}

async function show(model: Model, options?: ShowOptions): Promise<string> {
  let all = ''
  for await (const piece of showModel(model, options)) all += piece
  return all
}

const showAll = (contents: Contents): Promise<string> => show(modelOf(contents))
const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

describe('showModel', () => {
  it('shows nothing for an empty model', async () => {
    expect(await showAll({})).toBe('')
  })

  it('shows size variables, metadata and tensors, each block with an empty line after it', async () => {
    const shown = await showAll({
      sizes: { N: 4, huge: '18446744073709551615' },
      metadata: [
        ['act', text('relu')],
        ['eps', { type: 'f32', value: Math.fround(0.001) }],
      ],
      tensors: [tensor('v', f32, [4], [0, 1, 2, 3]), tensor('s', f16, [1, 1], [1.5]), withoutData('w', i16, [])],
    })
    expect(shown).toBe(`N := 4
huge := 18446744073709551615

act: str = "relu"
eps: f32 = 0.001

v: f32[4] = { 0, 1, 2, 3 }
- [nbytes: 16, min: 0, max: 3, mean: 1.5, median: 1.5, std: 1.11803]
- hist: {([0, 0.3], 1), ([0.9, 1.2], 1), ([1.8, 2.1], 1), ([2.7, 3], 1)}

s: f16 = 1.5

w: i16[] -- uninitialized

`)
  })

  it('keeps the file order of size variables that look like numbers', async () => {
    const model = modelOf({ sizes: { B: 1, 7: 2 } })
    const content = new Map([
      ['B', 1n],
      ['7', 2n],
    ])
    expect(await show({ ...model, parts: [{ ...model.parts[0]!, content }] })).toBe('B := 1\n7 := 2\n\n')
    const other: Part = { kind: 'vocabulary', sharing: 'shared', value: { B: 1 } }
    expect(await show({ ...model, parts: [other] })).toBe('')
  })

  it('shows two rows of a matrix and says that there are more', async () => {
    expect(await showAll({ tensors: [tensor('m', u8, [3, 12], range(36))] })).toBe(`m: u8[3, 12] = { 
{ 0, 1, 2, 3, 4, ..., 7, 8, 9, 10, 11 } ,
{ 12, 13, 14, 15, 16, ..., 19, 20, 21, 22, 23 } ,
...
}
- [nbytes: 36, min: 0, max: 35, mean: 17.5, median: 17.5, std: 10.3883]
- hist: {([0, 3.5], 4), ([3.5, 7], 3), ([7, 10.5], 4), ([10.5, 14], 3), ([14, 17.5], 4), ([17.5, 21], 3), ([21, 24.5], 4), ([24.5, 28], 3), ([28, 31.5], 4), ([31.5, 35], 4)}

`)
  })

  it('counts bytes after decoding', async () => {
    const sizes = async (dtype: DType): Promise<string | undefined> =>
      /nbytes: \d+/.exec(await showAll({ tensors: [tensor('t', dtype, [4], [0, 1, 0, 1])] }))?.[0]
    for (const [dtype, size] of [
      [f16, 8],
      [bf16, 16],
      [f8_e5m2, 16],
      [f32, 16],
      [i2, 4],
      [i4, 4],
      [bool, 4],
      [u8, 4],
      [i64, 32],
    ] as const)
      expect(await sizes(dtype), dtype.id).toBe(`nbytes: ${size}`)
  })

  it('calls the 8-bit float f8 and leaves out empty bins, but never a boolean value', async () => {
    const tensors = [
      tensor('f', f8_e5m2, [2], [0.5, -4]),
      tensor('b', bool, [2, 1], [1, 1]),
      tensor('i', i32, [3], [-7, -7, 9]),
    ]
    expect(await showAll({ tensors })).toBe(`f: f8[2] = { 0.5, -4 }
- [nbytes: 8, min: -4, max: 0.5, mean: -1.75, median: -1.75, std: 2.25]
- hist: {([-4, -3.55], 1), ([0.05, 0.5], 1)}

b: bool[2, 1] = { 
{ true } ,
{ true } ,
}
- [nbytes: 2, min: 1, max: 1, mean: 1, median: 1, std: 0]
- hist: {([0, 0], 0), ([1, 1], 2)}

i: i32[3] = { -7, -7, 9 }
- [nbytes: 12, min: -7, max: 9, mean: -1.66667, median: -7, std: 7.54247]
- hist: {([-7, -7], 2), ([9, 9], 1)}

`)
  })

  it('writes whole numbers exactly where they are values, and shortly where they are statistics', async () => {
    expect(
      await showAll({ tensors: [tensor('t', i64, [2], [2 ** 62, 2 ** 62])] }),
    ).toBe(`t: i64[2] = { 4611686018427387904, 4611686018427387904 }
- [nbytes: 16, min: 4.61169e+18, max: 4.61169e+18, mean: 4.61169e+18, median: 4.61169e+18, std: 0]
- hist: {([4611686018427387904, 4611686018427387904], 2)}

`)
    const [, , hist] = (await showAll({ tensors: [tensor('t', f32, [2], [2 ** 30, 2 ** 30])] })).split('\n')
    expect(hist).toBe('- hist: {([1.07374e+09, 1.07374e+09], 2)}')
  })

  it('gives statistics of the finite values, and says how many are not', async () => {
    const tensors = [tensor('x', f32, [5], [NaN, 1, Infinity, 3, -Infinity]), tensor('y', bf16, [2], [NaN, Infinity])]
    expect(await showAll({ tensors })).toBe(`x: f32[5] = { nan, 1, inf, 3, -inf }
- [nbytes: 20, min: 1, max: 3, mean: 2, median: 2, std: 1, nan: 1, inf: 2]
- hist: {([1, 1.2], 1), ([2.8, 3], 1)}

y: bf16[2] = { nan, inf }
- [nbytes: 8, nan: 1, inf: 1]
- hist: {}

`)
  })

  it('shows column-major tensors as they are meant', async () => {
    const rows = await showAll({ tensors: [tensor('t', i16, [2, 3], [0, 1, 2, 3, 4, 5])] })
    expect(await showAll({ tensors: [tensor('t', i16, [2, 3], [0, 3, 1, 4, 2, 5], { order: 'column' })] })).toBe(rows)
    expect(rows).toContain('{ 0, 1, 2 } ,\n{ 3, 4, 5 } ,\n}')
  })

  it('shows how a tensor is quantized', async () => {
    const quant = { scheme: 'symmetric', scales: [0.5] } as const
    const channels = { scheme: 'asymmetric', axis: 1, scales: [0.5, 0.25], zeroPoints: [3, -4] } as const
    const shown = await showAll({
      tensors: [
        tensor('a', i4, [2], [1, 2], { quant }),
        tensor('b', i4, [1, 2], [1, 2], { quant: channels }),
        tensor('c', i4, [2], [1, 2], { quant: { scheme: 'asymmetric', scales: [0.1], zeroPoints: [-5] } }),
        tensor('d', i4, [1], [1], { quant }),
        withoutData('e', i4, [2, 0], { quant }),
      ],
    })
    expect(shown.split('\n').filter((line) => /quant|^[de]:/.test(line))).toEqual([
      '- quant: scheme=symmetric, scale=per_tensor(0.5), zero_point=none',
      '- quant: scheme=asymmetric, scale=per_channel(axis=1, count=2), zero_point=per_channel(axis=1, count=2)',
      '- quant: scheme=asymmetric, scale=per_tensor(0.1), zero_point=per_tensor(-5)',
      'd: i4 = 1',
      'e: i4[2, 0] -- uninitialized',
      '- quant: scheme=symmetric, scale=per_tensor(0.5), zero_point=none',
    ])
  })

  it('has no quantization for an empty tensor with data, and counts no zero points where there are none', async () => {
    const quant = { scheme: 'asymmetric', axis: 0, scales: [], zeroPoints: [] } as const
    expect(
      await showAll({ tensors: [tensor('a', i4, [0, 2], [], { quant }), withoutData('b', i4, [0, 2], { quant })] }),
    ).toBe(`a: i4[0, 2] -- uninitialized

b: i4[0, 2] -- uninitialized
- quant: scheme=asymmetric, scale=per_channel(axis=0, count=0), zero_point=per_channel(axis=0, count=0)

`)
  })

  // What NumPy 2 computes for the same values.
  it.each<[string, readonly number[], string]>([
    ['equal values', Array(5000).fill(0.1), 'min: 0.1, max: 0.1, mean: 0.1, median: 0.1, std: 1.38778e-17'],
    ['few equal values', Array(10).fill(0.1), 'min: 0.1, max: 0.1, mean: 0.1, median: 0.1, std: 0'],
    [
      'a median that is only rounding',
      Array.from({ length: 5000 }, (_, i) => (i % 7) * 0.1 - 0.3),
      'min: -0.3, max: 0.3, mean: -0.0001, median: 5.55112e-17, std: 0.200025',
    ],
    [
      'values that cancel out',
      Array(300).fill([0.1, 0.2, 0.3, -0.6]).flat(),
      'min: -0.6, max: 0.3, mean: 0, median: 0.15, std: 0.353553',
    ],
    ['squares beyond f64', [1e200, -1e200, 3e200], 'min: -1e+200, max: 3e+200, mean: 1e+200, median: 1e+200, std: inf'],
    ['sums beyond f64', [1e308, 1e308], 'min: 1e+308, max: 1e+308, mean: inf, median: inf, std: inf'],
    ['squares below f64', [1e-170, 3e-170], 'min: 1e-170, max: 3e-170, mean: 2e-170, median: 2e-170, std: 0'],
    ['zeros with a sign', [-0, -0], 'min: -0, max: -0, mean: 0, median: 0, std: 0'],
    ['a last zero with a sign', [0, -0, 1], 'min: -0, max: 1, mean: 0.333333, median: 0, std: 0.471405'],
    ['a last zero without one', [-0, 0, 1], 'min: 0, max: 1, mean: 0.333333, median: 0, std: 0.471405'],
  ])('rounds as the reference does: %s', async (_, values, wanted) => {
    const [, line] = (await showAll({ tensors: [tensor('t', f64, [values.length], values)] })).split('\n')
    expect(line).toBe(`- [nbytes: ${8 * values.length}, ${wanted}]`)
  })

  it('gives edges that are zero the sign that they have in the reference', async () => {
    const histOf = async (values: readonly number[]) =>
      (await showAll({ tensors: [tensor('t', f32, [values.length], values)] })).split('\n')[2]
    expect(await histOf([-0, -0])).toBe('- hist: {([-0, -0], 2)}')
    expect(await histOf([0, -0, 10])).toBe('- hist: {([0, 1], 2), ([9, 10], 1)}')
    expect(await histOf([-10, -0])).toBe('- hist: {([-10, -9], 1), ([-1, -0], 1)}')
  })

  it('says so when values cannot be decoded, or have no statistics', async () => {
    const data = bytesPayload(new Uint8Array(24))
    expect(
      await showAll({
        tensors: [
          withoutData('p', packed, [3, 4], { data }),
          withoutData('q', packed, [3, 8], { data, encoding: u8 }),
          withoutData('wrong', f32, [5], { data }),
          withoutData('z', c64, [3], { data }),
        ],
      }),
    ).toBe(`p: packed[3, 4] -- 24 bytes, values not decoded

q: u8[3, 8] = { 
{ 0, 0, 0, 0, 0, 0, 0, 0 } ,
{ 0, 0, 0, 0, 0, 0, 0, 0 } ,
...
}
- [nbytes: 24, min: 0, max: 0, mean: 0, median: 0, std: 0]
- hist: {([0, 0], 24)}

wrong: f32[5] -- 24 bytes, values not decoded

z: c64[3] = { 0+0i, 0+0i, 0+0i }
- [nbytes: 24]

`)
  })

  it('shows the tensors that are asked for, and reads no others', async () => {
    const count = { reads: 0, bytes: 0 }
    const source = countingSource(new MemorySource(new Uint8Array(8)), count)
    const hidden = withoutData('hidden', u8, [8], { data: rangePayload(source, 0, 8) })
    const model = modelOf({ tensors: [hidden, tensor('seen', u8, [1], [1])] })
    expect(await show(model, { tensors: (name) => name === 'seen' })).toBe('seen: u8 = 1\n\n')
    expect(count.reads).toBe(0)
    await expect(show(model, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'io/aborted' })
  })

  it('leaves names as they are', async () => {
    expect(await showAll({ metadata: [['__proto__', text('a\nb')]], tensors: [withoutData('w\n', u8, [2])] })).toBe(
      '__proto__: str = "a\nb"\n\nw\n: u8[2] -- uninitialized\n\n',
    )
  })
})

describe('metadata', () => {
  const entry = async (value: MetaValue): Promise<string> => (await showAll({ metadata: [['k', value]] })).slice(0, -2)
  const ints = (count: number): MetaValue[] => range(count).map((value) => ({ type: 'i32', value }))

  it.each<[MetaValue, string]>([
    [{ type: 'u64', value: 18446744073709551615n }, 'k: u64 = 18446744073709551615'],
    [{ type: 'i4', value: -8 }, 'k: i4 = -8'],
    [{ type: 'f8_e5m2', value: 1.75 }, 'k: f8 = 1.75'],
    [{ type: 'bf16', value: 3.140625 }, 'k: bf16 = 3.14062'],
    [{ type: 'f64', value: Infinity }, 'k: f64 = inf'],
    [{ type: 'bool', value: false }, 'k: bool = false'],
    [{ type: 'null' }, 'k: null'],
    [{ type: 'json', value: { a: [1, null] } }, 'k: json = {"a":[1,null]}'],
    [{ type: 'bytes', value: Uint8Array.of(1, 254, 3, 4, 5) }, 'k: bytes[5] = 01 fe 03 04'],
    [{ type: 'bitset', bits: 0, value: new Uint8Array(0) }, 'k: bitset[0] = '],
    [{ type: 'bitset', bits: 9, value: Uint8Array.of(0xf7, 1) }, 'k: bitset[9] = f7 01'],
    [{ type: 'bitset', bits: 40, value: Uint8Array.of(1, 2, 3, 4, 5) }, 'k: bitset[40] = 01 02 03 04'],
    [{ type: 'ndarray', dtype: i16, shape: [], value: Uint8Array.of(7, 0) }, 'k: i16[] = { 7 }'],
    [{ type: 'ndarray', dtype: f32, shape: [0], value: new Uint8Array(0) }, 'k: f32[0] = {  }'],
    [
      { type: 'ndarray', dtype: u8, shape: [3, 2], value: Uint8Array.of(1, 2, 3, 4, 5, 6) },
      'k: u8[3, 2] = { \n{ 1, 2 } ,\n{ 3, 4 } ,\n...\n}',
    ],
    [
      { type: 'ndarray', dtype: packed, shape: [3], value: new Uint8Array(9) },
      'k: packed[3] -- 9 bytes, values not decoded',
    ],
    [listOf('i32', ints(3)), 'k: i32[3] = { 0, 1, 2 }'],
    [listOf('i32', ints(12)), 'k: i32[12] = { 0, 1, 2, 3, 4, ..., 7, 8, 9, 10, 11 }'],
    [listOf('str', [text('a'), text('b')]), 'k: str[2] = { "a", "b" }'],
    [
      listOf('mixed', [{ type: 'null' }, { type: 'f32', value: 1.5 }, listOf('bool', [{ type: 'bool', value: true }])]),
      'k: array[3] = { null, 1.5, { true } }',
    ],
    [listOf('mixed', []), 'k: array[0] = {  }'],
  ])('shows $0.type: $1', async (value, shown) => {
    expect(await entry(value)).toBe(shown)
  })
})
