import { expect, it } from 'vitest'
import { callerWord } from '../../src/errors/index.js'
import { speakOfFlags } from '../../src/kit-node.js'
import * as library from '../../src/node.js'

it('names options until a tool for people says otherwise, which the library cannot', () => {
  expect(callerWord('--only', 'only')).toBe('only')
  expect('speakOfFlags' in library).toBe(false)
  speakOfFlags()
  expect(callerWord('--only', 'only')).toBe('--only')
})
