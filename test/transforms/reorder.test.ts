import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemorySource } from '../../src/bytes/index.js'
import { c128, type DType, f16, f32, f64, i4, packed, u8, u16 } from '../../src/dtypes/index.js'
import { lazyPayload, rangePayload } from '../../src/model/index.js'
import { columnMajor, rowMajor, transposed } from '../../src/transforms/reorder.js'
import { bytesOf, streamOnly, tensorOf } from './tensors.js'

fc.configureGlobal({ seed: 5 })

const product = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1)
const counting = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (i * 31 + Math.floor(i / 256)) % 251)

/** Element by element, with the coordinates written out. */
function naive(bytes: Uint8Array, shape: readonly number[], size: number, to: 'row' | 'column'): Uint8Array {
  const result = new Uint8Array(bytes.length)
  const count = product(shape)
  const strides = shape.map((_, axis) => product(shape.slice(0, axis)))
  for (let row = 0; row < count; row++) {
    let column = 0
    let rest = row
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const coordinate = rest % shape[axis]!
      column += coordinate * strides[axis]!
      rest = Math.floor(rest / shape[axis]!)
    }
    const [from, target] = to === 'row' ? [column, row] : [row, column]
    for (let b = 0; b < size; b++) result[target * size + b] = bytes[from * size + b]!
  }
  return result
}

const types: readonly DType[] = [u8, u16, f32, f64, c128]
const shapes = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 0, maxLength: 5 })

