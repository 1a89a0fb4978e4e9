import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ActionLog, noter } from '../../src/convert/action-log.js'
import type { PlanAction } from '../../src/convert/plan-types.js'
import { sampleTensor } from '../support/sample-model.js'

const text = fc.string({ maxLength: 8 })
const action = fc.record(
  {
    subject: fc.constantFrom('tensor', 'metadata', 'part'),
    name: text,
    action: fc.constantFrom('copy', 'cast', 'drop'),
    loss: fc.constantFrom('none', 'content'),
    requested: fc.constant(true),
    reason: text,
    from: text,
    to: text,
  },
  { requiredKeys: ['subject', 'name', 'action', 'loss'] },
) as fc.Arbitrary<PlanAction>

it('keeps every action as it was noted', () => {
  fc.assert(
    fc.property(fc.array(action), (actions) => {
      expect([...new ActionLog(actions)]).toEqual(actions)
    }),
  )
})

it('takes names from the list that it counts in', () => {
  const log = new ActionLog()
  log.countIn(['a', 'b'].map((name) => sampleTensor(name, 'f32', [1])))
  noter(log, 'tensor', 'b', 1)('copy', 'none')
  noter(log, 'part', 'c')('drop', 'content', { reason: 'x' })
  noter(log, 'tensor', 'a', 0)('copy', 'none')
  expect([...log]).toEqual([
    { subject: 'tensor', name: 'b', action: 'copy', loss: 'none' },
    { subject: 'part', name: 'c', action: 'drop', loss: 'content', reason: 'x' },
    { subject: 'tensor', name: 'a', action: 'copy', loss: 'none' },
  ])
})

it('keeps more sorts of actions than it has numbers for', () => {
  const actions = Array.from({ length: 5000 }, (_, i): PlanAction => {
    return { subject: 'tensor', name: `t${i}`, action: 'rename', loss: 'none', to: `u${i}` }
  })
  const log = new ActionLog([...actions, ...actions])
  expect(log.at(4999)).toEqual(actions[4999])
  expect(log.slice(-2)).toEqual(actions.slice(-2))
})
