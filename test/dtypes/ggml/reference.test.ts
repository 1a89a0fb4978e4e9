// The encoders that give ggml's own bytes, on what ggml made of many kinds of input, with and without importance weights.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dtypeById } from '../../../src/dtypes/index.js'
import { fixturePath } from '../../support/fixtures.js'
import { golden, goldenBytes, goldenFloats } from './golden.js'

interface Case {
  readonly input: string
  readonly imatrix: string | null
  readonly sha256: string
  readonly rmse: number
  readonly weightedRmse?: number | null
}

interface EncodedType {
  readonly name: string
  readonly imatrix: 'ignored' | 'used' | 'required'
  readonly cases: readonly Case[]
}

interface Manifest {
  readonly inputs: readonly { readonly name: string; readonly file: string; readonly cols: number }[]
  readonly types: readonly EncodedType[]
}

// Some inputs are weights of a published model, so these files are beside the project and not in it.
const list = fixturePath('ggml-encode', 'manifest.json')
const hasCases = existsSync(list)
const manifest: Manifest = hasCases ? JSON.parse(readFileSync(list, 'utf8')) : { inputs: [], types: [] }

function floatsOf(file: string): Float32Array {
  const bytes = new Uint8Array(readFileSync(fixturePath('ggml-encode', file)))
  return new Float32Array(bytes.buffer, 0, bytes.byteLength / 4)
}

function encode(
  name: string,
  values: Float32Array,
  columns: number,
  importance: Float32Array | undefined,
  isReference = true,
): Uint8Array {
  const dtype = dtypeById(`ggml.${name}`)!
  const size = dtype.byteLength([columns])!
  const bytes = new Uint8Array((values.length / columns) * size)
  for (let from = 0, at = 0; from < values.length; from += columns, at += size) {
    const row = values.subarray(from, from + columns)
    expect(dtype.codec!.rows!.encode(row, bytes.subarray(at, at + size), { importance, isReference })).toBe(-1)
  }
  return bytes
}

const inputs = new Map(manifest.inputs.map((each) => [each.name, { ...each, values: floatsOf(each.file) }]))
const weightsOf = (imatrix: string | null): Float32Array | undefined =>
  imatrix === null ? undefined : floatsOf(`imatrix/${imatrix}.f32`)

/** The manifest's errors are rounded. */
const margin = 1.000001

describe.skipIf(!hasCases)('every case of ggml', () => {
  it.each(manifest.types)('$name has its bytes', ({ name, cases, imatrix }) => {
    expect(dtypeById(`ggml.${name}`)!.codec!.rows!.weights).toBe(imatrix)
    const different = cases.filter((each) => {
      const { values, cols } = inputs.get(each.input)!
      const bytes = encode(name, values, cols, weightsOf(each.imatrix))
      return createHash('sha256').update(bytes).digest('hex') !== each.sha256
    })
    expect(different).toEqual([])
    expect(cases.length).toBeGreaterThanOrEqual(55)
  })

  const plain = manifest.types.filter(({ imatrix }) => imatrix !== 'required')
  it.each(plain)('$name without weights has no larger error than ggml', ({ name, cases }) => {
    const { codec, byteLength } = dtypeById(`ggml.${name}`)!
    for (const { input, rmse } of cases.filter(({ imatrix }) => imatrix === null)) {
      const { values } = inputs.get(input)!
      const bytes = new Uint8Array(byteLength([values.length])!)
      expect(codec!.fromF32!(values, bytes), input).toBe(-1)
      const decoded = new Float32Array(values.length)
      codec!.toF32(bytes, decoded)
      const squares = values.reduce((sum, value, i) => sum + (value - decoded[i]!) ** 2, 0)
      expect(Math.sqrt(squares / values.length), input).toBeLessThanOrEqual(rmse * margin)
    }
  })

  it.each(manifest.types)('$name with weights has no larger error when it need not be exact', ({ name, cases }) => {
    for (const { input, imatrix, rmse, weightedRmse } of cases) {
      if (imatrix === null) continue
      const { values, cols } = inputs.get(input)!
      const weights = weightsOf(imatrix)!
      const decoded = new Float32Array(values.length)
      dtypeById(`ggml.${name}`)!.codec!.toF32(encode(name, values, cols, weights, false), decoded)
      let [plain, weighted, sum] = [0, 0, 0]
      values.forEach((value, i) => {
        const squared = (value - decoded[i]!) ** 2
        plain += squared
        weighted += weights[i % cols]! * squared
        sum += weights[i % cols]!
      })
      const where = `${input} with ${imatrix}`
      const isWeighted = typeof weightedRmse === 'number'
      if (isWeighted) expect(Math.sqrt(weighted / sum), where).toBeLessThanOrEqual(weightedRmse * margin)
      else expect(Math.sqrt(plain / values.length), where).toBeLessThanOrEqual(rmse * margin)
    }
  })
})

const importance = goldenFloats({ file: 'imatrix.f32' })

