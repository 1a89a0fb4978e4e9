import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type DTypeId,
  formats,
  isTareError,
  openModel,
  type ReadAs,
  readTensor,
  type TensorContent,
  writeModel,
} from '../../src/index.js'
import { countingSource, MemorySource } from '../../src/kit.js'

async function written(tensors: Record<string, TensorContent>) {
  const { files } = await writeModel({ tensors }, undefined, { to: 'safetensors' })
  return openModel(files[0]!.bytes)
}

const arrays = [
  Float64Array,
  Float32Array,
  BigInt64Array,
  Int32Array,
  Int16Array,
  Int8Array,
  BigUint64Array,
  Uint32Array,
  Uint16Array,
  Uint8Array,
]

describe('arrays come back as they were written', () => {
  it.each(arrays.map((type) => [type.name, type] as const))('%s', async (_, type) => {
    const bytes = fc.uint8Array({ minLength: 8, maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(bytes, async (random) => {
        const count = Math.floor(random.byteLength / type.BYTES_PER_ELEMENT)
        const data = new type(random.slice().buffer, 0, count)
        const { data: found, shape } = await readTensor(await written({ w: { shape: [count], data } }), 'w')
        expect(found.constructor).toBe(type)
        expect(shape).toEqual([count])
        expect(new Uint8Array(found.buffer)).toEqual(new Uint8Array(data.buffer.slice(0, data.byteLength)))
      }),
      { numRuns: 20 },
    )
  })
})

const values = Float32Array.from({ length: 24 }, (_, i) => i - 8)
const shape = [2, 3, 4]

describe('readTensor', () => {
  it.each([
    ['f16', undefined, Float32Array],
    ['bf16', undefined, Float32Array],
    ['f8_e4m3', undefined, Float32Array],
    ['f32', 'f64', Float64Array],
    ['f32', 'i8', Int8Array],
    ['f32', 'i64', BigInt64Array],
    ['f16', 'raw', Uint8Array],
  ] as const)('%s as %s', async (dtype: DTypeId, as: ReadAs | undefined, type) => {
    const model = await written({ w: { shape, data: values, dtype } })
    const tensor = await readTensor(model, 'w', { as })
    expect(tensor.dtype).toBe(dtype)
    expect(tensor.data.constructor).toBe(type)
    expect(tensor.data.length).toBe(as === 'raw' ? 48 : 24)
    if (as !== 'raw') expect([...tensor.data].map(Number)).toEqual([...values])
  })

  it('decodes quantized tensors to f32', async () => {
    const data = Float32Array.from({ length: 512 }, (_, i) => i / 100)
    const tensors = { w: { shape: [2, 256], data } }
    const { files } = await writeModel({ tensors }, undefined, {
      to: 'gguf',
      quantize: { method: 'q8_0', everyMatrix: true },
      allowLoss: 'precision',
    })
    const found = await readTensor(await openModel(files[0]!.bytes), 'w')
    expect(found.dtype).toBe('ggml.q8_0')
    expect(found.data).toBeInstanceOf(Float32Array)
    expect(Math.max(...[...found.data].map((value, i) => Math.abs(Number(value) - data[i]!)))).toBeLessThan(0.05)
  })

  it('slices by notation and by ranges alike', async () => {
    const model = await written({ w: { shape, data: values } })
    const byText = await readTensor(model, 'w', { slice: '1,0:2,::2' })
    const byRanges = await readTensor(model, 'w', { slice: [1, [0, 2], [0, 4, 2]] })
    expect(byText.shape).toEqual([2, 2])
    expect([...byText.data].map(Number)).toEqual([4, 6, 8, 10])
    expect(byRanges).toEqual(byText)
    expect((await readTensor(model, 'w', { slice: [[], [-1]] })).shape).toEqual([2, 1, 4])
  })

  it('reads the bytes of a slice and no others', async () => {
    const data = new Float32Array(500_000)
    const { files } = await writeModel({ tensors: { w: { shape: [500, 1000], data } } }, undefined, {
      to: 'safetensors',
    })
    const count = { bytes: 0, reads: 0 }
    const model = await openModel(countingSource(new MemorySource(files[0]!.bytes), count))
    const before = count.bytes
    await readTensor(model, 'w', { slice: [[400, 402]] })
    expect(count.bytes - before).toBe(8000)
  })

  it.each([
    [{ slice: '0:1,0:1,0:1,0:1' }, 'usage/option'],
    [{ slice: [9] }, 'usage/option'],
    [{ slice: [[0.5, 1]] }, 'usage/option'],
    [{ as: 'f99' }, 'usage/option'],
    [{ as: 'u8' }, 'write/value-range'],
  ] as const)('refuses %j', async (options, code) => {
    const model = await written({ w: { shape, data: values } })
    const error = await readTensor(model, 'w', options as never).catch((caught: unknown) => caught)
    expect(isTareError(error, code)).toBe(true)
  })
})

describe('writeModel', () => {
  const content = { tensors: { w: { shape: [2, 128], data: new Float32Array(256) } }, metadata: { author: 'me', n: 3 } }

  it.each(formats.filter(({ capabilities }) => capabilities.write).map(({ id }) => id))('writes %s', async (to) => {
    const { files } = await writeModel(content, undefined, { to, allowLoss: 'content' })
    const siblings = new Map(files.map((file) => [file.name, file.bytes]))
    const model = await openModel(files[0]!.bytes, { name: files[0]!.name, siblings })
    expect(model.format).toBe(to)
  })

  it('keeps metadata', async () => {
    const { files } = await writeModel(content, undefined, { to: 'gguf' })
    const { metadata } = await openModel(files[0]!.bytes)
    expect(metadata.get('author')).toMatchObject({ value: 'me' })
    expect(Number((metadata.get('n') as { value: unknown }).value)).toBe(3)
  })

  it('takes stored bytes of any type', async () => {
    const model = await written({ w: { shape: [2], bytes: Uint8Array.of(0x80, 0x3f, 0, 0x40), dtype: 'bf16' } })
    expect([...(await readTensor(model, 'w', { as: 'f32' })).data]).toEqual([1, 2])
  })

  it.each([
    [{ shape: [3], data: Float32Array.of(1) }, 'write/size-mismatch'],
    [{ shape: [-1], data: Float32Array.of(1) }, 'write/size-mismatch'],
    [{ shape: [1], data: Float32Array.of(1), dtype: 'f33' }, 'usage/option'],
    [{ shape: [1], data: [1] }, 'usage/option'],
    [{ shape: [1] }, 'usage/option'],
  ])('refuses %j', async (tensor, code) => {
    const error = await written({ w: tensor as never }).catch((caught: unknown) => caught)
    expect(isTareError(error, code as never)).toBe(true)
  })
})
