import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Shortage, WindowReader } from '../../src/bytes/window-reader.js'
import { countingSource, MemorySource } from '../../src/kit.js'

const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => i % 251)
const source = () => new MemorySource(bytes, 'file')
/** `toEqual` takes a minute for as many bytes as are compared here. */
const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

describe('a window reader', () => {
  it('brings what it is asked for, wherever that is', async () => {
    const place = fc.tuple(fc.nat(bytes.length), fc.nat(5000))
    await fc.assert(
      fc.asyncProperty(fc.array(place, { maxLength: 12 }), fc.boolean(), async (places, keep) => {
        const reader = new WindowReader(source(), { min: 16, max: 1024, keep })
        for (const [offset, wanted] of places) {
          const length = Math.min(wanted, bytes.length - offset)
          await reader.reach(offset, length)
          expect(reader.holds(offset, length)).toBe(true)
          expect(isSame(reader.slice(offset, length), bytes.subarray(offset, offset + length))).toBe(true)
          if (keep && length > 0) expect(isSame(reader.slice(0, offset), bytes.subarray(0, offset))).toBe(true)
        }
      }),
    )
  })

  it('reads a long index in few steps, and little behind a jump', async () => {
    const counts = { reads: 0, bytes: 0 }
    const counted = countingSource(source(), counts)
    const reader = new WindowReader(counted, { min: 64, max: 4096 })
    for (let at = 0; at < 50_000; at += 10) await reader.reach(at, 10)
    expect(counts.reads).toBeLessThan(30)
    const before = counts.bytes
    await reader.reach(99_000, 10)
    expect(counts.bytes - before).toBe(64)
  })

  it('reads a long record a few times, however slowly it asks for more', async () => {
    const counts = { reads: 0, bytes: 0 }
    const reader = new WindowReader(countingSource(source(), counts), { min: 64, max: 1024 })
    for (let length = 1; length < 90_000; length += 7) await reader.reach(5000, length)
    expect(counts.reads).toBeLessThan(20)
  })

  it('reads nothing behind its end', async () => {
    const reader = new WindowReader(source(), { min: 4096, end: 100 })
    await reader.reach(90, 10)
    expect(reader.bytes.byteLength).toBe(10)
  })

  it('repeats a step until its bytes are there, and lets other errors through', async () => {
    const reader = new WindowReader(source(), { min: 4 })
    const step = (): number => {
      if (!reader.holds(1000, 8)) throw new Shortage(1000, 8)
      return reader.view.getUint8(1000 - reader.offset)
    }
    expect(await reader.whole(step)).toBe(bytes[1000])
    const wrong = new Error('other')
    await expect(
      reader.whole(() => {
        throw wrong
      }),
    ).rejects.toBe(wrong)
  })
})
