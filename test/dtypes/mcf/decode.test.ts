import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dtypeById, f32, f64 } from '../../../src/dtypes/index.js'
import { readElements } from '../../../src/inspect/preview.js'
import { showModel } from '../../../src/inspect/show.js'
import { tensorStats } from '../../../src/inspect/stats.js'
import { unpackPlain } from '../../../src/kernels/mcf/plain/unpack.js'
import { hashModel, openModel } from '../../../src/kit.js'
import { castTensor } from '../../../src/transforms/cast.js'
import { decodedPayload } from '../../../src/transforms/decode.js'
import { fixtureBytes, fixturePath, fixtureSource } from '../../support/fixtures.js'
import { bytesOf, streamOnly, tensorOf } from '../../transforms/tensors.js'
import { decodeSlowly, randomBytes } from './oracle.js'

fc.configureGlobal({ seed: 11 })

const matrices = ['q8', 'q4', 'k6', 'k4', 'k3', 'k2'].map((name) => `mcf.${name}`)
const asBytes = (patterns: Uint32Array): Uint8Array => new Uint8Array(patterns.buffer)

const shapeOf = (id: string): fc.Arbitrary<number[]> =>
  matrices.includes(id)
    ? fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 600 })).map((pair) => [...pair])
    : fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 4 })

describe('codes', () => {
  it('are two’s complement, lowest bits first', () => {
    const unpacked = (bits: 3 | 6, first: readonly number[]): number[] => {
      const codes = new Uint8Array(4 * bits)
      codes.set(first)
      const target = new Float32Array(32)
      unpackPlain(bits)(codes, Float32Array.of(1), target)
      return [...target.subarray(0, 3)]
    }
    expect(unpacked(3, [0xb9])).toEqual([1, -1, 2])
    expect(unpacked(6, [0xc1, 0x0f])).toEqual([1, -1, 0])
  })
})

describe.each([...matrices, 'mcf.int8', 'mcf.int4'])('%s', (id) => {
  const dtype = dtypeById(id)!

  it('decodes every pattern as an element-wise decoder does', async () => {
    await fc.assert(
      fc.asyncProperty(shapeOf(id), fc.nat(), fc.boolean(), async (shape, seed, zeroPoint) => {
        const extra = !matrices.includes(id) && zeroPoint ? 64 : 0
        const bytes = randomBytes(dtype.byteLength(shape)! + extra, seed)
        const wanted = asBytes(decodeSlowly(id, shape, bytes))
        const decoded = decodedPayload(tensorOf(dtype, shape, bytes), 'f32')!
        expect(Buffer.compare(await bytesOf(decoded, 1000), wanted)).toBe(0)
        const streamed = decodedPayload(tensorOf(dtype, shape, bytes, { data: streamOnly(bytes, 99) }), 'f32')!
        expect(streamed.read).toBeUndefined()
        expect(Buffer.compare(await bytesOf(streamed, 4096), wanted)).toBe(0)
        const wide = await bytesOf(decodedPayload(tensorOf(dtype, shape, bytes), 'f64')!, 800)
        expect(new Float64Array(wide.buffer)).toEqual(Float64Array.from(new Float32Array(wanted.buffer)))
      }),
      { numRuns: 20 },
    )
  })

  it('reads any part', async () => {
    const shape = [3, 90_001]
    const bytes = randomBytes(dtype.byteLength(shape)!, 3)
    const payload = decodedPayload(tensorOf(dtype, shape, bytes), 'f32')!
    const whole = await bytesOf(payload, 1 << 20)
    expect(Buffer.compare(whole, asBytes(decodeSlowly(id, shape, bytes)))).toBe(0)
    const size = payload.byteLength
    await fc.assert(
      fc.asyncProperty(fc.nat(size), fc.nat(5000), async (start, length) => {
        const end = Math.min(size, start + length)
        expect(Buffer.compare(await payload.read!(start, end - start), whole.subarray(start, end))).toBe(0)
      }),
      { numRuns: 20 },
    )
    await expect(payload.read!(size, 1)).rejects.toThrow(/requested/)
    expect(Buffer.compare(await payload.read!(1, size - 2), whole.subarray(1, size - 1))).toBe(0)
  })

  it('refuses bytes that do not go with the shape', () => {
    const wrong = tensorOf(dtype, [3, 40], new Uint8Array(dtype.byteLength([3, 40])! + 1))
    expect(decodedPayload(wrong, 'f32')).toBeUndefined()
    expect(() => castTensor(wrong, f32)).toThrow(/takes/)
    expect(decodedPayload(tensorOf(dtype, [0, 4], new Uint8Array(64)), 'f32')).toBeUndefined()
  })
})

