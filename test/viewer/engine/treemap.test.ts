import { describe, expect, it } from 'vitest'
import { parseFilter } from '../../../viewer/src/engine/rooms/table/filter.js'
import { layOutTreemap } from '../../../viewer/src/engine/rooms/treemap.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'

const modelOf = (names: readonly string[]) => sampleModel(names.map((name) => sampleTensor(name, 'f32', [2, 2])))

/** With the number of pauses. */
async function layOut(names: readonly string[], width = 800, height = 400) {
  let pauses = 0
  const boxes = await layOutTreemap(modelOf(names), width, height, async () => void pauses++)
  return { boxes, pauses }
}

describe('the treemap of the page', () => {
  it('has a box for each tensor where there is room', async () => {
    const names = ['blk.0.attn_q.weight', 'blk.0.attn_k.weight', 'blk.1.ffn_up.weight', 'output.weight']
    const { boxes, pauses } = await layOut(names)
    expect(boxes.flatMap(({ tensor }) => tensor?.name ?? []).sort()).toEqual(names.toSorted())
    expect(boxes.every(({ many }) => many === undefined)).toBe(true)
    expect(pauses).toBe(0)
  })

  it('shows a group of one under the rest of its name', async () => {
    const { boxes } = await layOut(['blk.0.attn_q.weight', 'blk.0.ffn_up.weight', 'output.weight'])
    expect(boxes.filter(({ isLeaf }) => isLeaf).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['attn_q.weight', 'ffn_up.weight', 'output.weight']),
    )
  })

  it.each(['.', '/'])('joins what is too small to be seen, and names a filter for it (%s)', async (separator) => {
    const names = Array.from({ length: 40_000 }, (_, i) =>
      ['layers', Math.floor(i / 4000), 'experts', i % 1000, `w${Math.floor(i / 1000) % 4}`].join(separator),
    )
    const { boxes, pauses } = await layOut(names, 400, 200)
    expect(pauses).toBeGreaterThan(1)
    const joined = boxes.filter(({ isLeaf }) => isLeaf)
    expect(joined.length).toBe(10)
    for (const { many, type } of joined) {
      expect(type).toBe('f32')
      expect(many?.count).toBe(4000)
      expect(names.filter((name) => name.startsWith(many!.path)).length).toBeGreaterThanOrEqual(4000)
      expect(many!.path).toMatch(/^\w+.\d+/)
      const { test } = parseFilter(many!.filter)
      const found = modelOf(names).tensors.filter((tensor, i) => test(tensor, i, () => undefined))
      expect(found.length).toBe(4000)
    }
  })

  it('ends when it is cancelled', async () => {
    const names = Array.from({ length: 40_000 }, (_, i) => `t.${i}.w`)
    const cancelled = layOutTreemap(modelOf(names), 400, 200, () => Promise.reject(new Error('cancelled')))
    await expect(cancelled).rejects.toThrow('cancelled')
  })
})
