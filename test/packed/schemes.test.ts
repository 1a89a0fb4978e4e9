import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findPacking, readPayload, TareError, type Tensor, unpackWeight } from '../../src/kit.js'
import { describePacking } from '../../src/packed/index.js'
import { whereBitsDiffer } from '../support/numbers.js'
import {
  awqGemvFastTensors,
  awqGemvTensors,
  awqTensors,
  type Codes,
  compressedTensors,
  gptqTensors,
  marlinTensors,
  mlxTensors,
  packBits,
  tensorOf,
} from './pack-weights.js'

async function decode(tensors: readonly Tensor[], settings: Record<string, unknown>): Promise<Tensor> {
  const { weights } = findPacking(tensors, settings)
  expect(weights.map(({ name }) => name)).toEqual(['m.weight'])
  return unpackWeight(weights[0]!)
}

async function expectValues(tensor: Tensor, shape: readonly number[], values: readonly number[]): Promise<void> {
  expect(tensor.shape).toEqual(shape)
  const bytes = await readPayload(tensor.data!)
  expect(whereBitsDiffer(bytes, Float32Array.from(values))).toBe(-1)
  const [start, end] = [Math.floor(bytes.byteLength / 3), Math.ceil(bytes.byteLength / 2)]
  expect(whereBitsDiffer(await tensor.data!.read!(start, end - start), bytes.subarray(start, end))).toBe(-1)
}

interface Sizes {
  readonly bits: number
  readonly rows: number
  readonly groups: number
  readonly size: number
  readonly isSorted: boolean
}

/** Codes of these sizes; the last group may be shorter than the others by `missing` columns. */
function codesOf({ bits, rows, groups, size, isSorted }: Sizes, missing = 0): fc.Arbitrary<Codes> {
  const columns = groups * size - missing
  const code = fc.nat(2 ** bits - 1)
  const list = (count: number, each: fc.Arbitrary<number>) => fc.array(each, { minLength: count, maxLength: count })
  return fc
    .record({
      codes: list(rows * columns, code),
      scales: list(rows * groups, fc.float({ noNaN: true, min: -8, max: 8 })),
      // The first version of GPTQ cannot say 0.
      zeros: list(rows * groups, fc.integer({ min: 1, max: 2 ** bits - 1 })),
      groupOf: isSorted
        ? fc.constant(Array.from({ length: columns }, (_, c) => Math.floor(c / size)))
        : list(columns, fc.nat(groups - 1)),
    })
    .map((made) => ({ ...made, rows, columns, bits, groups }))
}

const valuesOf = (weight: Codes, value: (code: number, scale: number, zero: number) => number): number[] =>
  weight.codes.map((code, i) => {
    const [row, column] = [Math.floor(i / weight.columns), i % weight.columns]
    const at = row * weight.groups + weight.groupOf[column]!
    return value(code, weight.scales[at]!, weight.zeros[at]!)
  })

const affine = (code: number, scale: number, zero: number): number => scale * (code - zero)
const runs = { numRuns: 25 }

