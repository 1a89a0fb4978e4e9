import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bf16, f16, f32 } from '../../../src/dtypes/index.js'
import { modelQuality, tensorQuality } from '../../../src/inspect/quality.js'
import { MemorySource, verifySource } from '../../../src/kit.js'
import { bytesPayload, lazyPayload, readPayload, type Tensor } from '../../../src/model/index.js'
import { decodedPayload } from '../../../src/transforms/decode.js'
import { planMethods } from '../../../src/transforms/quantize/plan.js'
import { quantizeTensor, scanRange } from '../../../src/transforms/quantize/quantize.js'
import { goldenTensors } from '../../kernels/mcf/golden.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { bytesOf, encoded, streamOnly, tensorOf } from '../tensors.js'

const golden = goldenTensors()
const byReference = golden.filter(({ dtype }) => !dtype.startsWith('int'))

const matrix = (values: Float32Array, shape: readonly number[]): Tensor =>
  tensorOf(f32, shape, new Uint8Array(values.buffer, values.byteOffset, values.byteLength))

const valuesOf = async (tensor: Tensor): Promise<Float32Array> =>
  new Float32Array((await readPayload(decodedPayload(tensor, 'f32')!)).buffer)

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

function noise(count: number, seed = 1, scale = 1): Float32Array {
  let state = seed
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state / 2 ** 31 - 1) ** 3 * scale
  })
}

describe('the reference mode', () => {
  it('has golden tensors to compare with', () => {
    expect(byReference.length).toBeGreaterThan(100)
    expect(new Set(byReference.map(({ dtype }) => dtype)).size).toBe(6)
  })

  it.each(byReference)('gives the bytes of $label', async ({ dtype, shape, values, clip, payload }) => {
    const tensor = quantizeTensor(matrix(values, shape), dtype, { mode: 'reference', clip })
    expect(sameBytes(await readPayload(tensor.data!), payload)).toBe(true)
  })

  it('carries the range of the values along', async () => {
    const { values, shape, record } = byReference.find(({ record, clip }) => record && !clip)!
    const tensor = matrix(values, shape)
    const { extra } = quantizeTensor(tensor, 'q8', { mode: 'reference', range: await scanRange(tensor) })
    expect(extra!.quantInfo).toEqual({
      domain: 'weights',
      minClip: Math.fround(record!.min_clip),
      maxClip: Math.fround(record!.max_clip),
    })
  })
})

describe('the searching mode', () => {
  it.each(byReference)('is no worse than the reference on $label', async ({ dtype, shape, values, clip, payload }) => {
    const original = matrix(
      clip ? values.map((x) => Math.min(Math.max(x, Math.fround(clip[0])), Math.fround(clip[1]))) : values,
      shape,
    )
    const searched = quantizeTensor(matrix(values, shape), dtype, { clip })
    const reference = { ...searched, data: bytesPayload(payload) }
    if (!(await valuesOf(reference)).every(Number.isFinite)) return
    const [ours, theirs] = [await tensorQuality(original, searched), await tensorQuality(original, reference)]
    expect(ours.rmse).toBeLessThanOrEqual(theirs.rmse)
  })

  it('refuses values that no scale can reach, naming tensor and place', async () => {
    const { values, shape } = byReference.find(({ label }) => label.includes('e2.'))!
    const tensor = quantizeTensor({ ...matrix(values, shape), name: 'too.large' }, 'q4')
    await expect(readPayload(tensor.data!)).rejects.toThrow(/too\.large.*row \d+, columns \d+ to \d+.*65504/)
  })
})

