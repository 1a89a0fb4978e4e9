// Every transform, there and back.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TransformName } from '../../src/families/family.js'
import { interleaved } from '../../src/families/interleaved.js'
import { inverses } from '../../src/families/inverses.js'
import { repacked } from '../../src/families/to-gguf/mxfp4.js'
import { unpacked } from '../../src/families/to-hub/unpack-mxfp4.js'
import { transforms } from '../../src/families/transforms.js'
import { bytesPayload, dtypeById, readPayload, type Tensor } from '../../src/kit.js'

function numbered(shape: readonly number[]): Tensor {
  const count = shape.reduce((product, each) => product * each, 1)
  const data = bytesPayload(new Uint8Array(Float32Array.from({ length: count }, (_, i) => i).buffer))
  return { name: 'x', dtype: dtypeById('f32')!, shape, order: 'row', role: 'weight', data }
}

const size = fc.integer({ min: 1, max: 4 })
const heads = 2
const config = {
  num_attention_heads: heads,
  num_key_value_heads: heads,
  num_kv_heads: 1,
  qk_nope_head_dim: 3,
  v_head_dim: 2,
  n_groups: 2,
  num_local_experts: 3,
  linear_num_key_heads: 2,
  linear_key_head_dim: 2,
  linear_num_value_heads: 4,
  linear_value_head_dim: 3,
}

/** Shapes that each transform takes. */
const shapes: Readonly<
  Record<
    Exclude<TransformName, 'skip-padding-positions' | 'minus-exp' | 'minus-exp-column' | 'minus-exp-tile-heads'>,
    fc.Arbitrary<number[]>
  >
> = {
  'permute-heads': fc.tuple(size, size).map(([half, columns]) => [heads * half * 2, columns]),
  'permute-kv-heads': size.map((half) => [heads * half * 2]),
  'rotated-halves': fc.tuple(size, size).map(([quarter, columns]) => [heads * 4 * quarter, columns]),
  'rotated-kv-halves': size.map((quarter) => [heads * 4 * quarter]),
  'plus-one': size.map((length) => [length]),
  transpose: fc.tuple(size, size),
  'regroup-qkv': fc.tuple(size, size).map(([rows, columns]) => [heads * 3 * rows, columns]),
  // Two heads of q, and one each of k and v.
  'regroup-grouped-qkv': size.map((head) => [4 * head, heads * head]),
  'split-halves': fc.tuple(size, size, size).map(([experts, half, columns]) => [experts, 2 * half, columns]),
  'split-alternate': fc.tuple(size, size).map(([experts, half]) => [experts, 2 * half]),
  'transpose-last': fc.tuple(size, size, size),
  'transpose-split-alternate': fc.tuple(size, size, size).map(([experts, inner, half]) => [experts, inner, 2 * half]),
  'transpose-split-halves': fc.tuple(size, size, size).map(([experts, inner, half]) => [experts, inner, 2 * half]),
  'split-qkv': fc.tuple(size, size).map(([half, columns]) => [3 * heads * 2 * half, columns]),
  'split-grouped-qkv': size.map((half) => [4 * 2 * half, heads * 2 * half]),
  'split-kv-b': size.map((rank) => [heads * 5, rank]),
  'vocabulary-rows': fc.tuple(size, size),
  'zero-bias': fc.tuple(size, size),
  squeeze: fc.tuple(size, size).map(([channels, width]) => [channels, 1, width]),
  column: size.map((length) => [length]),
  'norm-groups': size.map((length) => [2 * length]),
  'expert-rows': fc.tuple(size, size).map(([rows, columns]) => [3 * rows, columns]),
  'expert-rows-transposed': fc.tuple(size, size).map(([rows, columns]) => [3 * rows, columns]),
  'split-qkvz': size.map((columns) => [2 * 2 * (2 + 2 * 3), columns]),
  'pad-vocabulary': fc.tuple(size, size),
  'tile-heads': fc.tuple(size, size).map(([rows, columns]) => [4 * rows, columns]),
  'tile-columns': fc.tuple(size, size).map(([rows, columns]) => [rows, 4 * columns]),
  'tile-values': fc.tuple(size, size).map(([rows, columns]) => [8 + 4 * rows, columns]),
  'squeeze-tile-values': fc.tuple(size, size).map(([rows, columns]) => [8 + 4 * rows, 1, columns]),
  'split-joined-qkv': fc.tuple(size, size).map(([half, columns]) => [3 * heads * 2 * half, columns]),
}