describe('packed whole numbers', () => {
  it.each([2, 3, 4, 8])('GPTQ of %i bits, in both versions, with columns in any group', async (bits) => {
    const weights = fc.boolean().chain((isSorted) => codesOf({ bits, rows: 32, groups: 3, size: 32, isSorted }))
    await fc.assert(
      fc.asyncProperty(weights, fc.boolean(), async (weight, isFirst) => {
        const settings = { quant_method: 'gptq', bits, group_size: 32, checkpoint_format: isFirst ? 'gptq' : 'gptq_v2' }
        const tensor = await decode(gptqTensors('m', weight, isFirst), settings)
        await expectValues(tensor, [32, 96], valuesOf(weight, affine))
      }),
      runs,
    )
  })

  it('AWQ', async () => {
    await fc.assert(
      fc.asyncProperty(codesOf({ bits: 4, rows: 16, groups: 3, size: 8, isSorted: true }), async (weight) => {
        const tensor = await decode(awqTensors('m', weight), { quant_method: 'awq', bits: 4, group_size: 8 })
        await expectValues(tensor, [16, 24], valuesOf(weight, affine))
      }),
      runs,
    )
  })

  it('AWQ for gemv kernels, with room for more groups than there are', async () => {
    const settings = { quant_method: 'awq', bits: 4, group_size: 64 }
    await fc.assert(
      fc.asyncProperty(codesOf({ bits: 4, rows: 8, groups: 3, size: 64, isSorted: true }), async (weight) => {
        const gemv = await decode(awqGemvTensors('m', weight, 16), { ...settings, version: 'gemv' })
        await expectValues(gemv, [8, 192], valuesOf(weight, affine))
        const fast = await decode(awqGemvFastTensors('m', weight, 8), { ...settings, version: 'gemv_fast' })
        const offset = (scale: number, zero: number): number => Math.fround(-scale * zero)
        await expectValues(
          fast,
          [8, 192],
          valuesOf(weight, (code, scale, zero) => code * Math.fround(scale) + offset(scale, zero)),
        )
      }),
      runs,
    )
  })

  it.each([1, 2])('GPTQ and AWQ for Marlin kernels, with %i groups', async (groups) => {
    await fc.assert(
      fc.asyncProperty(codesOf({ bits: 4, rows: 128, groups, size: 32, isSorted: true }), async (weight) => {
        const values = valuesOf(weight, (code, scale) => scale * (code - 8))
        const group_size = groups === 1 ? -1 : 32
        for (const settings of [
          { quant_method: 'gptq', bits: 4, group_size, checkpoint_format: 'marlin' },
          { quant_method: 'gptq', bits: 4, group_size, is_marlin_format: true },
          { quant_method: 'marlin', group_size },
        ])
          await expectValues(await decode(marlinTensors(['m.B', 'm.s'], weight), settings), [128, 32 * groups], values)
        const awq = { quant_method: 'awq', bits: 4, group_size, version: 'marlin' }
        const tensors = marlinTensors(['m.qweight', 'm.scales'], weight)
        await expectValues(await decode(tensors, awq), [128, 32 * groups], values)
      }),
      { numRuns: 10 },
    )
  })

  it.each([2, 3, 4, 8])('GPTQ and AWQ of %i bits without a configuration, by their shapes', async (bits) => {
    const weights = codesOf({ bits, rows: 32, groups: 3, size: 32, isSorted: true })
    await fc.assert(
      fc.asyncProperty(weights, async (weight) => {
        const values = valuesOf(weight, affine)
        await expectValues(await decode(gptqTensors('m', weight), {}), [32, 96], values)
        const dynamic = { quant_method: 'gptq', bits: 6, group_size: 7, dynamic: { m: { bits, group_size: 32 } } }
        await expectValues(await decode(gptqTensors('m', weight), dynamic), [32, 96], values)
        const round = { quant_method: 'auto-round', packing_format: 'auto_round:auto_gptq', bits, group_size: 32 }
        await expectValues(await decode(gptqTensors('m', weight), round), [32, 96], values)
        if (bits !== 4) return
        await expectValues(await decode(awqTensors('m', weight), {}), [32, 96], values)
        const other = { ...round, packing_format: 'auto_round:auto_awq' }
        await expectValues(await decode(awqTensors('m', weight), other), [32, 96], values)
      }),
      runs,
    )
  })

  it('compressed-tensors with zero points that are not packed', async () => {
    const weights = codesOf({ bits: 4, rows: 5, groups: 3, size: 8, isSorted: true })
    const group_0 = { weights: { num_bits: 4, type: 'int', group_size: 8 } }
    await fc.assert(
      fc.asyncProperty(weights, async (weight) => {
        const signed = Int8Array.from(weight.zeros, (zero) => zero - 8)
        const zeros = tensorOf('m.weight_zero_point', 'i8', [5, 3], new Uint8Array(signed.buffer))
        const tensors = compressedTensors('m', weight).map((each) => (each.name === zeros.name ? zeros : each))
        const settings = { quant_method: 'compressed-tensors', config_groups: { group_0 } }
        await expectValues(await decode(tensors, settings), [5, 24], valuesOf(weight, affine))
      }),
      runs,
    )
  })

  it('compressed-tensors whose groups differ in width, told apart by their shapes', async () => {
    const group = (num_bits: number, group_size: number) => ({ weights: { num_bits, type: 'int', group_size } })
    const config_groups = { a: group(4, 16), b: group(8, 16), c: group(3, 8) }
    const settings = { quant_method: 'compressed-tensors', config_groups }
    for (const [bits, size] of [
      [4, 16],
      [8, 16],
      [3, 8],
    ] as const) {
      const weights = codesOf({ bits, rows: 5, groups: 4, size, isSorted: true })
      await fc.assert(
        fc.asyncProperty(weights, async (weight) => {
          const tensor = await decode(compressedTensors('m', weight), settings)
          await expectValues(tensor, [5, 4 * size], valuesOf(weight, affine))
        }),
        { numRuns: 5 },
      )
    }
  })

  it.each([2, 3, 4, 8])('compressed-tensors of %i bits, with rows that end within a word', async (num_bits) => {
    const weights = codesOf({ bits: num_bits, rows: 7, groups: 3, size: 8, isSorted: true }, 3)
    const group_0 = { weights: { num_bits, type: 'int', group_size: 8 } }
    await fc.assert(
      fc.asyncProperty(weights, async (weight) => {
        const settings = { quant_method: 'compressed-tensors', config_groups: { group_0 } }
        await expectValues(await decode(compressedTensors('m', weight), settings), [7, 21], valuesOf(weight, affine))
      }),
      runs,
    )
  })

  it.each([2, 3, 4, 5, 6, 8])('MLX of %i bits', async (bits) => {
    await fc.assert(
      fc.asyncProperty(codesOf({ bits, rows: 3, groups: 2, size: 32, isSorted: true }), async (weight) => {
        const tensor = await decode(mlxTensors('m', weight), { bits, group_size: 32 })
        await expectValues(
          tensor,
          [3, 64],
          valuesOf(weight, (code, scale, bias) => code * scale + bias),
        )
      }),
      runs,
    )
  })
})

