import { expect, it } from 'vitest'
import { asciiText } from '../../src/bytes/unit-text.js'

it('a text of ASCII is made only when all of it is', () => {
  expect(asciiText(Uint8Array.of(0x41, 0x42, 0x80), 0, 2)).toBe('AB')
  expect(asciiText(Uint8Array.of(0x41, 0x42, 0x80), 0, 3)).toBeUndefined()
  expect(asciiText(new Uint8Array(1000), 0, 1000)).toBeUndefined()
})
