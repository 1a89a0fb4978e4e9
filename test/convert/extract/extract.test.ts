import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { extractTensor, lazyPayload, npyLayout, readPayload, type Tensor } from '../../../src/kit.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'

/** What NumPy would do, element by element. */
function slowSlice(
  bytes: Uint8Array,
  size: number,
  shape: number[],
  cuts: { from: number; to: number; step: number }[],
): number[] {
  const out: number[] = []
  const walk = (axis: number, index: number): void => {
    if (axis === shape.length) {
      out.push(...bytes.subarray(index * size, (index + 1) * size))
      return
    }
    const { from, to, step } = cuts[axis]!
    for (let i = from; i < to; i += step) walk(axis + 1, index * shape[axis]! + i)
  }
  walk(0, 0)
  return out
}

const cut = (dim: number) =>
  fc.record({ from: fc.nat(dim), to: fc.nat(dim), step: fc.integer({ min: 1, max: 3 }) }).map(({ from, to, step }) => ({
    from: Math.min(from, to),
    to: Math.max(from, to),
    step,
  }))

const sliced = fc
  .array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 })
  .chain((shape) => fc.tuple(fc.constant(shape), fc.tuple(...shape.map(cut))))

/** The same tensor, but its payload can only be read from the front. */
function streamOnly(tensor: Tensor): Tensor {
  const { data } = tensor
  return { ...tensor, data: lazyPayload(data!.byteLength, () => data!.chunks(7)) }
}

describe('extractTensor', () => {
  it('slices as NumPy does, from any payload', async () => {
    await fc.assert(
      fc.asyncProperty(
        sliced,
        fc.constantFrom('u8', 'f16', 'f32', 'c64'),
        fc.boolean(),
        async ([shape, cuts], dtype, streaming) => {
          const whole = sampleTensor('t', dtype, shape)
          const model = sampleModel([streaming ? streamOnly(whole) : whole])
          const notation = cuts.map(({ from, to, step }) => `${from}:${to}:${step}`).join(',')
          const part = extractTensor(model, 't', { slice: notation })
          const expected = slowSlice(await readPayload(whole.data!), whole.dtype.group.bytes, shape, cuts)
          expect([...(await readPayload(part.data!))]).toEqual(expected)
          expect(part.shape).toEqual(cuts.map(({ from, to, step }) => Math.ceil((to - from) / step)))
        },
      ),
    )
  })

  it('takes single and negative indices', async () => {
    const model = sampleModel([sampleTensor('t', 'u8', [3, 4])])
    const bytes = await readPayload(model.tensors.at(0)!.data!)
    const last = extractTensor(model, 't', { slice: '-1, :2' })
    expect(last.shape).toEqual([2])
    expect([...(await readPayload(last.data!))]).toEqual([...bytes.subarray(8, 10)])
  })

  it('decodes on the way', async () => {
    const model = sampleModel([sampleTensor('t', 'i16', [5])])
    const decoded = extractTensor(model, 't', { as: 'f32', slice: '1:3' })
    const stored = new Int16Array((await readPayload(model.tensors.at(0)!.data!)).buffer)
    expect([...new Float32Array((await readPayload(decoded.data!)).buffer)]).toEqual([stored[1], stored[2]])
  })

  it.each([
    [{ slice: '0,0,0' }, 'usage/option'],
    [{ slice: 'x' }, 'usage/option'],
    [{ slice: '9' }, 'usage/option'],
    [{ slice: '::0' }, 'usage/option'],
    [{ as: 'f12' }, 'usage/option'],
  ])('refuses %j', (options, code) => {
    const model = sampleModel([sampleTensor('layers.0.weight', 'u8', [3, 4])])
    expect(() => extractTensor(model, 'layers.0.weight', options)).toThrowError(expect.objectContaining({ code }))
  })

  it('suggests names', () => {
    const model = sampleModel([sampleTensor('layers.0.weight', 'u8', [3, 4])])
    expect(() => extractTensor(model, 'weight')).toThrowError(/did you mean layers\.0\.weight/)
  })
})

describe('npyLayout', () => {
  it('writes a header that fills a multiple of 64 bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { maxLength: 30 }), (shape) => {
        const tensor = { ...sampleTensor('t', 'f32', [1]), shape }
        const [slot] = npyLayout(tensor, 't.npy').slots
        if (slot?.kind !== 'bytes') throw new Error('no header')
        const header = new TextDecoder('latin1').decode(slot.bytes)
        expect(slot.bytes.byteLength % 64).toBe(0)
        expect(header.slice(1, 6)).toBe('NUMPY')
        expect(header.endsWith('\n')).toBe(true)
        expect(slot.bytes[8]! + slot.bytes[9]! * 256 + 10).toBe(slot.bytes.byteLength)
        expect(header).toContain(`'shape': (${shape.join(', ')}${shape.length === 1 ? ',' : ''})`)
      }),
    )
  })

  it('says what to do about types that NumPy lacks', () => {
    expect(() => npyLayout(sampleTensor('t', 'bf16', [1]), 't.npy')).toThrowError(/as: 'f32'/)
  })
})
