import { describe, expect, it } from 'vitest'
import { encodeUtf8 } from '../../src/bytes/index.js'
import { fnv1a32 } from '../../src/digest/hasher.js'

describe('fnv1a32', () => {
  it.each([
    ['', 0x811c9dc5],
    ['a', 0xe40c292c],
    ['foobar', 0xbf9cf968],
  ])('gives the published value for "%s"', (text, hash) => {
    expect(fnv1a32(encodeUtf8(text))).toBe(hash)
  })

  it('has collisions', () => {
    expect(fnv1a32(encodeUtf8('costarring'))).toBe(fnv1a32(encodeUtf8('liquid')))
  })

  it('takes a part of the bytes', () => {
    expect(fnv1a32(encodeUtf8('xxfoobary'), 2, 8)).toBe(0xbf9cf968)
  })
})