describe('a transform and its inverse', () => {
  it.each(Object.keys(shapes) as (keyof typeof shapes)[])('%s', async (name) => {
    await fc.assert(
      fc.asyncProperty(shapes[name], async (shape) => {
        const tensor = numbered(shape)
        const made = transforms[name](tensor, { config, tokens: 100 }) as [Tensor, ...Tensor[]]
        const back = inverses[name](made, { config })
        expect(back.shape).toEqual(shape)
        expect(await readPayload(back.data!)).toEqual(await readPayload(tensor.data!))
      }),
      { numRuns: 30 },
    )
  })

  it.each(['minus-exp', 'minus-exp-column'] as const)(
    '%s, with a logarithm that leads to the same numbers',
    async (name) => {
      const given = Float32Array.from({ length: 64 }, (_, i) => Math.log(1 + i / 3))
      const tensor = { ...numbered([64]), data: bytesPayload(new Uint8Array(given.buffer)) }
      const made = transforms[name](tensor, { config, tokens: 0 }) as [Tensor]
      const values = new Float32Array((await readPayload(made[0].data!)).buffer)
      expect([...values]).toEqual([...given].map((each) => Math.fround(-Math.exp(each))))
      const again = transforms[name](inverses[name](made, { config }), { config, tokens: 0 }) as [Tensor]
      expect(again[0].shape).toEqual(made[0].shape)
      expect(await readPayload(again[0].data!)).toEqual(await readPayload(made[0].data!))
    },
  )

  it('skip-padding-positions, with zeros for the rows that no text uses', async () => {
    const settings = { config: { pad_token_id: 1 }, tokens: 0 }
    const made = transforms['skip-padding-positions'](numbered([4, 2]), settings) as [Tensor]
    const back = inverses['skip-padding-positions'](made, settings)
    expect(back.shape).toEqual([4, 2])
    expect([...new Float32Array((await readPayload(back.data!)).buffer)]).toEqual([0, 0, 0, 0, 4, 5, 6, 7])
  })

  it('parts of two types are joined in the wider one', async () => {
    const half = new Uint8Array(4)
    dtypeById('f16')!.codec!.fromF32!(Float32Array.of(5, 6), half)
    const narrow: Tensor = { ...numbered([1, 2]), dtype: dtypeById('f16')!, data: bytesPayload(half) }
    const back = inverses['split-alternate']([numbered([1, 2]), narrow], { config })
    expect([...new Float32Array((await readPayload(back.data!)).buffer)]).toEqual([0, 5, 1, 6])
  })

  it('parts of two shapes are refused', () => {
    expect(() => inverses['split-alternate']([numbered([1, 2]), numbered([1, 3])], { config })).toThrow('[1, 3]')
  })
})

describe('MXFP4', () => {
  it('is packed and unpacked without a change', async () => {
    await fc.assert(
      fc.asyncProperty(size, size, size, fc.integer(), async (experts, half, perRow, seed) => {
        const u8 = (shape: readonly number[]): Tensor => {
          const count = shape.reduce((product, each) => product * each, 1)
          const bytes = Uint8Array.from({ length: count }, (_, i) => ((i + seed) * 2_654_435_761) >>> 24)
          return { ...numbered([1]), dtype: dtypeById('u8')!, shape, data: bytesPayload(bytes) }
        }
        const [blocks, scales] = [u8([experts, 2 * half, perRow, 16]), u8([experts, 2 * half, perRow])]
        const parts = (['even', 'odd'] as const).map((rows) => repacked('x', blocks, scales, rows))
        const back = unpacked('y', parts as [Tensor, Tensor])
        expect(back.map(({ name, shape }) => [name, shape])).toEqual([
          ['y_blocks', blocks.shape],
          ['y_scales', scales.shape],
        ])
        expect(await readPayload(back[0].data!)).toEqual(await readPayload(blocks.data!))
        expect(await readPayload(back[1].data!)).toEqual(await readPayload(scales.data!))
      }),
      { numRuns: 20 },
    )
  })
})

describe('payloads in turns', () => {
  it('are taken run by run', async () => {
    const runs = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(runs, fc.integer({ min: 0, max: 9 }), async (lengths, rounds) => {
        const parts = lengths.map((length, i) => Uint8Array.from({ length: length * rounds }, (_, k) => 50 * i + k))
        const expected = Array.from({ length: rounds }, (_, round) =>
          parts.flatMap((part, i) => [...part.slice(round * lengths[i]!, (round + 1) * lengths[i]!)]),
        ).flat()
        const turns = interleaved(parts.map(bytesPayload), lengths)
        expect([...(await readPayload(turns))]).toEqual(expected)
      }),
    )
  })

  it('can have runs that are longer than what is held in memory', async () => {
    const length = 3_000_001
    const parts = [1, 2].map((value) => new Uint8Array(2 * length).fill(value))
    const turns = await readPayload(interleaved(parts.map(bytesPayload), [length, length]))
    expect([0, length - 1, length, 2 * length - 1, 2 * length, 3 * length].map((at) => turns[at])).toEqual([
      1, 1, 2, 2, 1, 2,
    ])
  })
})
