import { expect, it } from 'vitest'
import { isOptimizerKey } from '../../../../src/content/torch-save/objects/walk.js'

it.each([
  'optim',
  'optimizer',
  'optimizers',
  'optimizer_states',
  'optimizer_state_dict',
  'optimizerState',
  'Optimizer.0',
])('%s holds the state of an optimizer', (key) => expect(isOptimizerKey(key)).toBe(true))

it.each(['optimal.weight', 'optimism', 'model.optimizer', 'optimizable'])('%s does not', (key) =>
  expect(isOptimizerKey(key)).toBe(false),
)