describe('all codes', () => {
  it.each(byReference)('do no worse than symmetric ones on $label', async ({ dtype, shape, values, clip }) => {
    const original = matrix(
      clip ? values.map((x) => Math.min(Math.max(x, Math.fround(clip[0])), Math.fround(clip[1]))) : values,
      shape,
    )
    const quality = async (codes: 'symmetric' | 'all'): Promise<number | string> => {
      const tensor = quantizeTensor(original, dtype, { codes })
      return tensorQuality(original, tensor).then(
        ({ rmse }) => rmse,
        (error) => error.finding.message,
      )
    }
    const [symmetric, all] = [await quality('symmetric'), await quality('all')]
    if (typeof symmetric === 'string') expect(all).toBe(symmetric)
    else expect(all).toBeLessThanOrEqual(symmetric)
  })

  it('are not what the reference makes', () => {
    const tensor = sampleTensor('m', 'f32', [8, 64])
    const options = { codes: 'all', mode: 'reference' } as const
    expect(() => quantizeTensor(tensor, 'k4', options)).toThrow(
      expect.objectContaining({ finding: expect.objectContaining({ code: 'usage/option', path: 'm' }) }),
    )
  })

  it('are what verifying finds, and all that it finds', async () => {
    for (const method of ['q8', 'q4', 'k6', 'k4', 'k3', 'k2']) {
      const tensor = quantizeTensor(matrix(noise(64 * 300), [64, 300]), method, { codes: 'all', clip: [-1, 1] })
      const [bytes] = [...(await convertToFiles(sampleModel([tensor]), 'mcf')).values()]
      const { findings } = await verifySource(new MemorySource(bytes!, 'x.mcf'))
      const serious = findings.filter(({ severity }) => severity !== 'note')
      expect(serious.map(({ code, severity }) => [code, severity])).toEqual([['mcf/most-negative-code', 'warning']])
    }
  })
})

describe('quantizing', () => {
  const methods = ['q8', 'q4', 'k6', 'k4', 'k3', 'k2']

  it.each(methods)('gives the same bytes however much is kept in memory (%s)', async (method) => {
    for (const shape of [
      [3, 77],
      [5, 300],
      [2, 70_000],
      [1100, 33],
    ]) {
      const source = matrix(noise(shape[0]! * shape[1]!), shape)
      for (const manner of [{}, { codes: 'all' }, { mode: 'reference' }] as const) {
        const made = async (limits?: { whole: number; scales: number }): Promise<Uint8Array> =>
          readPayload(quantizeTensor(source, method, { ...manner, limits }).data!)
        const whole = await made()
        expect(sameBytes(whole, await made({ whole: 0, scales: 1 << 30 }))).toBe(true)
        expect(sameBytes(whole, await made({ whole: 0, scales: 0 }))).toBe(true)
      }
    }
  })

  it.each(methods)('does not depend on how the source is read (%s)', async (method) => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 600 }),
        fc.integer({ min: 1, max: 999 }),
        async (rows, columns, piece) => {
          const bytes = new Uint8Array(noise(rows * columns, columns).buffer)
          const source = tensorOf(f32, [rows, columns], bytes)
          const streamed = { ...source, data: streamOnly(bytes, piece) }
          const wanted = await readPayload(quantizeTensor(source, method).data!)
          expect(sameBytes(await bytesOf(quantizeTensor(streamed, method).data!, 97), wanted)).toBe(true)
        },
      ),
      { numRuns: 15 },
    )
  })

  it('takes every float type and both orders', async () => {
    const values = Array.from(noise(6 * 40), (x) => Math.fround(Math.round(x * 64) / 64))
    const wanted = await readPayload(quantizeTensor(tensorOf(f32, [6, 40], encoded(f32, values)), 'k4').data!)
    for (const dtype of [f16, bf16]) {
      const tensor = quantizeTensor(tensorOf(dtype, [6, 40], encoded(dtype, values)), 'k4')
      expect(tensor.dtype.id).toBe('mcf.k4')
      expect(sameBytes(await readPayload(tensor.data!), wanted)).toBe(true)
    }
    const turned = Array.from({ length: 240 }, (_, i) => values[(i % 6) * 40 + Math.floor(i / 6)]!)
    const column = tensorOf(f32, [6, 40], encoded(f32, turned), { order: 'column' })
    const fromColumns = quantizeTensor(column, 'k4')
    expect(fromColumns.order).toBe('row')
    expect(sameBytes(await readPayload(fromColumns.data!), wanted)).toBe(true)
  })

  it.each([...methods, 'int8', 'int4'])('refuses what is not finite with its place (%s)', async (method) => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      const values = noise(5 * 70)
      values[3 * 70 + 66] = bad
      const tensor = { ...matrix(values, [5, 70]), name: 'layers.0.w' }
      const wanted = {
        finding: {
          code: 'write/value-range',
          path: 'layers.0.w',
          message: expect.stringContaining(`element 276 is ${bad}`),
        },
      }
      for (const options of [{}, { clip: [-1, 1] as const }])
        await expect(readPayload(quantizeTensor(tensor, method, options).data!)).rejects.toMatchObject(wanted)
      await expect(scanRange(tensor)).rejects.toMatchObject(wanted)
      await expect(scanRange(tensor, 'activations')).rejects.toMatchObject(wanted)
    }
  })

  it('refuses shapes, methods, ranges and domains that do not go together', () => {
    const tensor = sampleTensor('v', 'f32', [64])
    expect(() => quantizeTensor(tensor, 'k4')).toThrow(/matrices/)
    expect(() => quantizeTensor(tensor, 'q5')).toThrow(/there is no method "q5"/)
    const square = sampleTensor('m', 'f32', [8, 64])
    expect(() => quantizeTensor(square, 'k4', { clip: [1, 0] })).toThrow(/empty/)
    expect(() => quantizeTensor(square, 'k4', { domain: 'activations' })).toThrow(/weights only/)
  })

  it('keeps zeros behind the last column, also when the range leaves zero out', async () => {
    const tensor = quantizeTensor(
      matrix(
        noise(3 * 40).map((x) => x + 5),
        [3, 40],
      ),
      'q4',
      { clip: [2, 6] },
    )
    const codes = (await readPayload(tensor.data!)).subarray(-6 * 16)
    for (let row = 0; row < 3; row++)
      expect(codes.subarray(row * 32 + 20, row * 32 + 32).every((byte) => byte === 0)).toBe(true)
  })

  it('stores zeros as zeros', async () => {
    for (const method of methods) {
      for (const codes of ['symmetric', 'all'] as const) {
        const tensor = quantizeTensor(matrix(new Float32Array(64).fill(-0), [2, 32]), method, { codes })
        expect((await readPayload(tensor.data!)).every((byte) => byte === 0)).toBe(true)
      }
    }
  })

  it('stops when it is told to', async () => {
    const tensor = quantizeTensor(matrix(noise(64 * 64), [64, 64]), 'k4')
    const endless: Tensor = {
      ...matrix(noise(64 * 64), [64, 64]),
      data: lazyPayload(4 * 64 * 64, async function* (signal) {
        signal?.throwIfAborted()
        yield new Uint8Array(4 * 64 * 64)
      }),
    }
    const reading = quantizeTensor(endless, 'k4').data!.chunks(1024, AbortSignal.abort())
    await expect(reading[Symbol.asyncIterator]().next()).rejects.toThrow()
    expect(tensor.data!.byteLength).toBe(tensor.dtype.byteLength([64, 64]))
  })
})

