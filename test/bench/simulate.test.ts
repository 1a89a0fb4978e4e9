import fc from 'fast-check'
import { expect, it } from 'vitest'

const path = '../../bench/cluster/simulate.mjs'
const { costOfLooking, simulateQueue, simulateShares } = await import(path)

it('a queue gives the next task to the worker that is free first', () => {
  // 0: 0–4, then 4–5; 1: 0–3, 3–5
  const { end, ends, imbalance } = simulateQueue([4, 3, 2, 1], [1, 1])
  expect([end, [...ends], imbalance]).toEqual([5, [3, 4, 5, 5], 1])
})

it('a slow worker gets less from a queue, and the same from shares', () => {
  const tasks = Array(12).fill(1)
  expect(simulateQueue(tasks, [1, 0.5]).end).toBe(8)
  expect(simulateShares([tasks.slice(6), tasks.slice(6)], [1, 0.5]).end).toBe(12)
})

it('a queue serves one request at a time', () => {
  expect(simulateQueue([1, 1, 1], [1, 1, 1], { start: 10, serve: 2 }).end).toBe(17)
})

it('no task is taken before it is handed out', () => {
  expect(simulateQueue([1, 1, 1], [1, 1, 1], { submit: 5 }).end).toBe(16)
})

it('no schedule ends before the ideal, nor later than by the longest task', () => {
  const seconds = fc.double({ min: 0.1, max: 10, noNaN: true })
  fc.assert(
    fc.property(fc.array(seconds, { minLength: 1 }), fc.integer({ min: 1, max: 20 }), (tasks, workers) => {
      const { end, ends } = simulateQueue(tasks, Array(workers).fill(1))
      const ideal = tasks.reduce((sum, each) => sum + each, 0) / workers
      expect(ends.length).toBe(tasks.length)
      expect(end).toBeGreaterThanOrEqual(ideal - 1e-9)
      expect(end).toBeLessThanOrEqual(ideal + Math.max(...tasks) + 1e-9)
    }),
  )
})

it('looking for results costs more the more there are', () => {
  // At 0 none, at 2 two (and 1 s later), at 5 all three.
  expect(costOfLooking([1, 2, 5], { start: 0, pause: 2, perResult: 0.5 })).toEqual({ cost: 2.5, end: 6.5 })
})
