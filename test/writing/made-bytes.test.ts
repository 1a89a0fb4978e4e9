import { expect, it } from 'vitest'
import { joinBytes } from '../../src/bytes/index.js'
import { slotLength } from '../../src/model/index.js'
import { MadeBytes } from '../../src/writing/made-bytes.js'

it.each([10, 9 << 20])('pieces of %d bytes are in the slots, in order and as long as they say', (size) => {
  const sizes = [size, 0, size + 1]
  const made = new MadeBytes(3, (piece) => new Uint8Array(sizes[piece]!).fill(piece))
  const slots = [...made.slots('index')]
  expect(slots.map((slot) => [slot.path, slotLength(slot), slot.bytes.byteLength])).toEqual([
    ['index', size, size],
    ['index', size + 1, size + 1],
  ])
  const bytes = joinBytes(slots.map((slot) => slot.bytes))
  expect([made.length, bytes[0], bytes[size], bytes[2 * size]]).toEqual([2 * size + 1, 0, 2, 2])
})

it('only what is small is kept', () => {
  const calls: number[] = []
  const take = (size: number): number => {
    calls.length = 0
    const made = new MadeBytes(2, (piece) => new Uint8Array(size).fill(calls.push(piece)))
    for (const slot of made.slots('x')) slot.bytes
    return calls.length
  }
  expect([take(10), take(9 << 20)]).toEqual([2, 4])
})
