import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../src/bytes/index.js'
import { asciiText, plainTextOfUnits, textOfUnits } from '../../src/bytes/unit-text.js'
import { registerNodeBytes } from '../../src/node/bytes.js'

registerNodeBytes()

const isWide = fc.boolean()
const units = fc.array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0, max: 0x7f })), {
  maxLength: 600,
})

describe('texts of code units', () => {
  it('are the characters, with and without the help of Node', () => {
    fc.assert(
      fc.property(units, isWide, fc.nat(20), (list, wide, from) => {
        const array = wide ? Uint16Array.from(list) : Uint8Array.from(list)
        const start = Math.min(from, array.length)
        const wanted = Array.from(array.subarray(start), (unit) => String.fromCharCode(unit)).join('')
        expect(textOfUnits(array, start, array.length)).toBe(wanted)
        expect(plainTextOfUnits(array, start, array.length)).toBe(wanted)
      }),
    )
  })

  it('are long, too', () => {
    for (const unit of [0x41, 0xe9]) {
      const bytes = new Uint8Array(20_000).fill(unit)
      expect(plainTextOfUnits(bytes, 1, 20_000)).toBe(String.fromCharCode(unit).repeat(19_999))
    }
  })

  it('of ASCII are made only when all of it is', () => {
    expect(asciiText(Uint8Array.of(0x41, 0x42, 0x80), 0, 2)).toBe('AB')
    expect(asciiText(Uint8Array.of(0x41, 0x42, 0x80), 0, 3)).toBeUndefined()
    expect(asciiText(new Uint8Array(1000), 0, 1000)).toBeUndefined()
  })
})

it('digits stand for bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(toHex(bytes)).toBe(Buffer.from(bytes).toString('hex'))
    }),
  )
})
