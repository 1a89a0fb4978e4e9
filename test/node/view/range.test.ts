import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wantedRange } from '../../../src/node/view/range.js'

describe('wantedRange', () => {
  it.each([
    ['bytes=0-0', { start: 0, end: 1 }],
    ['bytes=2-5', { start: 2, end: 6 }],
    ['bytes=2-', { start: 2, end: 10 }],
    ['bytes=5-999', { start: 5, end: 10 }],
    ['bytes=-3', { start: 7, end: 10 }],
    ['bytes=-99', { start: 0, end: 10 }],
    ['bytes=10-', 'beyond'],
    ['bytes=10-12', 'beyond'],
    ['bytes=-0', 'beyond'],
    [undefined, 'whole'],
    ['', 'whole'],
    ['bytes=-', 'whole'],
    ['bytes=5-2', 'whole'],
    ['bytes=0-1,4-5', 'whole'],
    ['bytes=a-b', 'whole'],
    ['bytes=-1-2', 'whole'],
    ['bytes=0x1-2', 'whole'],
    ['items=0-1', 'whole'],
    ['bytes=99999999999999999999-', 'whole'],
  ] as const)('%s of ten bytes', (header, wanted) => {
    expect(wantedRange(header, 10)).toEqual(wanted)
  })

  it('of an empty file there is no byte to have', () => {
    expect(wantedRange('bytes=0-', 0)).toBe('beyond')
    expect(wantedRange('bytes=-5', 0)).toBe('beyond')
    expect(wantedRange(undefined, 0)).toBe('whole')
  })

  it('never leaves the file', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(), (first, last, size) => {
        for (const header of [`bytes=${first}-${last}`, `bytes=${first}-`, `bytes=-${last}`]) {
          const wanted = wantedRange(header, size)
          if (typeof wanted === 'string') continue
          expect(wanted.start).toBeLessThan(wanted.end)
          expect(wanted.end).toBeLessThanOrEqual(size)
        }
      }),
    )
  })
})