describe('scales for blocks', () => {
  const bytes = (count: number): Uint8Array => Uint8Array.from({ length: count }, (_, i) => (i * 37) % 0x78)
  const e4m3 = (codes: Uint8Array): Float32Array => {
    const values = new Float32Array(codes.length)
    tensorOf('', 'f8_e4m3', [codes.length], codes).dtype.codec!.toF32(codes, values)
    return values
  }

  it('cover edges, stacked matrices and bands', async () => {
    const [experts, rows, columns, down, across] = [2, 150, 2100, 100, 128]
    const [perRow, perMatrix] = [Math.ceil(columns / across), Math.ceil(rows / down)]
    const codes = bytes(experts * rows * columns)
    const scales = Float32Array.from({ length: experts * perMatrix * perRow }, (_, i) => (i + 1) / 7)
    const tensor = await decode(
      [
        tensorOf('m.weight', 'f8_e4m3', [experts, rows, columns], codes),
        tensorOf('m.weight_scale_inv', 'f32', [experts, perMatrix, perRow], scales),
      ],
      { quant_method: 'fp8', weight_block_size: [down, across] },
    )
    const values = [...e4m3(codes)].map((value, i) => {
      const [row, column] = [Math.floor(i / columns), i % columns]
      const block = Math.floor(row / rows) * perMatrix + Math.floor((row % rows) / down)
      return value * scales[block * perRow + Math.floor(column / across)]!
    })
    await expectValues(tensor, [experts, rows, columns], values)
  })

  it('of NVFP4 as ModelOpt stores it', async () => {
    const codes = Array.from({ length: 64 }, (_, i) => (i * 7) % 16)
    const scales = Uint8Array.of(0x38, 0x40, 0x30, 0x48)
    const tensor = await decode(
      [
        tensorOf('m.weight', 'u8', [2, 16], packBits(codes, 4)),
        tensorOf('m.weight_scale', 'f8_e4m3', [2, 2], scales),
        tensorOf('m.weight_scale_2', 'f32', [], Float32Array.of(0.25)),
        tensorOf('m.input_scale', 'f32', [], Float32Array.of(3)),
      ],
      { quant_method: 'modelopt', quant_algo: 'NVFP4' },
    )
    const factors = e4m3(scales)
    await expectValues(
      tensor,
      [2, 32],
      codes.map((code, i) => e2m1[code]! * factors[Math.floor(i / 16)]! * 0.25),
    )
  })

  it('of NVFP4 with AWQ, whose columns are multiplied with numbers for the activations', async () => {
    const codes = Array.from({ length: 64 }, (_, i) => (i * 5) % 16)
    const smooth = Float32Array.from({ length: 32 }, (_, i) => (i % 4) + 0.5)
    const tensors = [
      tensorOf('m.weight', 'u8', [2, 16], packBits(codes, 4)),
      tensorOf('m.weight_scale', 'f8_e4m3', [2, 2], Uint8Array.of(0x38, 0x40, 0x30, 0x48)),
      tensorOf('m.weight_scale_2', 'f32', [], Float32Array.of(0.25)),
    ]
    const settings = { quant_method: 'modelopt', quant_algo: 'NVFP4_AWQ' }
    const tensor = await decode([...tensors, tensorOf('m.pre_quant_scale', 'f32', [32], smooth)], settings)
    const factors = e4m3(Uint8Array.of(0x38, 0x40, 0x30, 0x48))
    await expectValues(
      tensor,
      [2, 32],
      codes.map((code, i) => e2m1[code]! * factors[Math.floor(i / 16)]! * 0.25 * smooth[i % 32]!),
    )
    const short = tensorOf('m.pre_quant_scale', 'f32', [2], smooth.subarray(0, 2))
    await expect(decode([...tensors, short], settings)).rejects.toMatchObject({
      finding: { code: 'packed/form', path: 'm.pre_quant_scale' },
    })
  })

  it.each([
    [[4, 8], true],
    [[4, 8], false],
    [[2, 4, 8], true],
  ])('of INT4 as ModelOpt stores it: %j, with numbers for the columns: %j', async (shape, isSmoothed) => {
    const columns = 8
    const rows = shape.slice(0, -1).reduce((product, dim) => product * dim, 1)
    const codes = Array.from({ length: rows * columns }, (_, i) => ((i * 7) % 16) - 8)
    const scales = Float32Array.from({ length: rows * 2 }, (_, i) => (i + 1) / 8)
    const smooth = Float32Array.from({ length: columns }, (_, i) => 1 + i / 4)
    const packed = Uint8Array.from({ length: codes.length / 2 }, (_, i) => {
      const upper = 2 * Math.floor(i / columns) * columns + (i % columns)
      return (codes[upper]! & 15) | ((codes[upper + columns]! & 15) << 4)
    })
    const outer = shape.slice(0, -2)
    const tensor = await decode(
      [
        tensorOf('m.weight', 'u8', [...outer, shape.at(-2)! / 2, columns], packed),
        tensorOf('m.weight_scale', 'f32', [...outer, shape.at(-2)!, 2], scales),
        ...(isSmoothed ? [tensorOf('m.pre_quant_scale', 'f32', [columns], smooth)] : []),
      ],
      { quant_method: 'modelopt', quant_algo: 'W4A16_AWQ', group_size: 4 },
    )
    await expectValues(
      tensor,
      shape,
      codes.map((code, i) => code * scales[Math.floor(i / 4)]! * (isSmoothed ? smooth[i % columns]! : 1)),
    )
  })

  it.each([
    ['weight_packed', 'scale_packed', 'meta', { quant_method: 'compressed-tensors', format: 'marlin-24' }],
    ['B_24', 's', 'B_meta', { quant_method: 'gptq', checkpoint_format: 'marlin_24', bits: 4 }],
  ] as const)('of 2:4 sparse Marlin are named, and refused: %s', async (codes, scales, places, settings) => {
    const tensors = [
      tensorOf(`m.${codes}`, 'i32', [2, 16], new Uint8Array(128)),
      tensorOf(`m.${scales}`, 'f16', [1, 8], new Uint8Array(16)),
      tensorOf(`m.${places}`, 'i16', [8, 2], new Uint8Array(32)),
    ]
    const [weight] = findPacking(tensors, settings).weights
    expect(describePacking(weight!)).toMatch(/marlin-24 4-bit, 2:4 sparse$/)
    await expect(decode(tensors, settings)).rejects.toMatchObject({
      finding: { code: 'packed/form', path: `m.${codes}`, message: expect.stringContaining('cannot be decoded') },
    })
  })

  it.each([
    ['m.weight', 'm.weight_scale', [6], { quant_method: 'quark' }],
    ['m.weight', 'm.weight_scale', [6, 1], { quant_method: 'fbgemm_fp8' }],
    ['m.weight', 'm.weight_scale', [], {}],
    ['m.weight', 'm.scale_weight', [1], {}],
    ['m.weight', 'm.qscale_weight', [], {}],
    ['m.weight', 'm.weight_scale_inv', [2, 3], {}],
    ['m.weight', 'm.scale', [2, 3], { quant_method: 'fp8', weight_block_size: [3, 4] }],
    [
      'm.weight',
      'm.weight_scale',
      [2, 3],
      { quant_method: 'compressed-tensors', config_groups: { a: { weights: { block_structure: '3x4' } } } },
    ],
    ['m', 'm_scale', [1, 12], { quant_method: 'fbgemm_fp8' }],
  ] as const)('of %s are %s of shape %j', async (name, scaleName, shape, settings) => {
    const [rows, columns] = [6, 12]
    const codes = bytes(rows * columns)
    const [down = 1, across = 1] = shape.length === 1 ? [shape[0], 1] : shape
    const scales = Float32Array.from({ length: down * across }, (_, i) => (i + 1) / 7)
    const tensors = [
      tensorOf(name, 'f8_e4m3', [rows, columns], codes),
      tensorOf(scaleName, 'f32', shape, scales),
      tensorOf('m.input_scale', 'f32', [], Float32Array.of(3)),
    ]
    const { weights } = findPacking(tensors, settings)
    expect(weights.map((weight) => [weight.name, weight.scheme.id])).toEqual([[name, 'fp8']])
    const values = [...e4m3(codes)].map((value, i) => {
      const [row, column] = [Math.floor(i / columns), i % columns]
      return value * scales[Math.floor((row * down) / rows) * across + Math.floor((column * across) / columns)]!
    })
    await expectValues(await unpackWeight(weights[0]!), [rows, columns], values)
  })

  const power = (code: number): number => 2 ** (code - 127)
  const e2m1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0, -0.5, -1, -1.5, -2, -3, -4, -6]

  it('that are powers of two, of MXFP4 and MXFP8', async () => {
    const codes = Array.from({ length: 128 }, (_, i) => (i * 7 + (i >> 4)) % 16)
    const scales = Uint8Array.of(120, 127, 130, 100)
    const values = codes.map((code, i) => e2m1[code]! * power(scales[i >> 5]!))
    const packed = tensorOf('m.weight_packed', 'u8', [2, 32], packBits(codes, 4))
    const scale = tensorOf('m.weight_scale', 'u8', [2, 2], scales)
    await expectValues(await decode([packed, scale], { quant_method: 'compressed-tensors' }), [2, 64], values)
    const weight = tensorOf('m.weight', 'u8', [2, 32], packBits(codes, 4))
    await expectValues(await decode([weight, scale], { quant_method: 'quark' }), [2, 64], values)
    const words = tensorOf('m.weight', 'u32', [2, 8], packBits(codes, 4))
    const mlxScales = tensorOf('m.scales', 'u8', [2, 2], scales)
    const settings = { group_size: 32, bits: 4, mode: 'mxfp4' }
    await expectValues(await decode([words, mlxScales], settings), [2, 64], values)
    const floats = bytes(128)
    const small = [...e4m3(floats)].map((value, i) => value * power(scales[i >> 5]!))
    const mxfp8 = [tensorOf('m.weight', 'u32', [2, 16], floats), mlxScales]
    await expectValues(await decode(mxfp8, { group_size: 32, bits: 8, mode: 'mxfp8' }), [2, 64], small)
    const rows = [tensorOf('m.weight', 'f8_e4m3', [2, 64], floats), scale]
    const group_0 = { weights: { num_bits: 8, type: 'float', group_size: 32 } }
    const compressed = { quant_method: 'compressed-tensors', config_groups: { group_0 } }
    await expectValues(await decode(rows, compressed), [2, 64], small)
  })

  it('of NVFP4 as MLX stores it, where single modules have a mode of their own', async () => {
    const codes = Array.from({ length: 64 }, (_, i) => (i * 5) % 16)
    const scales = Uint8Array.of(0x38, 0x40, 0x30, 0x48)
    const tensors = [
      tensorOf('m.weight', 'u32', [2, 4], packBits(codes, 4)),
      tensorOf('m.scales', 'u8', [2, 2], scales),
    ]
    const values = codes.map((code, i) => e2m1[code]! * e4m3(scales)[i >> 4]!)
    const settings = { group_size: 64, bits: 4, m: { group_size: 16, bits: 4, mode: 'nvfp4' } }
    await expectValues(await decode(tensors, settings), [2, 32], values)
  })

  it('of bitsandbytes without coded scales', async () => {
    const map = Float32Array.from({ length: 16 }, (_, i) => (i - 7) / 8)
    const codes = bytes(64)
    const state = new TextEncoder().encode(JSON.stringify({ blocksize: 64, shape: [4, 32] }))
    const beside = [
      tensorOf('m.weight.absmax', 'f32', [2], Float32Array.of(3, 5)),
      tensorOf('m.weight.quant_map', 'f32', [16], map),
      tensorOf('m.weight.quant_state.bitsandbytes__fp4', 'u8', [state.length], state),
    ]
    const tensor = await decode([tensorOf('m.weight', 'u8', [64, 1], codes), ...beside], {})
    const values = [...codes].flatMap((byte, i) => [byte >> 4, byte & 15].map((code) => map[code]! * (i < 32 ? 3 : 5)))
    await expectValues(tensor, [4, 32], values)
    const short = new TextEncoder().encode(JSON.stringify({ blocksize: 64, shape: [10, 12] }))
    const shorter = [
      tensorOf('m.weight', 'u8', [60, 1], codes.subarray(0, 60)),
      ...beside.slice(0, 2),
      tensorOf('m.weight.quant_state.bitsandbytes__fp4', 'u8', [short.length], short),
    ]
    await expectValues(await decode(shorter, {}), [10, 12], values.slice(0, 120))
    const stored = tensorOf('m.weight', 'bf16', [32, 1], codes)
    await expectValues(await decode([stored, ...beside], {}), [4, 32], values)
  })
})

