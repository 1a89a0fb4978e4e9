import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../../src/bytes/index.js'
import { digestOf } from '../../../src/digest/index.js'
import { findWrong } from '../../../src/formats/aero/check.js'
import { MemorySource } from '../../../src/kit.js'

const size = 4096
const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 31) % 251)
const source = new MemorySource(bytes)

describe('ranges with hashes', () => {
  it('are found wrong when they do not have their digest, in the order in which they end', async () => {
    const range = fc.tuple(fc.nat(size), fc.nat(size)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
    await fc.assert(
      fc.asyncProperty(fc.array(range, { maxLength: 27 }), async (all) => {
        const hashed = await Promise.all(
          all.map(async ([start, end], place) => {
            const digest = toHex(await digestOf('blake3', bytes.subarray(start, end)))
            return { start, end, place, hash: place % 3 === 0 ? digest : digest.replace(/^./, 'x') }
          }),
        )
        const told = (await findWrong(source, hashed)).map(({ place }) => place)
        const wrong = [...all.keys()].filter((place) => place % 3 !== 0)
        expect(told).toEqual(wrong.sort((a, b) => all[a]![1] - all[b]![1] || a - b))
      }),
      { numRuns: 100 },
    )
  })

  it('can be many', async () => {
    const count = 40_000
    const wrong = [0, 20_000, 39_999]
    const empty = toHex(await digestOf('blake3', new Uint8Array(0)))
    const hashed = Array.from({ length: count }, (_, place) => {
      const start = place % size
      return { start, end: start, place, hash: wrong.includes(place) ? 'wrong' : empty }
    })
    const whole = { start: 0, end: size, place: -1, hash: 'wrong' }
    const told = (await findWrong(source, [whole, ...hashed])).map(({ place }) => place)
    expect(told).toEqual([...wrong.sort((a, b) => (a % size) - (b % size)), -1])
  })
})
