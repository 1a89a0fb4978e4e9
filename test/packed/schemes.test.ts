import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findPacking, readPayload, TareError, type Tensor, unpackWeight } from '../../src/kit.js'
import { whereBitsDiffer } from '../support/numbers.js'
import {
  awqTensors,
  type Codes,
  compressedTensors,
  gptqTensors,
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
    const e2m1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0, -0.5, -1, -1.5, -2, -3, -4, -6]
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

  it('of bitsandbytes without coded scales', async () => {
    const map = Float32Array.from({ length: 16 }, (_, i) => (i - 7) / 8)
    const codes = bytes(64)
    const state = new TextEncoder().encode(JSON.stringify({ blocksize: 64, shape: [4, 32] }))
    const tensor = await decode(
      [
        tensorOf('m.weight', 'u8', [64, 1], codes),
        tensorOf('m.weight.absmax', 'f32', [2], Float32Array.of(3, 5)),
        tensorOf('m.weight.quant_map', 'f32', [16], map),
        tensorOf('m.weight.quant_state.bitsandbytes__fp4', 'u8', [state.length], state),
      ],
      {},
    )
    const values = [...codes].flatMap((byte, i) => [byte >> 4, byte & 15].map((code) => map[code]! * (i < 32 ? 3 : 5)))
    await expectValues(tensor, [4, 32], values)
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
    expect(count(tensors, { ...settings, checkpoint_format: 'marlin' })).toBe(0)
    expect(count([...tensors, tensorOf('m.weight', 'f32', [1], new Float32Array(1))])).toBe(0)
    expect(count(tensors, {})).toBe(0)
  })
})