describe('int8 and int4', () => {
  it.each(golden.filter(({ dtype }) => dtype.startsWith('int')))('give the bytes of $label', async (each) => {
    const domain = each.label.includes('activations') ? 'activations' : 'weights'
    const source = matrix(each.values, each.shape)
    const tensor = quantizeTensor(source, each.dtype, { domain, range: await scanRange(source, domain) })
    expect(sameBytes(await readPayload(tensor.data!), each.payload)).toBe(true)
    expect(sameBytes(await readPayload(quantizeTensor(source, each.dtype, { domain }).data!), each.payload)).toBe(true)
    expect(tensor.extra!.quantInfo).toEqual({
      domain,
      minClip: Math.fround(each.record!.min_clip),
      maxClip: Math.fround(each.record!.max_clip),
    })
  })

  it('have a code for zero, wherever the range lies', async () => {
    for (const clip of [[2, 6] as const, [-7, -1] as const, [-1, 3] as const, [0, 0] as const]) {
      for (const method of ['int8', 'int4']) {
        const source = tensorOf(f32, [5], encoded(f32, [0, 2, -2, 5, -6]))
        const tensor = quantizeTensor(source, method, { domain: 'activations', clip })
        const [low, high] = [Math.min(clip[0], 0), Math.max(clip[1], 0)]
        const values = await valuesOf(tensor)
        const step = (high - low) / (method === 'int8' ? 255 : 15)
        for (const [i, x] of [0, 2, -2, 5, -6].entries()) {
          const cut = Math.min(Math.max(x, clip[0]), clip[1])
          expect(Math.abs(values[i]! - cut)).toBeLessThanOrEqual(step * 1.01)
        }
      }
    }
  })

  it('take any rank and an odd number of values', async () => {
    const source = tensorOf(f32, [3, 1, 3], encoded(f32, [1, 2, 3, 4, 5, 6, 7, -7, 3.4]))
    expect([...(await valuesOf(quantizeTensor(source, 'int4')))]).toEqual([1, 2, 3, 4, 5, 6, 7, -7, 3])
  })
})

