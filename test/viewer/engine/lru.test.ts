import { expect, it } from 'vitest'
import { LruCache } from '../../../viewer/src/engine/tiles/lru.js'

it('lets go of what was not used for longest', () => {
  const dropped: string[] = []
  const cache = new LruCache<string>(100, (value) => dropped.push(value))
  cache.set('a', 'A', 40)
  cache.set('b', 'B', 40)
  expect(cache.get('a')).toBe('A')
  cache.set('c', 'C', 40)
  expect(dropped).toEqual(['B'])
  expect(cache.has('b')).toBe(false)
  expect(cache.bytes).toBe(80)
})

it('keeps the newest even where it is larger than the budget, and counts what is replaced once', () => {
  const cache = new LruCache<number>(10)
  cache.set('a', 1, 5)
  cache.set('a', 2, 6)
  expect(cache.bytes).toBe(6)
  cache.set('b', 3, 50)
  expect(cache.get('b')).toBe(3)
  expect(cache.has('a')).toBe(false)
  cache.clear()
  expect(cache.bytes).toBe(0)
})