describe('the inputs of the project', () => {
  const blocks = golden.filter(({ dtype }) => dtype.startsWith('ggml.') && dtypeById(dtype)!.codec!.rows)

  it.each(blocks)('$name gives the bytes of ggml', ({ name, src, quantized, cols }) => {
    const { weights } = dtypeById(`ggml.${name}`)!.codec!.rows!
    const bytes = encode(name, goldenFloats(src), cols, weights === 'required' ? importance : undefined)
    expect(bytes).toEqual(goldenBytes(quantized))
  })

  it.each(blocks.filter(({ name }) => existsSync(fixturePath('ggml', `${name}.imatrix.q.bin`))))(
    '$name gives the bytes of ggml with importance weights',
    ({ name, src, cols }) => {
      const bytes = encode(name, goldenFloats(src), cols, importance)
      expect(bytes).toEqual(goldenBytes({ file: `${name}.imatrix.q.bin` }))
    },
  )

  it.each(blocks)('$name takes any values and weights, and gives the same bytes again', ({ name }) => {
    const { elements } = dtypeById(`ggml.${name}`)!.group
    const floats = (options: fc.FloatConstraints) =>
      fc.array(fc.float({ noNaN: true, noDefaultInfinity: true, ...options }), {
        minLength: elements,
        maxLength: elements,
      })
    fc.assert(
      fc.property(floats({ min: -1000, max: 1000 }), floats({ min: 0, max: 1e6 }), (values, weights) => {
        const [row, columns] = [Float32Array.from(values), Float32Array.from(weights)]
        const bytes = encode(name, row, elements, columns)
        const decoded = new Float32Array(elements)
        dtypeById(`ggml.${name}`)!.codec!.toF32(bytes, decoded)
        expect(decoded.every(Number.isFinite)).toBe(true)
        expect(encode(name, row, elements, columns)).toEqual(bytes)
      }),
      { numRuns: 15 },
    )
  })
})

it('keeps sub-blocks of IQ3_S in place where ggml moves them up', () => {
  const row = Float32Array.from({ length: 256 }, (_, i) => (i < 32 ? 0 : Math.sin(i)))
  const errorOf = (isReference: boolean): number => {
    const decoded = new Float32Array(256)
    dtypeById('ggml.iq3_s')!.codec!.toF32(encode('iq3_s', row, 256, undefined, isReference), decoded)
    return Math.hypot(...row.map((value, i) => value - decoded[i]!)) / 16
  }
  expect(errorOf(true)).toBeGreaterThan(0.4)
  expect(errorOf(false)).toBeLessThan(0.15)
})

it('gives tiny values the lowest exponent of MXFP4 where in ggml it wraps around', () => {
  const row = new Float32Array(32).fill(1e-41)
  expect(encode('mxfp4', row, 32, undefined, true)[0]).toBeGreaterThan(200)
  expect(encode('mxfp4', row, 32, undefined, false)[0]).toBe(0)
})

describe('weights that differ by many orders of magnitude', () => {
  /** Values below zero; most weights are zero, and few are large. Some scales are then negative, and ggml's steps of them spill into other bits. */
  function rowOf(seed: number): { values: Float32Array; importance: Float32Array } {
    let state = seed
    const next = (): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return (state >>> 8) / 2 ** 24
    }
    for (let i = 0; i < 8; i++) next()
    return {
      values: Float32Array.from({ length: 256 }, () => -next()),
      importance: Float32Array.from({ length: 256 }, () => (next() < 0.7 ? 0 : next() ** 8)),
    }
  }

  // The blocks are what ggml_quantize_chunk of ggml 0.21.0 makes of these rows.
  it.each([
    [
      'q2_k',
      337,
      'cdrY/svZdMez2Mb/tfnqpCwQDAhEEBCIByEDENGDH44VJhACOhpasiOIOKni+rgERS+PtJBrbWvM5wC4m7wdE8JaEJR4dmDnOfFRkwWrGZHyJzYs',
    ],
    [
      'q4_k',
      28152,
      'HhoZJGZc8l3//MD8+qS1s0ERuHQHtaE5Jid4BhmmgpkQiEcmVZMkSTSEgTGhWIimYCAgsKCAUEBgMJCAYGAwkDCAcEBgoGAwALAwACCgECBTEQaCscALQUhyZgd56Yy4W/OGR/qYpyy00zHMiOLa51CydLTyUPSRAyIEdQA19tX0YZDRRFJRNdX1lvIU8MMS',
    ],
  ])('%s has its bytes', (name, seed, block) => {
    const { values, importance } = rowOf(seed)
    expect(Buffer.from(encode(name, values, 256, importance)).toString('base64')).toBe(block)
  })

  it.each(['q4_k', 'q4_0', 'iq4_nl'])('%s refuses weights that make a scale infinite', (name) => {
    const { values } = rowOf(1)
    const { codec, byteLength } = dtypeById(`ggml.${name}`)!
    const importance = new Float32Array(256).fill(3e38)
    expect(codec!.rows!.encode(values, new Uint8Array(byteLength([256])!), { importance })).toBeGreaterThanOrEqual(0)
  })
})
