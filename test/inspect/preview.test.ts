import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countingSource, MemorySource } from '../../src/bytes/index.js'
import { c64, dtypes, f6_e2m3, i4, i32, packed, u8 } from '../../src/dtypes/index.js'
import {
  formatPreview,
  formatScalar,
  planPreview,
  readElements,
  typeOf,
  whyUnreadable,
} from '../../src/inspect/preview.js'
import { bytesPayload, lazyPayload, type Payload, rangePayload, type Tensor } from '../../src/model/index.js'

const tensorOf = (part: Partial<Tensor> & { shape: readonly number[]; data: Payload | null }): Tensor => ({
  name: 't',
  dtype: u8,
  order: 'row',
  role: 'weight',
  ...part,
})

const countOf = (shape: readonly number[]): number => shape.reduce((product, dim) => product * dim, 1)

/** The text of a preview whose values are their own indexes. */
function preview(...shape: number[]): string {
  const plan = planPreview(shape, countOf(shape))
  return formatPreview(plan, plan.rows.flat().map(String))
}

describe('the shape of a preview', () => {
  it('is one list for rank 0 and 1', () => {
    expect(preview()).toBe('{ 0 }')
    expect(preview(3)).toBe('{ 0, 1, 2 }')
    expect(preview(0)).toBe('{  }')
    expect(preview(10)).toBe('{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 }')
    expect(preview(11)).toBe('{ 0, 1, 2, 3, 4, ..., 6, 7, 8, 9, 10 }')
  })

  it('is as many rows as the rank, at most five', () => {
    expect(preview(2, 2)).toBe('{ \n{ 0, 1 } ,\n{ 2, 3 } ,\n}')
    expect(preview(3, 2)).toBe('{ \n{ 0, 1 } ,\n{ 2, 3 } ,\n...\n}')
    expect(preview(4, 1, 2)).toBe('{ \n{ 0, 1 } ,\n{ 2, 3 } ,\n{ 4, 5 } ,\n...\n}')
    expect(preview(7, 1, 1, 1, 1, 1, 1).split('\n')).toEqual([
      '{ ',
      ...[0, 1, 2, 3, 4].map((i) => `{ ${i} } ,`),
      '...',
      '}',
    ])
    expect(preview(1, 12)).toBe('{ \n{ 0, 1, 2, 3, 4, ..., 7, 8, 9, 10, 11 } ,\n}')
  })

  it('has empty rows where a dimension is zero', () => {
    expect(preview(3, 0)).toBe('{ \n{  } ,\n{  } ,\n...\n}')
    expect(preview(0, 3)).toBe('{ \n}')
  })
})

