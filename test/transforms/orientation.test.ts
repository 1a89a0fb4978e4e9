import { describe, expect, it } from 'vitest'
import { MemorySource } from '../../src/bytes/index.js'
import { dtypeById } from '../../src/dtypes/index.js'
import { type Model, type Part, rangePayload, readPayload } from '../../src/model/index.js'
import { orient, orientFor } from '../../src/transforms/orientation.js'
import { encoder } from '../support/encoder.js'

const size = { hidden: 4, intermediate: 6, layers: 2 }
const stating = (linear: string, assumed?: string): Part => ({
  kind: 'orientation',
  sharing: 'derived',
  value: { linear, ...(assumed && { assumed }) },
})

async function describeTensors(model: Model): Promise<unknown[]> {
  const rows = model.tensors.map(async ({ name, shape, order, data }) => [
    name,
    shape,
    order,
    [...(await readPayload(data!))],
  ])
  return Promise.all(rows)
}

describe('orient', () => {
  it('turns linear weights one way and back', async () => {
    const wanted = await describeTensors(encoder('out-in', size))
    const { model, turned, from, isAssumed } = orient(encoder('in-out', size), 'out-in')
    expect(await describeTensors(model)).toEqual(wanted)
    expect(turned).toHaveLength(12)
    expect([from, isAssumed]).toEqual(['in-out', false])
    const back = orient(model, 'in-out').model
    expect(await describeTensors(back)).toEqual(await describeTensors(encoder('in-out', size)))
  })

  it('leaves alone what lies right, and models without linear weights', () => {
    const model = encoder('in-out', size)
    expect(orient(model, 'in-out')).toMatchObject({ model, turned: [] })
    const other = { ...model, tensors: model.tensors.slice(0, 5) }
    expect(orient(other, 'out-in').model).toBe(other)
  })

  it('takes the default where the shapes do not tell, and says that it did', () => {
    const square = encoder('in-out', { hidden: 4, intermediate: 4 })
    expect(orient(square, 'out-in')).toMatchObject({ turned: [], isAssumed: true, from: 'out-in' })
    const stated = { ...square, parts: [stating('undecidable', 'in-out')] }
    const { turned, isAssumed, model } = orient(stated, 'out-in')
    expect([turned.length, isAssumed]).toEqual([6, true])
    expect(model.parts[0]!.value).toEqual({ linear: 'out-in', tensors: 6 })
    expect(orient(square, 'out-in', { from: 'in-out' })).toMatchObject({ isAssumed: false, from: 'in-out' })
    expect(orient(square, 'out-in', { from: 'in-out' }).turned).toHaveLength(6)
  })

  it('streams: it reads and holds bands, not matrices', async () => {
    const [rows, columns] = [512, 2048]
    const bytes = new Uint8Array(rows * columns * 4).map((_, i) => i % 251)
    const source = new MemorySource(bytes)
    let longest = 0
    const inner = rangePayload(source, 0, bytes.byteLength)
    const data = {
      byteLength: bytes.byteLength,
      chunks: inner.chunks.bind(inner),
      async read(offset: number, length: number) {
        longest = Math.max(longest, length)
        return inner.read!(offset, length)
      },
    }
    const small = encoder('in-out', { hidden: rows, intermediate: columns, vocab: 1, positions: 1 })
    const tensors = small.tensors.map((tensor) =>
      tensor.name.endsWith('intermediate.dense.weight') ? { ...tensor, dtype: dtypeById('f32')!, data } : tensor,
    )
    const turned = orient({ ...small, tensors }, 'out-in', { budget: 1 << 16 }).model
    const matrix = turned.tensors.find(({ name }) => name.endsWith('intermediate.dense.weight'))!
    expect(matrix.shape).toEqual([columns, rows])
    let at = 0
    for await (const chunk of matrix.data!.chunks(1 << 16)) {
      const [row, column] = [Math.floor(at / 4 / rows), (at / 4) % rows]
      expect(chunk[0]).toBe(bytes[(column * columns + row) * 4])
      at += chunk.byteLength
    }
    expect(at).toBe(bytes.byteLength)
    expect(longest).toBeLessThan(bytes.byteLength)
  })
})

describe('orientFor', () => {
  it('does what the target wishes', () => {
    const model = encoder('in-out', size)
    expect(orientFor(model, 'out-in').turned).toHaveLength(12)
    expect(orientFor(model, 'in-out').turned).toHaveLength(0)
    expect(orientFor(model, 'as-is').model).toBe(model)
  })

  it('turns for targets without a wish only what was stated', () => {
    const model = encoder('in-out', size)
    expect(orientFor(model, undefined).model).toBe(model)
    expect(orientFor({ ...model, parts: [stating('in-out')] }, undefined).turned).toHaveLength(12)
  })
})
