import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeUtf8, encodeUtf8, shortAscii, toHex } from '../../src/bytes/text.js'

describe('short texts', () => {
  it('are the same as a decoder makes them, where they are ASCII', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), fc.nat(5), (text, start) => {
        const bytes = encodeUtf8(`${'x'.repeat(start)}${text}y`)
        const length = bytes.byteLength - start - 1
        const isShort = length <= 64 && length === text.length
        const expected = isShort ? decodeUtf8(bytes.subarray(start, start + length)) : undefined
        expect(shortAscii(bytes, start, length)).toBe(expected)
      }),
    )
  })
})

it('digits stand for bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(toHex(bytes)).toBe(Buffer.from(bytes).toString('hex'))
    }),
  )
})