describe('readElements', () => {
  it('gives the same elements whatever the order of the bytes', async () => {
    const dims = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 0, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(dims, async (shape) => {
        const count = countOf(shape)
        const indexes = Array.from({ length: count }, (_, i) => i)
        const stored = new Int32Array(count)
        for (const index of indexes) {
          let [rest, stride, at] = [index, 1, 0]
          const place = [...shape].reverse().map((dim) => {
            const coordinate = rest % dim
            rest = (rest - coordinate) / dim
            return coordinate
          })
          for (const [axis, coordinate] of place.reverse().entries()) {
            at += coordinate * stride
            stride *= shape[axis]!
          }
          stored[at] = index
        }
        const tensor = {
          dtype: i32,
          order: 'column' as const,
          shape,
          data: bytesPayload(new Uint8Array(stored.buffer)),
        }
        expect(await readElements(tensorOf(tensor), indexes)).toEqual(indexes)
      }),
    )
  })

  it('reads no more than what is near the elements', async () => {
    const count = { reads: 0, bytes: 0 }
    const source = countingSource(new MemorySource(new Uint8Array(1_000_000).map((_, i) => i % 251)), count)
    const tensor = tensorOf({ shape: [10, 100_000], data: rangePayload(source, 0, source.size) })
    const plan = planPreview(tensor.shape, 1_000_000)
    expect(await readElements(tensor, plan.rows.flat())).toEqual(plan.rows.flat().map((i) => i % 251))
    expect(count.bytes).toBeLessThan(30)
    expect(count.reads).toBe(3) // the end of the first row and the start of the second lie together
    const columns = tensorOf({ ...tensor, order: 'column' })
    count.bytes = 0
    await readElements(columns, plan.rows.flat())
    expect(count.bytes).toBeLessThan(200)
  })

  it('reads from a payload that can only be streamed, and no further than needed', async () => {
    const bytes = new Uint8Array(5 << 20).map((_, i) => i % 241)
    let given = 0
    const data = lazyPayload(bytes.byteLength, async function* () {
      for (let at = 0; at < bytes.byteLength; at += 1 << 18) {
        given += 1 << 18
        yield bytes.subarray(at, at + (1 << 18))
      }
    })
    const tensor = tensorOf({ shape: [bytes.byteLength], data })
    const indexes = [2_500_000, 0, (1 << 20) - 1, 1 << 20]
    expect(await readElements(tensor, indexes)).toEqual(indexes.map((i) => i % 241))
    expect(given).toBeLessThanOrEqual(3 << 20)
    const short = lazyPayload(bytes.byteLength, async function* () {
      yield bytes.subarray(0, 1000)
    })
    await expect(readElements({ ...tensor, data: short }, [1000])).rejects.toMatchObject({
      code: 'write/layout-mismatch',
    })
  })

  it('reads packed elements, also from a last group that is cut short', async () => {
    const nibbles = tensorOf({ dtype: i4, shape: [5], data: bytesPayload(Uint8Array.of(0x21, 0xf3, 0x08)) })
    expect(await readElements(nibbles, [4, 3, 2, 1, 0])).toEqual([-8, -1, 3, 2, 1])
    const size = f6_e2m3.byteLength([5])!
    expect(size).toBeLessThan(2 * f6_e2m3.group.bytes)
    const bytes = new Uint8Array(size)
    bytes[3] = 0b001000
    expect(await readElements(tensorOf({ dtype: f6_e2m3, shape: [5], data: bytesPayload(bytes) }), [0, 4])).toEqual([
      0, 1,
    ])
  })

  it('stops when told', async () => {
    const tensor = tensorOf({ shape: [2], data: bytesPayload(Uint8Array.of(1, 2)) })
    await expect(readElements(tensor, [0], AbortSignal.abort())).rejects.toMatchObject({ code: 'io/aborted' })
  })
})

describe('whyUnreadable', () => {
  it('is undefined for every type with a codec, whole and in size', () => {
    for (const dtype of dtypes.values()) {
      const size = dtype.byteLength([dtype.group.elements])
      if (size === undefined || !dtype.codec) continue
      const tensor = tensorOf({ dtype, shape: [dtype.group.elements], data: bytesPayload(new Uint8Array(size)) })
      expect(whyUnreadable(tensor)).toBeUndefined()
      expect(whyUnreadable({ ...tensor, data: bytesPayload(new Uint8Array(size + 1)) })).toMatch(/bytes are stored/)
    }
  })

  it('looks at the encoding of packed bytes', () => {
    const tensor = tensorOf({ dtype: packed, shape: [2], data: bytesPayload(new Uint8Array(2)) })
    expect(whyUnreadable(tensor)).toMatch(/packed/)
    expect(whyUnreadable({ ...tensor, encoding: u8 })).toBeUndefined()
    expect(typeOf({ ...tensor, encoding: u8 })).toBe(u8)
  })
})

describe('formatScalar', () => {
  it('writes whole numbers exactly, all others like C', () => {
    expect(formatScalar(16_777_217, 'int')).toBe('16777217')
    expect(formatScalar(18446744073709551615n, 'uint')).toBe('18446744073709551615')
    expect(formatScalar(16_777_217, 'float')).toBe('1.67772e+07')
    expect(formatScalar(0.1, 'block')).toBe('0.1')
    expect(formatScalar(true, 'bool')).toBe('true')
    expect(formatScalar({ re: 1.5, im: -2 }, c64.kind)).toBe('1.5-2i')
    expect(formatScalar({ re: -0, im: NaN }, c64.kind)).toBe('-0+nani')
  })
})
