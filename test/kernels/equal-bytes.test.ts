import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { firstDifference, registerByteEquality } from '../../src/kernels/equal-bytes.js'

describe('comparing bytes', () => {
  afterEach(() => registerByteEquality(() => false))

  it('finds the first that differs, wherever the bytes lie in memory', () => {
    const bytes = fc.uint8Array({ maxLength: 300 })
    const place = fc.integer({ min: 0, max: 7 })
    fc.assert(
      fc.property(bytes, place, place, fc.nat(), fc.boolean(), (list, left, right, at, change) => {
        const a = new Uint8Array(list.length + 8).subarray(left, left + list.length)
        const b = new Uint8Array(list.length + 8).subarray(right, right + list.length)
        a.set(list)
        b.set(list)
        const index = list.length === 0 ? -1 : at % list.length
        if (change && index >= 0) b[index] = b[index]! ^ 16
        expect(firstDifference(a, b)).toBe(change ? index : -1)
      }),
    )
  })

  it('asks the environment first', () => {
    registerByteEquality((a, b) => Buffer.compare(a, b) === 0)
    const a = new Uint8Array(1000)
    const b = a.slice()
    expect(firstDifference(a, b)).toBe(-1)
    b[999] = 1
    expect(firstDifference(a, b)).toBe(999)
  })
})
