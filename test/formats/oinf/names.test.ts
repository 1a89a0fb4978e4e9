import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeKey, escapeName, unescapeKey, unescapeName } from '../../../src/formats/oinf/names.js'

const legal = /^[A-Za-z0-9._-]+$/
/** Names in which every second character means something to the scheme. */
const tricky = fc.string({ unit: fc.constantFrom('-', '_', '2', 'f', 'a', '.', '/', 'ä', '\n'), maxLength: 24 })
const names = fc.oneof(tricky, fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }))

describe('names', () => {
  it('are escaped as the documentation says', () => {
    expect(escapeName('blk/0 w')).toBe('blk-_2f_-0-_20_-w')
    expect(escapeName('größe')).toBe('gr-_c3b6c39f_-e')
    expect(escapeName('')).toBe('-__-')
    expect(escapeName('a-_2f_-b')).toBe('a-_2d_-_2f_-b')
    expect(escapeName('w\n')).toBe('w-_0a_-')
    expect(escapeKey('tare.oinf.text.a')).toBe('tare-_2e_-oinf.text.a')
    expect(escapeKey('tare.other')).toBe('tare.other')
  })

  it('come back, whatever they are', () => {
    fc.assert(
      fc.property(names, (name) => {
        fc.pre(name.isWellFormed())
        const stored = escapeName(name)
        expect(stored).toMatch(legal)
        expect(unescapeName(stored)).toEqual({ text: name })
        const key = escapeKey(name)
        expect(key).toMatch(legal)
        expect(unescapeKey(key)).toBe(name)
      }),
    )
  })

  it('stay as they are when they are legal and look like no escape', () => {
    const plain = fc.string({ unit: fc.constantFrom(...'abcXYZ019._-'), minLength: 1, maxLength: 24 })
    fc.assert(
      fc.property(plain, (name) => {
        fc.pre(!/-_(?:[0-9a-f]{2})*_-/.test(name))
        expect(escapeName(name)).toBe(name)
        expect(unescapeName(name)).toEqual({ text: name })
      }),
    )
  })

  it('never share a stored form', () => {
    fc.assert(
      fc.property(tricky, tricky, (a, b) => {
        expect(escapeName(a) === escapeName(b)).toBe(a === b)
      }),
    )
  })

  it('keep bytes that are no UTF-8', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 12 }), (raw) => {
        const stored = escapeName(raw)
        expect(stored).toMatch(legal)
        const name = unescapeName(stored)
        expect(name.raw ?? new TextEncoder().encode(name.text)).toEqual(raw)
      }),
    )
  })

  it('of other programs are not touched', () => {
    for (const stored of ['a-_41_-', 'a-_2F_-', 'a-_2_-', 'x-__-y', '-_', '_-', '-_2f', '-_2f_-_'.slice(1)])
      expect(unescapeName(stored)).toEqual({ text: stored })
  })
})
