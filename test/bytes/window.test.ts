import { expect, it } from 'vitest'
import { arenaMemory, kernelRoom, releaseWindow, takeWindow } from '../../src/bytes/index.js'

const isNear = (window: Uint8Array): boolean => window.buffer === arenaMemory().buffer

it('windows lie side by side in one memory, behind the room of kernels, on page boundaries', () => {
  const windows = [1, 65_536, 65_537, 1 << 20].map(takeWindow)
  for (const [i, window] of windows.entries()) {
    expect(window.byteLength).toBe([1, 65_536, 65_537, 1 << 20][i])
    expect(isNear(window) && window.byteOffset >= kernelRoom && window.byteOffset % 65_536 === 0).toBe(true)
    window.fill(i + 1)
  }
  for (const [i, window] of windows.entries()) expect([window[0], window.at(-1)]).toEqual([i + 1, i + 1])
  windows.forEach(releaseWindow)
})

it('windows that were given back are taken again, and only once', () => {
  const [first, second] = [takeWindow(100_000), takeWindow(100_000)]
  releaseWindow(first)
  releaseWindow(first)
  const [again, other] = [takeWindow(80_000), takeWindow(100_000)]
  expect(again.byteOffset).toBe(first.byteOffset)
  expect(new Set([again, second, other].map((window) => window.byteOffset)).size).toBe(3)
  for (const window of [again, second, other]) releaseWindow(window)
})

it('what does not fit there has a memory of its own, which is used again too', () => {
  const large = takeWindow(17 << 20)
  expect(isNear(large)).toBe(false)
  expect(large.byteOffset).toBe(0)
  releaseWindow(large)
  const again = takeWindow(17 << 20)
  expect(again.buffer).toBe(large.buffer)
  releaseWindow(again)

  const many = Array.from({ length: 40 }, () => takeWindow(2 << 20))
  expect(many.filter(isNear).length).toBeGreaterThan(8)
  expect(many.filter(isNear).length).toBeLessThan(40)
  expect(new Set(many.map((window) => (isNear(window) ? window.byteOffset : window.buffer))).size).toBe(40)
  many.forEach(releaseWindow)
})
