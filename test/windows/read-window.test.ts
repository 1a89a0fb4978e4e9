// Windows against slices of the same tensor, cut the long way round.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bytesPayload,
  columnMajor,
  dtypes,
  extractTensor,
  lazyPayload,
  readPayload,
  readWindow,
  TareError,
  type Tensor,
} from '../../src/kit.js'
import { whereBitsDiffer } from '../support/numbers.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

fc.configureGlobal({ seed: 7 })

/** What `extract --as f32 --slice` gives. */
async function extracted(tensor: Tensor, slice: string): Promise<Uint8Array> {
  const cut = extractTensor(sampleModel([tensor]), tensor.name, { as: 'f32', slice })
  return readPayload(cut.data!)
}

const readable = [...dtypes.values()].filter(({ kind }) => kind !== 'complex' && kind !== 'opaque')

describe('readWindow', () => {
  it.each(readable.map(({ id }) => id))('%s gives the bits of extract', async (id) => {
    const tensor = sampleTensor('w', id, [9, 512])
    for (const [rows, columns] of [
      [
        [0, 9],
        [0, 512],
      ],
      [
        [2, 7],
        [31, 300],
      ],
      [
        [8, 9],
        [511, 512],
      ],
    ] as const) {
      const window = await readWindow(tensor, { rows, columns })
      const wanted = await extracted(tensor, `${rows.join(':')},${columns.join(':')}`)
      expect([window.rows, window.columns]).toEqual([rows[1] - rows[0], columns[1] - columns[0]])
      expect(whereBitsDiffer(window.data, wanted)).toBe(-1)
    }
  })

  it('takes any two axes of a tensor in either order', async () => {
    const cuts = fc.record({
      id: fc.constantFrom('f32', 'bf16', 'i8', 'u4'),
      shape: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 4 }),
      isColumn: fc.boolean(),
      isStreamed: fc.boolean(),
      picks: fc.array(fc.nat(1000), { minLength: 10, maxLength: 10 }),
    })
    await fc.assert(
      fc.asyncProperty(cuts, async ({ id, shape, isColumn, isStreamed, picks }) => {
        const made = sampleTensor('w', id, shape, picks[9])
        const turned = isColumn && id !== 'u4' ? columnMajor(made) : made
        const bytes = await readPayload(turned.data!)
        const data = isStreamed
          ? lazyPayload(bytes.length, async function* () {
              yield bytes
            })
          : bytesPayload(bytes)
        const tensor: Tensor = { ...turned, data }
        const rank = shape.length
        const rowAxis = picks[0]! % rank
        const columnAxis = rank === 1 ? 0 : (rowAxis + 1 + (picks[1]! % (rank - 1))) % rank
        const interval = (dim: number, a: number, b: number): [number, number] => {
          const start = a % dim
          return [start, start + 1 + (b % (dim - start))]
        }
        const rows = rank === 1 ? ([0, 1] as const) : interval(shape[rowAxis]!, picks[2]!, picks[3]!)
        const columns = interval(shape[columnAxis]!, picks[4]!, picks[5]!)
        const fixed = shape.flatMap((dim, axis) => (axis === rowAxis || axis === columnAxis ? [] : [picks[6]! % dim]))
        const slices = shape.map((_, axis) => {
          if (axis === columnAxis) return columns.join(':')
          return axis === rowAxis ? rows.join(':') : String(fixed.shift())
        })
        const others = slices.filter((each) => !each.includes(':')).map(Number)
        const axes = rank === 1 ? undefined : ([rowAxis, columnAxis] as const)
        const window = await readWindow(tensor, { rows, columns, axes, fixed: others })
        const wanted = await extracted(made, slices.join(','))
        const flat = new Uint32Array(wanted.buffer.slice(0))
        const [height, width] = [window.rows, window.columns]
        const bits = new Uint32Array(window.data.buffer)
        for (let r = 0; r < height; r++) {
          for (let c = 0; c < width; c++) {
            const place = rowAxis <= columnAxis ? r * width + c : c * height + r
            expect(bits[r * width + c]).toBe(flat[place])
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  it('reads bands, not rows', async () => {
    const { data, ...rest } = sampleTensor('w', 'f32', [512, 600])
    let reads = 0
    const counted = {
      ...data!,
      byteLength: data!.byteLength,
      read: (offset: number, length: number) => {
        reads++
        return data!.read!(offset, length)
      },
    }
    await readWindow({ ...rest, data: counted }, { rows: [10, 500], columns: [100, 200] })
    expect(reads).toBe(1)
  })

  it('crosses bands of a large tensor', async () => {
    const tensor = sampleTensor('w', 'f16', [300, 9000])
    const window = await readWindow(tensor, { rows: [5, 295], columns: [17, 8800] })
    expect(whereBitsDiffer(window.data, await extracted(tensor, '5:295,17:8800'))).toBe(-1)
    const turned = { ...tensor, shape: [9000, 300], order: 'column' as const }
    const other = await readWindow(turned, { rows: [17, 8800], columns: [5, 295] })
    expect(whereBitsDiffer(other.data, await extracted(turned, '17:8800,5:295'))).toBe(-1)
  })

  it('fills the array that is given', async () => {
    const out = new Float32Array(100)
    const { data } = await readWindow(sampleTensor('w', 'i8', [4, 8]), { rows: [1, 3] }, out)
    expect(data.buffer).toBe(out.buffer)
    expect(data.length).toBe(16)
  })

  it.each([
    [{ rows: [0, 5] }, 'rows 0 to 5'],
    [{ columns: [3, 2] }, 'columns 3 to 2'],
    [{ axes: [1, 1] }, 'not two axes'],
    [{ fixed: [0] }, '1 indexes'],
  ] as const)('refuses %j', async (options, message) => {
    const error = await readWindow(sampleTensor('w', 'i8', [4, 8]), options as object).catch((caught) => caught)
    expect(error).toBeInstanceOf(TareError)
    expect(error.message).toContain(message)
  })

  it('refuses bytes that do not match the shape, and blocks in column order', async () => {
    const tensor = sampleTensor('w', 'ggml.q4_k', [4, 256])
    await expect(readWindow({ ...tensor, shape: [5, 256] })).rejects.toMatchObject({ code: 'usage/no-codec' })
    await expect(readWindow({ ...tensor, order: 'column' })).rejects.toMatchObject({ code: 'transform/reorder-type' })
  })
})
