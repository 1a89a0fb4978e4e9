import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemorySource } from '../../../src/kit.js'
import { findBytes, parsePattern } from '../../../viewer/src/engine/rooms/bytes/find-bytes.js'

describe('finding bytes', () => {
  it.each([
    ['GGUF', [0x47, 0x47, 0x55, 0x46]],
    ['47 47 55', [0x47, 0x47, 0x55]],
    ['0xff', [0xff]],
    ['0xff 00', [0xff, 0]],
    ['47', [0x34, 0x37]],
    ['ä', [0xc3, 0xa4]],
  ])('%s', (text, bytes) => {
    expect([...parsePattern(text)!]).toEqual(bytes)
  })

  it('nothing is not a pattern', () => {
    expect(parsePattern('')).toBeUndefined()
  })

  it('finds what a search in memory finds, in both directions', async () => {
    const few = fc.uint8Array({ minLength: 0, maxLength: 60, max: 2 })
    const pattern = fc.uint8Array({ minLength: 1, maxLength: 3, max: 2 })
    await fc.assert(
      fc.asyncProperty(few, pattern, fc.nat(59), async (bytes, wanted, from) => {
        const source = new MemorySource(bytes, 'bytes')
        const plain = Buffer.from(bytes)
        const forward = plain.indexOf(Buffer.from(wanted), from)
        expect(await findBytes(source, wanted, { from, isBackward: false })).toBe(forward < 0 ? undefined : forward)
        const backward = plain.lastIndexOf(Buffer.from(wanted), from)
        expect(await findBytes(source, wanted, { from, isBackward: true })).toBe(backward < 0 ? undefined : backward)
      }),
    )
  })
})
