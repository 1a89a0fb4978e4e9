import fc from 'fast-check'
import { expect, it } from 'vitest'
import { shareFrom } from '../../src/cli/input/share.js'
import { shareOf, type Task } from '../../src/jobs/tasks.js'

const tasksOf = (costs: readonly number[]): Task[] =>
  costs.map((cost, number) => ({ kind: 'check', number, first: number, end: number + 1, cost }))

it('the shares of all workers are all tasks, each once, and each share is in order', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.001, max: 1e9, noNaN: true }), { maxLength: 200 }),
      fc.integer({ min: 1, max: 50 }),
      (costs, workers) => {
        const tasks = tasksOf(costs)
        const shares = Array.from({ length: workers }, (_, i) => shareOf(tasks, i, workers))
        const inOrder = (some: readonly Task[]): Task[] => some.toSorted((a, b) => a.number - b.number)
        for (const share of shares) expect(share).toEqual(inOrder(share))
        expect(inOrder(shares.flat())).toEqual(tasks)
      },
    ),
  )
})

it('shares cost about the same, whatever single tasks cost', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.5, max: 5, noNaN: true }), { minLength: 50, maxLength: 400 }),
      fc.integer({ min: 2, max: 10 }),
      (costs, workers) => {
        const total = costs.reduce((sum, cost) => sum + cost, 0)
        for (let i = 0; i < workers; i++) {
          const own = shareOf(tasksOf(costs), i, workers).reduce((sum, { cost }) => sum + cost, 0)
          // The last task can make one worker's share longer than those of the others.
          expect(Math.abs(own - total / workers)).toBeLessThanOrEqual(5)
        }
      },
    ),
  )
})

it('short tasks at the end make up for long ones that cannot be shared out evenly', () => {
  const tasks = tasksOf([64, 64, 64, 64, 64, 16, 16, 16, 16, 16, 16, 16])
  const costs = [0, 1].map((i) => shareOf(tasks, i, 2).reduce((sum, { cost }) => sum + cost, 0))
  expect(costs).toEqual([224, 208])
})

it('every share has its part of both kinds, even if the costs of one kind are far too low', () => {
  const range = { kind: 'range', file: 0, part: 1, from: 0, to: 1 } as const
  const tasks: Task[] = Array.from({ length: 80 }, (_, number) =>
    number < 40
      ? { ...range, number, cost: 100 }
      : { kind: 'check', number, first: number - 40, end: number - 39, cost: 1 },
  )
  for (let i = 0; i < 8; i++) {
    const kinds = shareOf(tasks, i, 8).map(({ kind }) => kind)
    expect(kinds).toEqual([...Array(5).fill('range'), ...Array(5).fill('check')])
  }
})

it('checks of nothing are not lost', () => {
  expect([0, 1].flatMap((i) => shareOf(tasksOf([0, 0]), i, 2))).toEqual(tasksOf([0, 0]))
})

const slurm = (id: number, min: number, max: number, count: number, step = 1) => ({
  SLURM_ARRAY_TASK_ID: `${id}`,
  SLURM_ARRAY_TASK_MIN: `${min}`,
  SLURM_ARRAY_TASK_MAX: `${max}`,
  SLURM_ARRAY_TASK_COUNT: `${count}`,
  SLURM_ARRAY_TASK_STEP: `${step}`,
})

it.each([
  [{}, {}, undefined],
  [{ part: { part: 2, parts: 3 } }, slurm(0, 0, 7, 8), { part: 2, parts: 3 }],
  [{}, slurm(0, 0, 7, 8), { part: 1, parts: 8 }],
  [{}, slurm(8, 1, 8, 8), { part: 8, parts: 8 }],
  [{}, slurm(4, 0, 14, 8, 2), { part: 3, parts: 8 }],
  [{}, slurm(3, 3, 3, 1), { part: 1, parts: 1 }],
  [{ parts: 4 }, { JOB_COMPLETION_INDEX: '0' }, { part: 1, parts: 4 }],
  [{ parts: 4 }, { JOB_COMPLETION_INDEX: '3' }, { part: 4, parts: 4 }],
  [{}, { AWS_BATCH_JOB_ARRAY_INDEX: '4', AWS_BATCH_JOB_ARRAY_SIZE: '5' }, { part: 5, parts: 5 }],
  [{ parts: 9 }, { AWS_BATCH_JOB_ARRAY_INDEX: '4' }, { part: 5, parts: 9 }],
])('%j and %j say which share it is', (asked, env, share) => {
  expect(shareFrom(asked, env)).toEqual(share)
})

it.each([
  [{ parts: 4 }, {}],
  [{ part: { part: 1, parts: 2 }, parts: 3 }, {}],
  [{ parts: 4 }, slurm(0, 0, 7, 8)],
  [{}, slurm(7, 3, 7, 2)],
  [{}, { SLURM_ARRAY_TASK_ID: '1' }],
  [{}, { SLURM_ARRAY_TASK_ID: 'one' }],
  [{}, { JOB_COMPLETION_INDEX: '0' }],
  [{ parts: 4 }, { JOB_COMPLETION_INDEX: '4' }],
])('%j and %j say none, and that is told', (asked, env) => {
  expect(() => shareFrom(asked, env)).toThrow(/.+/)
})
