import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bytesPayload,
  castTensor,
  dtypeById,
  openModel,
  type QuantParams,
  readPayload,
  type Tensor,
} from '../../src/kit.js'
import { dequantizeLoss, dequantizeTensor, isQuantized, whyNotDequantized } from '../../src/transforms/dequantize.js'
import { columnMajor, rowMajor } from '../../src/transforms/reorder.js'
import { fixtureSource } from '../support/fixtures.js'
import { sampleTensor } from '../support/sample-model.js'

fc.configureGlobal({ seed: 23 })

const f32 = dtypeById('f32')!
const f16 = dtypeById('f16')!

function codes(
  values: readonly number[],
  shape: readonly number[],
  quant: QuantParams,
  order: Tensor['order'] = 'row',
): Tensor {
  const data = bytesPayload(new Uint8Array(Int8Array.from(values).buffer))
  return { name: 'q', dtype: dtypeById('i8')!, shape, order, role: 'weight', data, quant }
}

async function floats(tensor: Tensor): Promise<number[]> {
  const bytes = await readPayload(tensor.data!)
  return [...new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)]
}

describe('codes with scales beside them', () => {
  it('become scale · (code − zero point), rounded once', async () => {
    const quant: QuantParams = { scheme: 'asymmetric', scales: [0.1], zeroPoints: [3] }
    const made = dequantizeTensor(codes([-128, 0, 3, 127], [4], quant), f32)
    expect(made.quant).toBeUndefined()
    expect(await floats(made)).toEqual([-131, -3, 0, 124].map((step) => Math.fround(0.1 * step)))
  })

  const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 })
  const matrices = sizes.chain((shape) =>
    fc.record({
      shape: fc.constant(shape),
      axis: fc.integer({ min: 0, max: shape.length - 1 }),
      values: fc.array(fc.integer({ min: -128, max: 127 }), {
        minLength: shape.reduce((a, b) => a * b, 1),
        maxLength: shape.reduce((a, b) => a * b, 1),
      }),
    }),
  )

  it('take the scale of their channel, along any axis and in either order', async () => {
    await fc.assert(
      fc.asyncProperty(matrices, async ({ shape, axis, values }) => {
        const channels = Array.from({ length: shape[axis]! }, (_, i) => i)
        const scales = channels.map((i) => 0.25 * (i + 1))
        const quant: QuantParams = { scheme: 'asymmetric', axis, scales, zeroPoints: channels }
        const inner = shape.slice(axis + 1).reduce((a, b) => a * b, 1)
        const wanted = values.map((value, i) => {
          const channel = Math.floor(i / inner) % shape[axis]!
          return scales[channel]! * (value - channel)
        })
        expect(await floats(dequantizeTensor(codes(values, shape, quant), f32))).toEqual(wanted)
        // With the codes in column order the same values come out, each in its place.
        const bytes = await readPayload(columnMajor(codes(values, shape, quant)).data!)
        const inColumns = codes([...new Int8Array(bytes.buffer)], shape, quant, 'column')
        expect(await floats(rowMajor(dequantizeTensor(inColumns, f32)))).toEqual(wanted)
      }),
      { numRuns: 60 },
    )
  })

  it('lose precision exactly where the plan says so', async () => {
    const scales = fc.double({ min: 2 ** -20, max: 2 ** 20, noNaN: true }).map(Math.fround)
    const powers = fc.integer({ min: -20, max: 20 }).map((power) => 2 ** power)
    const values = fc.array(fc.integer({ min: -128, max: 127 }), { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(fc.oneof(scales, powers), values, fc.constantFrom(f32, f16), async (scale, list, to) => {
        const tensor = codes(list, [list.length], { scheme: 'symmetric', scales: [scale] })
        if (dequantizeLoss(tensor, to) === 'precision') return
        const made = castTensor(dequantizeTensor(tensor, to), f32)
        expect(await floats(made)).toEqual(list.map((value) => scale * value))
      }),
    )
    const half = codes([1], [1], { scheme: 'symmetric', scales: [0.5] })
    const tenth = codes([1], [1], { scheme: 'symmetric', scales: [Math.fround(0.1)] })
    expect([half, tenth].map((each) => dequantizeLoss(each, f32))).toEqual(['none', 'precision'])
    expect(dequantizeLoss(codes([1], [1], { scheme: 'symmetric', scales: [2 ** 12] }), f16)).toBe('precision')
  })

  it('are judged also where every row of a large vocabulary has its own', () => {
    const rows = 200_000
    const quant: QuantParams = {
      scheme: 'asymmetric',
      axis: 0,
      scales: Array.from({ length: rows }, () => 0.5),
      zeroPoints: Array.from({ length: rows }, () => 3),
    }
    expect(dequantizeLoss(codes([], [rows, 1], quant), f32)).toBe('none')
  })
})

describe('blocks', () => {
  it('become the values that they stand for, and lose what was said about their codes', async () => {
    const { tensors } = await openModel(fixtureSource('mcf', 'quant-q8.mcf'))
    const tensor = tensors.find(({ extra }) => extra?.quantInfo !== undefined)!
    const made = dequantizeTensor(tensor, f16)
    expect([made.dtype.id, made.extra, made.data!.byteLength]).toEqual([
      'f16',
      undefined,
      2 * tensor.shape.reduce((a, b) => a * b, 1),
    ])
    expect([dequantizeLoss(tensor, f32), dequantizeLoss(tensor, f16)]).toEqual(['none', 'precision'])
  })

  it('that nobody can decode are told from those that can be', () => {
    const packed = sampleTensor('p', 'ggml.q4_0', [2, 32])
    expect([packed, sampleTensor('f', 'f32', [2])].map(isQuantized)).toEqual([true, false])
    expect(whyNotDequantized(packed)).toBeUndefined()
    expect(whyNotDequantized({ ...packed, data: null })).toBe('it has no data')
    const wrong = codes([1, 2], [2], { scheme: 'symmetric', axis: 0, scales: [1, 2, 3] })
    expect(whyNotDequantized(wrong)).toContain('3 scales')
    expect(() => dequantizeTensor(wrong, f32)).toThrow(expect.objectContaining({ code: 'usage/no-codec' }))
  })
})
