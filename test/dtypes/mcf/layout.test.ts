import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dtypeById } from '../../../src/dtypes/index.js'
import { blockLayout, isBareCodes, rawLayout, rawLayoutOf } from '../../../src/dtypes/mcf/layout.js'
import { methodOf, methods } from '../../../src/dtypes/mcf/types.js'

fc.configureGlobal({ seed: 7 })

const up64 = (size: number): number => Math.ceil(size / 64) * 64

describe('the quantized types of MCF', () => {
  it('are in the table of types, with the codes of the format', () => {
    const codes = { int8: 0x10, int4: 0x11, q8: 0x20, q4: 0x21, k6: 0x30, k4: 0x31, k3: 0x32, k2: 0x33 }
    expect(methods.map(({ id }) => id)).toEqual(Object.keys(codes).map((name) => `mcf.${name}`))
    for (const [name, code] of Object.entries(codes)) {
      expect(methodOf(`mcf.${name}`)?.code).toBe(code)
      expect(dtypeById(`mcf.${name}`)).toMatchObject({ kind: 'block' })
    }
    expect(methodOf('f32')).toBeUndefined()
  })

  it('have the bits per weight that their regions add up to', () => {
    const wanted = { q8: 8.5, q4: 4.5, k6: 6.3125, k4: 4.3125, k3: 3.3125, k2: 2.3125 }
    for (const [name, bits] of Object.entries(wanted)) {
      const dtype = dtypeById(`mcf.${name}`)!
      expect((8 * dtype.group.bytes) / dtype.group.elements).toBe(bits)
      expect((8 * dtype.byteLength([4096, 4096])!) / 4096 ** 2).toBeCloseTo(bits, 5)
    }
  })

  it('lay out blocks by rows, every region on a multiple of 64', () => {
    const dims = fc.tuple(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 1, max: 700 }))
    fc.assert(
      fc.property(fc.constantFrom(...methods.filter(({ family }) => family !== 'int')), dims, (method, shape) => {
        const layout = blockLayout(method, shape)!
        const blocks = shape[0] * Math.ceil(shape[1] / 32)
        const supers = shape[0] * Math.ceil(Math.ceil(shape[1] / 32) / 8)
        const front = method.family === 'q' ? up64(2 * blocks) : up64(up64(2 * supers) + blocks)
        expect(layout).toMatchObject({
          blocks,
          supers,
          codesOffset: front,
          byteLength: front + blocks * 4 * method.bits,
        })
        expect(dtypeById(method.id)!.byteLength(shape)).toBe(layout.byteLength)
      }),
    )
  })

  it('take no other shapes than matrices that a file can hold', () => {
    const k4 = methodOf('mcf.k4')!
    for (const shape of [[], [4], [0, 4], [4, 0], [1, 2, 3], [2 ** 40, 2 ** 40], [2 ** 50, 32]])
      expect(blockLayout(k4, shape), String(shape)).toBeUndefined()
  })

  it('tell the two layouts of int8 and int4 apart by their size', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('mcf.int8', 'mcf.int4'),
        fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 4 }),
        (id, shape) => {
          const method = methodOf(id)!
          const count = shape.reduce((a, b) => a * b, 1)
          const codes = Math.ceil((count * method.bits) / 8)
          expect(rawLayout(method, shape, 'weights')).toMatchObject({ codesOffset: 64, byteLength: 64 + codes })
          expect(rawLayoutOf(method, shape, 128 + codes)).toMatchObject({ domain: 'activations', zeroOffset: 64 })
          expect(rawLayoutOf(method, shape, 64 + codes)).toMatchObject({ domain: 'weights', zeroOffset: undefined })
          expect(rawLayoutOf(method, shape, codes)).toBeUndefined()
          expect(isBareCodes(method, shape, codes)).toBe(true)
          expect(isBareCodes(method, shape, codes + 64)).toBe(false)
        },
      ),
    )
  })
})
