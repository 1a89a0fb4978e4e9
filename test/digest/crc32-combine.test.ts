import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { combineCrc32 } from '../../src/digest/crc32.js'

describe('combineCrc32', () => {
  it('gives the checksum of the whole', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (a, b) => {
        const whole = crc32(Buffer.concat([a, b]))
        expect(combineCrc32(crc32(a), crc32(b), b.byteLength)).toBe(whole)
      }),
      { seed: 4, numRuns: 300 },
    )
  })

  it('handles pieces beyond 32 bits of length', () => {
    // Zeros: the checksum of 2^33 of them is that of one half combined with the other, and so on down.
    let crc = crc32(new Uint8Array(1 << 20))
    for (let length = 1 << 20; length < 2 ** 33; length *= 2) crc = combineCrc32(crc, crc, length)
    const [low, high] = [3 * 2 ** 31, 2 ** 31]
    const zeros = (length: number): number => {
      let [sum, left, power, piece] = [0, length, 1, crc32(new Uint8Array(1))]
      for (; left > 0; left = Math.floor(left / 2)) {
        if (left % 2 === 1) sum = combineCrc32(sum, piece, power)
        piece = combineCrc32(piece, piece, power)
        power *= 2
      }
      return sum
    }
    expect(combineCrc32(zeros(high), zeros(low), low)).toBe(crc)
  })
})