describe('scales', () => {
  const decode = async (id: string, fill: (bytes: Uint8Array) => void): Promise<Uint32Array> => {
    const dtype = dtypeById(id)!
    const bytes = new Uint8Array(dtype.byteLength([1, 32])!)
    bytes.fill(0xff, bytes.byteLength - 4) // the last codes are -1
    fill(bytes)
    return new Uint32Array((await bytesOf(decodedPayload(tensorOf(dtype, [1, 32], bytes), 'f32')!, 128)).buffer)
  }

  it('of zero give plus zero, whatever the codes', async () => {
    expect(new Set(await decode('mcf.q4', () => {}))).toEqual(new Set([0]))
    const negativeZero = await decode('mcf.q8', (bytes) => bytes.set([0x00, 0x80]))
    expect(new Set(negativeZero)).toEqual(new Set([0]))
    const noSubScale = await decode('mcf.k4', (bytes) => bytes.set([0x00, 0x7c]))
    expect(new Set(noSubScale)).toEqual(new Set([0]))
  })

  it('that are negative make minus zero of code 0', async () => {
    const values = await decode('mcf.q4', (bytes) => bytes.set([0x00, 0xbc]))
    expect([values[0], values[31]]).toEqual([0x80000000, 0x3f800000])
  })

  it('that are infinite or NaN give one NaN on every machine', async () => {
    const infinite = await decode('mcf.q8', (bytes) => bytes.set([0x00, 0x7c]))
    expect([infinite[0], infinite[31]]).toEqual([0x7fc00000, 0xff800000])
    expect(new Set(await decode('mcf.q8', (bytes) => bytes.set([0x01, 0xfe])))).toEqual(new Set([0x7fc00000]))
  })

  it('use six bits of a sub-scale and keep subnormals', async () => {
    const set = (sub: number) => (bytes: Uint8Array) => {
      bytes.set([0x01, 0x00])
      bytes[64] = sub
    }
    const values = new Float32Array((await decode('mcf.k4', set(63))).buffer)
    expect(values[31]).toBe((-(2 ** -24) * 63) / 32)
    expect(await decode('mcf.k4', set(255))).toEqual(await decode('mcf.k4', set(63)))
  })
})

interface ManifestFile {
  readonly file: string
  readonly tensors?: readonly { name: string; sha256_f32?: string; source_f32?: string }[]
}

describe('int8 and int4 of the document', () => {
  const manifest = JSON.parse(readFileSync(fixturePath('mcf', 'manifest.json'), 'utf8')) as { files: ManifestFile[] }
  const files = manifest.files.filter(({ file }) => file.startsWith('doc-int'))

  it.each(files)('$file decodes to the listed values', async ({ file, tensors }) => {
    const model = await openModel(fixtureSource('mcf', file))
    for (const { name, sha256_f32, source_f32 } of tensors!) {
      const tensor = model.tensors.find((each) => each.name === name)!
      const values = new Float32Array((await bytesOf(decodedPayload(tensor, 'f32')!, 64)).buffer)
      if (file === 'doc-int4-weights.mcf') {
        // The list was made before packing: a code of 0 had the sign of its source there, which no stored byte can tell.
        const source = new Float32Array(fixtureBytes('mcf', source_f32!).slice().buffer)
        for (let i = 0; i < values.length; i++) if (values[i] === 0 && source[i]! < 0) values[i] = -0
      }
      expect(createHash('sha256').update(new Uint8Array(values.buffer)).digest('hex'), name).toBe(sha256_f32)
    }
  })
})

describe('the verbs', () => {
  it('work on quantized tensors', async () => {
    const model = await openModel(fixtureSource('mcf', 'quant-k4.mcf'))
    const tensor = model.tensors.find(({ name }) => name === 'c.odd77')!
    const decoded = decodedPayload(tensor, 'f32')!
    const values = new Float32Array((await bytesOf(decoded, 400)).buffer)
    const stats = await tensorStats(tensor)
    expect(stats).toMatchObject({ count: values.length, max: Math.max(...values), min: Math.min(...values) })
    expect(await readElements(tensor, [80, 3])).toEqual([values[80], values[3]])
    const cast = castTensor(tensor, f64)
    expect([...new Float64Array((await bytesOf(cast.data!, 400)).buffer)]).toEqual([...values])
    let text = ''
    for await (const piece of showModel(model, { tensors: (name) => name === 'c.odd77' })) text += piece
    expect(text).toMatch(/^c\.odd77: mcf\.k4\[\d+, 77\] = \{/m)
    expect(text).toContain('- hist:')
  })

  it('say why bare codes have no values', async () => {
    const model = await openModel(fixtureSource('mcf', 'pack-quant-embed-int8.mcf'))
    const bare = model.tensors.find(({ dtype }) => dtype.id === 'mcf.int8')!
    expect(await tensorStats(bare)).toEqual({ reason: expect.stringContaining('bare codes') })
    expect(() => castTensor(bare, f32)).toThrow(/bare codes/)
    const hashes = await hashModel(model, { decoded: true })
    expect(hashes.tensors.find(({ name }) => name === bare.name)?.digest).toBeNull()
  })
})
