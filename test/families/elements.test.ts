// Transforms of elements, against the plainest way of doing the same.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concatenated } from '../../src/families/concatenated.js'
import { repacked } from '../../src/families/to-gguf/mxfp4.js'
import { transforms } from '../../src/families/transforms.js'
import { bytesPayload, dtypeById, readPayload, type Tensor } from '../../src/kit.js'

function numbered(shape: readonly number[], dtype = 'f32'): Tensor {
  const count = shape.reduce((product, each) => product * each, 1)
  const data = bytesPayload(new Uint8Array(Float32Array.from({ length: count }, (_, i) => i).buffer))
  return { name: 'x', dtype: dtypeById(dtype)!, shape, order: 'row', role: 'weight', data }
}

async function values({ data }: Tensor): Promise<number[]> {
  return [...new Float32Array((await readPayload(data!)).slice().buffer)]
}

const small = fc.integer({ min: 1, max: 5 })

describe('transforms', () => {
  it('pair the halves of each head', async () => {
    await fc.assert(
      fc.asyncProperty(small, small, small, async (heads, half, columns) => {
        const config = { num_attention_heads: heads }
        const [made] = transforms['permute-heads'](numbered([heads * half * 2, columns]), { config, tokens: 0 })
        const expected: number[] = []
        for (let head = 0; head < heads; head++)
          for (let row = 0; row < 2 * half; row++) {
            const from = head * 2 * half + (row % 2 === 0 ? row / 2 : (row - 1) / 2 + half)
            for (let column = 0; column < columns; column++) expected.push(from * columns + column)
          }
        expect(await values(made!)).toEqual(expected)
      }),
    )
  })

  it('put all q before all k before all v', async () => {
    const [made] = transforms['regroup-qkv'](numbered([12]), { config: { num_attention_heads: 2 }, tokens: 0 })
    expect(await values(made!)).toEqual([0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11])
  })

  it('take k, transposed, and v of each head apart', async () => {
    const config = { num_key_value_heads: 2, qk_nope_head_dim: 2, v_head_dim: 1 }
    const [k, v] = transforms['split-kv-b'](numbered([6, 2]), { config, tokens: 0 })
    expect(k!.shape).toEqual([2, 2, 2])
    expect(await values(k!)).toEqual([0, 2, 1, 3, 6, 8, 7, 9])
    expect(v!.shape).toEqual([2, 1, 2])
    expect(await values(v!)).toEqual([4, 5, 10, 11])
  })

  it('take gate and up apart, whichever way they are joined', async () => {
    const no = { config: {}, tokens: 0 }
    const halves = transforms['split-halves'](numbered([1, 4, 2]), no)
    expect(await Promise.all(halves.map(values))).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ])
    const alternate = transforms['split-alternate'](numbered([2, 4]), no)
    expect(await Promise.all(alternate.map(values))).toEqual([
      [0, 2, 4, 6],
      [1, 3, 5, 7],
    ])
    const turned = transforms['transpose-split-alternate'](numbered([1, 2, 4]), no)
    expect(await Promise.all(turned.map(values))).toEqual([
      [0, 4, 2, 6],
      [1, 5, 3, 7],
    ])
  })

  it('add one in the type that a norm has', async () => {
    const half = new Uint8Array(2)
    dtypeById('f16')!.codec!.fromF32!(Float32Array.of(2 ** -12), half)
    const norm: Tensor = { ...numbered([1]), dtype: dtypeById('f16')!, data: bytesPayload(half) }
    const [made] = transforms['plus-one'](norm, { config: {}, tokens: 0 })
    const sum = new Float32Array(1)
    made!.dtype.codec!.toF32(await readPayload(made!.data!), sum)
    expect([made!.dtype.id, sum[0]]).toEqual(['f16', 1])
    const [wide] = transforms['plus-one'](numbered([2]), { config: {}, tokens: 0 })
    expect(await values(wide!)).toEqual([1, 2])
  })
})

describe('payloads', () => {
  it('one after the other can be read at any place', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 9 }), { minLength: 1 }),
        fc.nat(),
        fc.nat(),
        async (parts, a, b) => {
          const joined = concatenated(
            parts.map((part) => bytesPayload(part)),
            'joined',
          )
          const all = Uint8Array.from(parts.flatMap((part) => [...part]))
          expect(await readPayload(joined)).toEqual(all)
          const [start, end] = [a % (all.length + 1), b % (all.length + 1)].sort((x, y) => x - y)
          expect(await joined.read!(start!, end! - start!)).toEqual(all.slice(start, end))
        },
      ),
    )
  })

  it('of MXFP4 keep every value', async () => {
    const codes = Uint8Array.from({ length: 64 }, (_, i) => (i * 37) % 256)
    const scales = Uint8Array.of(120, 121, 122, 123)
    const u8 = (shape: readonly number[], bytes: Uint8Array): Tensor => ({
      ...numbered([1]),
      dtype: dtypeById('u8')!,
      shape,
      data: bytesPayload(bytes),
    })
    const tensor = repacked('x', u8([1, 4, 1, 16], codes), u8([1, 4, 1], scales), 'odd')
    expect(tensor.shape).toEqual([1, 2, 32])
    const bytes = await readPayload(tensor.data!)
    for (const [block, row] of [1, 3].entries()) {
      expect(bytes[block * 17]).toBe(scales[row])
      for (let i = 0; i < 32; i++) {
        const stored = bytes[block * 17 + 1 + (i % 16)]!
        const source = codes[row * 16 + Math.floor(i / 2)]!
        expect(i < 16 ? stored & 15 : stored >> 4).toBe(i % 2 === 0 ? source & 15 : source >> 4)
      }
    }
  })
})
