import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toHex } from '../../src/bytes/index.js'

it('digits stand for bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(toHex(bytes)).toBe(Buffer.from(bytes).toString('hex'))
    }),
  )
})