describe('tensors that do not fit together', () => {
  const weight: Codes = {
    ...{ rows: 8, columns: 16, bits: 4, groups: 2 },
    codes: new Array<number>(128).fill(3),
    scales: new Array<number>(16).fill(1),
    zeros: new Array<number>(16).fill(1),
    groupOf: Array.from({ length: 16 }, (_, c) => Math.floor(c / 8)),
  }
  const settings = { quant_method: 'gptq', bits: 4, group_size: 8 }
  const tensors = gptqTensors('m', weight)
  const swapped = (name: string, change: (tensor: Tensor) => Tensor): Tensor[] =>
    tensors.map((tensor) => (tensor.name === name ? change(tensor) : tensor))
  const refusal = async (given: readonly Tensor[], how = settings): Promise<unknown> => {
    try {
      await readPayload((await decode(given, how)).data!)
      return undefined
    } catch (error) {
      return error instanceof TareError ? [error.finding.code, error.finding.path] : error
    }
  }

  it('are refused with the name of the one that is wrong', async () => {
    const cut = (tensor: Tensor): Tensor => tensorOf(tensor.name, 'i32', [2, 2], new Int32Array(4))
    expect(await refusal(swapped('m.qzeros', cut))).toEqual(['packed/form', 'm.qzeros'])
    expect(await refusal(swapped('m.g_idx', cut))).toEqual(['packed/form', 'm.g_idx'])
    const floats = (name: string, shape: readonly number[]): Tensor => tensorOf(name, 'f32', shape, new Float32Array(8))
    expect(await refusal(swapped('m.scales', ({ name }) => floats(name, [1, 8])))).toEqual(['packed/form', 'm.scales'])
    expect(await refusal(swapped('m.scales', ({ name }) => floats(name, [2, 4])))).toEqual(['packed/form', 'm.scales'])
    expect(await refusal(tensors, { ...settings, group_size: 4 })).toEqual(['packed/form', 'm.scales'])
  })

  it('are refused where a column is in a group that is not there', async () => {
    const listed = (value: number) => (tensor: Tensor) =>
      tensorOf(tensor.name, 'i32', [16], new Int32Array(16).fill(value, 5))
    expect(await refusal(swapped('m.g_idx', listed(2)))).toEqual(['packed/form', 'm.g_idx'])
    expect(await refusal(swapped('m.g_idx', listed(-3)))).toEqual(['packed/form', 'm.g_idx'])
    expect(await refusal(swapped('m.g_idx', listed(1)))).toBeUndefined()
  })

  it('are no packed weight without scales, without a known width, or beside a plain one', () => {
    const count = (given: readonly Tensor[], how: Record<string, unknown> = settings): number =>
      findPacking(given, how).weights.length
    expect(count(tensors)).toBe(1)
    expect(count(tensors.filter(({ name }) => name !== 'm.scales'))).toBe(0)
    expect(count(tensors, { ...settings, bits: 7 })).toBe(0)
    expect(count(tensors, { ...settings, checkpoint_format: 'bitblas' })).toBe(0)
    expect(count([...tensors, tensorOf('m.weight', 'f32', [1], new Float32Array(1))])).toBe(0)
    expect(count(tensors, { quant_method: 'quanto' })).toBe(0)
  })
})
