import { expect, test } from 'vitest'
import { formatProgress, Progress } from '../../../src/cli/console/console.js'

const gib = 1024 ** 3

test('shows share, bytes, rate, time left and what is being worked on', () => {
  const line = formatProgress({ done: 1.5 * gib, total: 3 * gib, path: 'blk.0.weight' }, 1500, 200)
  expect(line).toBe('[============>           ]  50%  1.50 GiB of 3.00 GiB  1.00 GiB/s  0:02 left  blk.0.weight')
})

test('the beginning and the end look right', () => {
  expect(formatProgress({ done: 0, total: gib, path: 'a' }, 600, 200)).toBe(
    '[>                       ]   0%  0 B of 1.00 GiB  0 B/s  -:-- left  a',
  )
  expect(formatProgress({ done: gib, total: gib, path: 'a' }, 1000, 200)).toMatch(/^\[={24}\] 100% {2}/)
  expect(formatProgress({ done: 0, total: 0, path: '' }, 0, 200)).toContain('0%')
})

test('never reaches the last column, and escapes names', () => {
  const line = formatProgress({ done: 1, total: 2, path: '\x1b[31m'.repeat(50) }, 1000, 80)
  expect([...line].length).toBe(79)
  expect(line).not.toContain('\x1b')
})

function fakeTerminal(isTTY: boolean) {
  const written: string[] = []
  let time = 0
  const stream = { isTTY, columns: 120, write: (text: string) => written.push(text) > 0 }
  const progress = new Progress(stream as never, () => time)
  const at = (ms: number): void => {
    time = ms
    progress.update({ done: ms, total: 10_000, path: 'x' })
  }
  return { written, progress, at }
}

test('appears after half a second, ten times a second, and goes away', () => {
  const { written, progress, at } = fakeTerminal(true)
  progress.start()
  for (let ms = 0; ms < 500; ms += 10) at(ms)
  expect(written).toEqual([])
  for (let ms = 500; ms <= 1000; ms += 10) at(ms)
  expect(written.length).toBe(6)
  progress.finish()
  progress.finish()
  expect(written.length).toBe(7)
  expect(written.at(-1)).toBe('\r\x1b[2K')
})

test('is silent on a pipe and when asked to be quiet', () => {
  const pipe = fakeTerminal(false)
  const quiet = fakeTerminal(true)
  quiet.progress.quiet = true
  for (const { progress, at, written } of [pipe, quiet]) {
    progress.start()
    at(5000)
    progress.finish()
    expect(written).toEqual([])
  }
})