describe('choosing methods', () => {
  const model = sampleModel([
    sampleTensor('model.embed_tokens.weight', 'bf16', [64, 64]),
    sampleTensor('model.layers.0.self_attn.q_proj.weight', 'bf16', [64, 64]),
    sampleTensor('model.layers.0.self_attn.q_proj.bias', 'bf16', [64]),
    sampleTensor('model.layers.0.input_layernorm.weight', 'bf16', [64]),
    sampleTensor('model.layers.0.mlp.gate.weight', 'bf16', [64, 64]),
    sampleTensor('model.layers.0.small.weight', 'bf16', [8, 8]),
    sampleTensor('model.positions', 'i64', [64, 64]),
    sampleTensor('lm_head.weight', 'f32', [64, 64]),
  ])
  const methodsOf = (options: Parameters<typeof planMethods>[1]): (string | undefined)[] =>
    planMethods(model, options).map(({ method }) => method?.replace('mcf.', ''))

  it('leaves alone what is small, delicate or no matrix', () => {
    expect(methodsOf({ method: 'k4' })).toEqual(['k4', 'k4', ...Array(5).fill(undefined), 'k4'])
    for (const { method, reason } of planMethods(model, { method: 'k4' })) expect(method ?? reason).toBeTruthy()
  })

  it('takes the first pattern that fits', () => {
    const tensorMethod = [
      ['*embed*', 'q8'],
      ['*gate*', 'k6'],
      ['lm_head*', 'keep'],
      ['*bias', 'q8'],
      ['*', 'k2'],
    ] as const
    expect(methodsOf({ method: 'k4', tensorMethod })).toEqual([
      'q8',
      'k2',
      undefined,
      undefined,
      'k6',
      'k2',
      undefined,
      undefined,
    ])
  })

  it('quantizes every matrix when it is told to', () => {
    expect(methodsOf({ method: 'q4', everyMatrix: true })).toEqual([
      'q4',
      'q4',
      undefined,
      undefined,
      'q4',
      'q4',
      undefined,
      'q4',
    ])
  })

  it('knows the sizes', () => {
    const [first] = planMethods(model, { method: 'q8' })
    expect(first).toMatchObject({ sizeBefore: 8192, sizeAfter: 256 + 64 * 64 })
  })
})

describe('quality', () => {
  it('measures what was lost', async () => {
    const a = tensorOf(f32, [4], encoded(f32, [1, 2, 3, 4]))
    const b = tensorOf(f16, [4], encoded(f16, [1, 2, 3, 2]))
    const quality = await tensorQuality(a, b)
    expect(quality).toMatchObject({
      name: 'w',
      from: 'f32',
      to: 'f16',
      count: 4,
      bitsPerWeight: 16,
      rmse: 1,
      maxError: 2,
      maxErrorAt: 3,
    })
    expect(quality.snr).toBeCloseTo(10 * Math.log10(30 / 4), 12)
    expect(quality.cosine).toBeCloseTo(22 / Math.sqrt(30 * 18), 12)
    expect(await tensorQuality(a, a)).toMatchObject({ rmse: 0, maxError: 0, snr: null, cosine: 1 })
    const zeros = tensorOf(f32, [4], new Uint8Array(16))
    expect(await tensorQuality(zeros, a)).toMatchObject({ snr: null, cosine: null })
    await expect(tensorQuality(a, { ...a, shape: [2, 2] })).rejects.toThrow(/cannot be compared/)
  })

  it('goes over the tensors whose type has changed', async () => {
    const w = matrix(noise(64 * 64), [64, 64])
    const original = sampleModel([w, sampleTensor('b', 'f32', [64])])
    const other = sampleModel([quantizeTensor(w, 'k4'), sampleTensor('b', 'f32', [64])])
    const { tensors, total } = await modelQuality(original, other)
    expect(tensors.map(({ name, to }) => [name, to])).toEqual([['w', 'mcf.k4']])
    expect(tensors[0]!.bitsPerWeight).toBeCloseTo((8 * (192 + (64 * 64) / 2 + 64)) / 4096, 1)
    expect(total).toMatchObject({ rmse: tensors[0]!.rmse, count: 4096 })
    expect(await modelQuality(original, original)).toEqual({ tensors: [] })
  })
})
