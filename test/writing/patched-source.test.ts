import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemorySource } from '../../src/kit.js'
import { patchedSource } from '../../src/writing/patched-source.js'

test('any read gives what the pieces hold one behind the other', async () => {
  const file = Uint8Array.from({ length: 100 }, (_, i) => i)
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    fc.tuple(fc.nat(99), fc.nat(99)).map(([a, b]) => ({ offset: Math.min(a, b), length: Math.abs(a - b) })),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), fc.nat(), fc.nat(), async (pieces, from, count) => {
      const whole = pieces.flatMap((each) =>
        each instanceof Uint8Array ? [...each] : [...file.subarray(each.offset, each.offset + each.length)],
      )
      const source = patchedSource(new MemorySource(file, 'm'), pieces)
      expect(source.size).toBe(whole.length)
      const offset = from % (whole.length + 1)
      const length = count % (whole.length - offset + 1)
      expect([...(await source.read(offset, length))]).toEqual(whole.slice(offset, offset + length))
      await expect(source.read(offset, whole.length - offset + 1)).rejects.toMatchObject({ code: 'io/out-of-range' })
    }),
    { numRuns: 200, seed: 7 },
  )
})
