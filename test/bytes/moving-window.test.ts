import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultWindow } from '../../src/bytes/index.js'
import { MovingWindow } from '../../src/bytes/moving-window.js'
import { countingSource, MemorySource } from '../../src/index.js'

const size = 3 * defaultWindow
const bytes = Uint8Array.from({ length: size }, (_, i) => i % 251)

describe('a moving window', () => {
  it('has the bytes that were asked for at hand, and none behind the end', async () => {
    const end = size - 5
    const place = fc.record({ at: fc.nat(end), length: fc.nat(2 * defaultWindow) })
    await fc.assert(
      fc.asyncProperty(fc.array(place, { maxLength: 8 }), async (places) => {
        const window = new MovingWindow(new MemorySource(bytes, 'file'), end, undefined)
        for (const { at, length } of places) {
          const until = Math.min(at + length, end)
          await window.reach(at, until - at)
          expect(window.offset + window.bytes.byteLength).toBeLessThanOrEqual(end)
          const found = window.from(at, until)
          expect(Buffer.compare(found, bytes.subarray(at, until))).toBe(0)
        }
      }),
    )
  })

  it('reads what lies within one window once', async () => {
    const count = { reads: 0, bytes: 0 }
    const window = new MovingWindow(countingSource(new MemorySource(bytes, 'file'), count), 1000, undefined)
    for (const at of [0, 500, 990]) await window.reach(at, 10)
    expect(count).toEqual({ reads: 1, bytes: 1000 })
  })
})
