import { afterEach, describe, expect, test, vi } from 'vitest'
import { wantsColor } from '../../../src/cli/console/console.js'
import { describeFailure, isClosedPipe } from '../../../src/cli/console/process-events.js'
import { UsageError } from '../../../src/cli/status.js'
import { hexDump } from '../../../src/cli/verbs/map/text.js'
import { MemorySource } from '../../../src/kit-node.js'

afterEach(() => vi.unstubAllEnvs())

test.each([
  [true, {}, true],
  [false, {}, false],
  [false, { CI: 'true' }, false],
  [true, { NO_COLOR: '1' }, false],
  [true, { NO_COLOR: '' }, true],
  [true, { TERM: 'dumb' }, false],
  [false, { FORCE_COLOR: '1' }, true],
  [true, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  [false, { FORCE_COLOR: '0' }, false],
  [true, { FORCE_COLOR: '0' }, false],
])('terminal %s with %j has colour: %s', (isTTY, env, expected) => {
  expect(wantsColor({ isTTY }, env)).toBe(expected)
})

describe('failures', () => {
  test('a closed pipe is recognised however deep it lies', () => {
    const system = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
    expect(isClosedPipe(system)).toBe(true)
    expect(isClosedPipe(new Error('outer', { cause: new Error('inner', { cause: system }) }))).toBe(true)
    expect(isClosedPipe(new Error('other'))).toBe(false)
    expect(isClosedPipe('EPIPE')).toBe(false)
  })

  test('a stack is shown only to those who ask for it', () => {
    vi.stubEnv('TARE_DEBUG', '')
    expect(describeFailure(new Error('oops'))).toBe('oops (unexpected; TARE_DEBUG=1 shows where)')
    expect(describeFailure(new UsageError('say what'))).toBe('say what')
    expect(describeFailure('odd')).toContain('odd')
    vi.stubEnv('TARE_DEBUG', '1')
    expect(describeFailure(new Error('oops'))).toContain('console.test.ts')
  })
})

describe('hexDump', () => {
  const source = new MemorySource(Uint8Array.from({ length: 200 }, (_, i) => i))

  test('shows sixteen bytes to a line with their ASCII', async () => {
    expect(await hexDump(source, 60, 18)).toEqual([
      '    0x3c  3c 3d 3e 3f 40 41 42 43 44 45 46 47 48 49 4a 4b  <=>?@ABCDEFGHIJK',
      `    0x4c  4c 4d${' '.repeat(42)}  LM`,
    ])
  })

  test('cuts long ranges, and begins where it is asked to', async () => {
    const whole = await hexDump(source, 3, 197)
    expect([whole.length, whole.at(-1)]).toEqual([5, '    … 133 more bytes'])
    const [first] = await hexDump(source, 3, 197, 199)
    expect(first).toMatch(/^ {4}0xc3 {2}c3 c4 c5 c6 c7 /)
  })
})
