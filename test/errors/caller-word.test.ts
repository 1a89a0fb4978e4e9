import { expect, it } from 'vitest'
import { callerWord } from '../../src/errors/index.js'
import * as kit from '../../src/kit.js'
import { speakOfFlags } from '../../src/kit-node.js'

it('names options until the command runs a verb; programs cannot switch it', () => {
  expect(callerWord('--only', 'only')).toBe('only')
  expect('speakOfFlags' in kit).toBe(false)
  speakOfFlags()
  expect(callerWord('--only', 'only')).toBe('--only')
})