describe('rowMajor and columnMajor', () => {
  it('agree with a naive reordering for any rank, type and budget', async () => {
    const budget = fc.constantFrom(1, 16, 64, 200, 1000, 1 << 24)
    await fc.assert(
      fc.asyncProperty(
        shapes,
        fc.constantFrom(...types),
        budget,
        fc.boolean(),
        async (shape, dtype, bytes, streamed) => {
          const size = dtype.group.bytes
          const content = counting(product(shape) * size)
          const data = streamed ? { data: streamOnly(content) } : {}
          const row = rowMajor(tensorOf(dtype, shape, content, { order: 'column', ...data }), { budget: bytes })
          expect(row).toMatchObject({ order: 'row', shape })
          expect(await bytesOf(row.data!)).toEqual(naive(content, shape, size, 'row'))
          const column = columnMajor(tensorOf(dtype, shape, content, data), { budget: bytes })
          expect(column).toMatchObject({ order: 'column', shape })
          expect(await bytesOf(column.data!)).toEqual(naive(content, shape, size, 'column'))
        },
      ),
      { numRuns: 150 },
    )
  })

  it.each([
    { shape: [300, 1000], budget: 40_000 },
    { shape: [3, 70_000], budget: 100_000 },
    { shape: [70_000, 3], budget: 1 << 24 },
    { shape: [2, 50_000, 2], budget: 30_000 },
    { shape: [17, 33, 65, 5], budget: 50_000 },
    { shape: [2, 33_000], budget: 16 },
    { shape: [4, 300_000], budget: 600_000 },
  ])('handle $shape in bands of $budget bytes', async ({ shape, budget }) => {
    const content = counting(product(shape) * 4)
    const source = rangePayload(new MemorySource(content), 0, content.length)
    const row = rowMajor(tensorOf(f32, shape, content, { order: 'column', data: source }), { budget })
    expect(Buffer.compare(await bytesOf(row.data!, 65_537), naive(content, shape, 4, 'row'))).toBe(0)
  })

  it('keep memory bounded: no read is longer than a few windows', async () => {
    const shape = [256, 2048]
    const content = counting(product(shape) * 4)
    let longest = 0
    const data = {
      ...streamOnly(content),
      read: async (offset: number, length: number) => {
        longest = Math.max(longest, length)
        return content.subarray(offset, offset + length)
      },
    }
    const row = rowMajor(tensorOf(f32, shape, content, { order: 'column', data }), { budget: 1 << 16 })
    expect(Buffer.compare(await bytesOf(row.data!, 1 << 16), naive(content, shape, 4, 'row'))).toBe(0)
    expect(longest).toBeLessThanOrEqual(1 << 21)
  })

  it('change no byte where the order does not matter', () => {
    const data = rangePayload(new MemorySource(new Uint8Array(24)), 0, 24)
    for (const shape of [[6], [1, 6], [6, 1, 1], []]) {
      const tensor = tensorOf(f32, shape, new Uint8Array(), { order: 'column', data })
      expect(rowMajor(tensor)).toMatchObject({ order: 'row', shape })
      expect(rowMajor(tensor).data).toBe(data)
    }
    const row = tensorOf(packed, [2, 3], new Uint8Array(7))
    expect(rowMajor(row)).toBe(row)
    expect(rowMajor(tensorOf(f32, [2, 3], new Uint8Array(), { order: 'column', data: null }))).toMatchObject({
      data: null,
    })
  })

  it('keep the bits of every NaN', async () => {
    const bits = BigUint64Array.of(0x7ff0000000000001n, 0xfff8000000000123n, 0x7ff4000000000000n, 1n)
    const row = rowMajor(tensorOf(f64, [2, 2], new Uint8Array(bits.buffer), { order: 'column' }))
    const back = new BigUint64Array((await bytesOf(row.data!)).buffer)
    expect([...back]).toEqual([bits[0], bits[2], bits[1], bits[3]])
  })

  it('refuse what they cannot do', () => {
    const column = { order: 'column' } as const
    expect(() => rowMajor(tensorOf(i4, [2, 4], new Uint8Array(4), column))).toThrow(/whole bytes/)
    expect(() => rowMajor(tensorOf(packed, [2, 4], new Uint8Array(4), column))).toThrow(/packed/)
    expect(() => rowMajor(tensorOf(f32, [2, 4], new Uint8Array(4), column))).toThrow(/does not take 4 bytes/)
    const large = lazyPayload(1 << 27, async function* () {})
    const tensor = tensorOf(f32, [1 << 12, 1 << 13], new Uint8Array(), { ...column, data: large })
    expect(() => rowMajor(tensor)).toThrow(expect.objectContaining({ code: 'transform/needs-random-access' }))
  })

  it('end only when nobody writes into their memory any more, also where a read fails', async () => {
    let reading = 0
    const source = Object.assign(new MemorySource(counting(20_000 * 4 * 4)), {
      async readInto(offset: number): Promise<void> {
        reading++
        await new Promise((resolve) => setTimeout(resolve, offset < 80_000 ? 1 : 30))
        reading--
        if (offset < 80_000) throw new Error('no such bytes')
      },
    })
    const data = rangePayload(source, 0, source.size)
    const row = rowMajor(tensorOf(f32, [20_000, 4], new Uint8Array(), { order: 'column', data }), { budget: 1600 })
    await expect(bytesOf(row.data!)).rejects.toThrow('no such bytes')
    expect(reading).toBe(0)
  })

  it('stop when they are told to', async () => {
    const control = new AbortController()
    const content = counting(4000)
    const row = rowMajor(tensorOf(f32, [10, 100], content, { order: 'column' }), { budget: 80 })
    let seen = 0
    const run = async (): Promise<void> => {
      for await (const chunk of row.data!.chunks(80, control.signal)) {
        seen += chunk.byteLength
        control.abort()
      }
    }
    await expect(run()).rejects.toThrow(expect.objectContaining({ code: 'io/aborted' }))
    expect(seen).toBe(80)
  })
})

describe('transposed', () => {
  it('swaps the dimensions of the same bytes', async () => {
    const tensor = tensorOf(f16, [2, 3], counting(12), {
      quant: { scheme: 'symmetric', axis: 0, scales: [1, 2] },
    })
    const flipped = transposed(tensor)
    expect(flipped).toMatchObject({ shape: [3, 2], order: 'column', quant: { axis: 1 } })
    expect(flipped.data).toBe(tensor.data)
    expect(transposed(flipped)).toEqual(tensor)
    const [a, b, c, d, e, f] = Array.from({ length: 6 }, (_, i) => [...counting(12).subarray(2 * i, 2 * i + 2)])
    expect([...(await bytesOf(rowMajor(flipped).data!))]).toEqual([a, d, b, e, c, f].flat())
  })

  it('is for matrices of single elements', () => {
    expect(() => transposed(tensorOf(f32, [2, 1, 2], new Uint8Array(16)))).toThrow(/\[2, 1, 2\]/)
    expect(() => transposed(tensorOf(f32, [4], new Uint8Array(16)))).toThrow(/\[4\]/)
    expect(() => transposed(tensorOf(packed, [2, 2], new Uint8Array(4)))).toThrow(/packed/)
  })
})
