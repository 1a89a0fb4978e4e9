import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openCodes, readPayload } from '../../src/kit.js'
import { bytesPayload } from '../../src/model/index.js'
import { mosaicPayload, type StoredTile } from '../../src/payloads/mosaic-payload.js'
import { stridedPayload } from '../../src/payloads/strided-payload.js'

/** Ascending cuts of an axis, with both ends. */
const cutsOf = (dim: number): fc.Arbitrary<number[]> =>
  fc
    .uniqueArray(fc.nat({ max: dim }), { maxLength: 3 })
    .map((inner) => [...new Set([0, dim, ...inner])].sort((a, b) => a - b))

const shapes = fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 4 })
const cases = shapes.chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    size: fc.constantFrom(1, 2, 8),
    cuts: fc.tuple(...shape.map(cutsOf)) as fc.Arbitrary<number[][]>,
  }),
)

/** The elements of a tensor: each is its number. */
function bytesOf(shape: readonly number[], size: number): Uint8Array {
  const count = shape.reduce((all, dim) => all * dim, 1)
  return Uint8Array.from({ length: count * size }, (_, i) => (Math.floor(i / size) * 7 + (i % size)) % 251)
}

/** The tiles between the cuts, each with the bytes that belong there, taken one element at a time. */
function tilesOf(shape: readonly number[], cuts: readonly number[][], size: number, whole: Uint8Array): StoredTile[] {
  const boxes = cuts.reduce<{ offsets: number[]; sizes: number[] }[]>(
    (all, places) =>
      all.flatMap(({ offsets, sizes }) =>
        places.slice(1).map((end, i) => ({
          offsets: [...offsets, places[i]!],
          sizes: [...sizes, end - places[i]!],
        })),
      ),
    [{ offsets: [], sizes: [] }],
  )
  return boxes.map(({ offsets, sizes }) => {
    const count = sizes.reduce((all, dim) => all * dim, 1)
    const bytes = new Uint8Array(count * size)
    for (let i = 0; i < count; i++) {
      let rest = i
      let [place, step] = [0, 1]
      for (let axis = shape.length - 1; axis >= 0; axis--) {
        place += (offsets[axis]! + (rest % sizes[axis]!)) * step
        rest = Math.floor(rest / sizes[axis]!)
        step *= shape[axis]!
      }
      bytes.set(whole.subarray(place * size, (place + 1) * size), i * size)
    }
    return { offsets, sizes, read: async (offset, length) => bytes.subarray(offset, offset + length) }
  })
}

describe('mosaicPayload', () => {
  it('gives the whole tensor, any part of it, and any slice', async () => {
    await fc.assert(
      fc.asyncProperty(cases, fc.nat(), fc.nat(), async ({ shape, size, cuts }, a, b) => {
        const whole = bytesOf(shape, size)
        const payload = mosaicPayload('t', shape, size, tilesOf(shape, cuts, size, whole))
        expect(await readPayload(payload)).toEqual(whole)
        const [from, to] = [a % (whole.byteLength + 1), b % (whole.byteLength + 1)].sort((x, y) => x - y) as [
          number,
          number,
        ]
        const part = whole.slice(from, to)
        expect(Uint8Array.from(await payload.read!(from, to - from))).toEqual(part)
        expect(await readPayload(payload.slices!.take(from, to - from))).toEqual(part)
      }),
      { numRuns: 300 },
    )
  })

  it('gives windows of the size that is asked for, from many bands', async () => {
    // Bands have 8 MiB; three columns of 2^20 rows of 12 bytes have more.
    const rows = 1 << 20
    const columns = [0, 1, 2].map(
      (column): StoredTile => ({
        offsets: [0, column],
        sizes: [rows, 1],
        async read(offset, length) {
          return Uint8Array.from({ length }, (_, i) => (Math.floor((offset + i) / 4) * 3 + column) % 256)
        },
      }),
    )
    const payload = mosaicPayload('t', [rows, 3], 4, columns)
    let at = 0
    for await (const chunk of payload.chunks(1 << 20)) {
      expect(chunk.byteLength).toBe(Math.min(1 << 20, payload.byteLength - at))
      const wrong = chunk.findIndex((byte, i) => byte !== Math.floor((at + i) / 4) % 256)
      expect(wrong).toBe(-1)
      at += chunk.byteLength
    }
    expect(at).toBe(rows * 12)
  })

  it('refuses a range outside the tensor', async () => {
    const payload = mosaicPayload('t', [2], 1, tilesOf([2], [[0, 2]], 1, bytesOf([2], 1)))
    await expect(payload.read!(1, 2)).rejects.toThrow()
    expect(() => payload.slices!.take(1, 2)).toThrow()
  })
})

describe('stridedPayload', () => {
  it('reads any part as it reads the whole', async () => {
    const axes = fc.array(fc.record({ dim: fc.integer({ min: 1, max: 5 }), stride: fc.nat({ max: 9 }) }), {
      maxLength: 3,
    })
    await fc.assert(
      fc.asyncProperty(axes, fc.nat(), fc.nat(), async (view, a, b) => {
        const storage = bytesPayload(Uint8Array.from({ length: 512 }, (_, i) => i % 256))
        const shape = view.map(({ dim }) => dim)
        const strides = view.map(({ stride }) => stride)
        const payload = stridedPayload(storage, shape, strides, 2, { file: 'f', code: openCodes.empty }, 3)
        const whole = await readPayload(payload)
        const [from, to] = [a % (whole.byteLength + 1), b % (whole.byteLength + 1)].sort((x, y) => x - y) as [
          number,
          number,
        ]
        expect(Uint8Array.from(await payload.read!(from, to - from))).toEqual(whole.slice(from, to))
      }),
    )
  })
})
