import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { commandLine, shellWord, tensorCommand } from '../../../viewer/src/parts/shell.js'

const shown = ['', 'plain', "it's", '$HOME `id` "x" \\', '*[0]?', '~', '#a', 'a=b', '日本語', 'a b  c']
const hiddenOnes = [
  'a\nb',
  '\x03\nrm -rf x\n',
  'weight\u202egnp.exe\u0007',
  "tab\tand ' and \\",
  '\u009b31m7',
  '\u20281',
]

/** What a shell makes of the words. */
const readBy = (shell: string, words: readonly string[]): string[] =>
  execFileSync(shell, ['-c', `printf '%s\\0' ${commandLine(words)}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1)

describe('words of a command', () => {
  it.skipIf(!existsSync('/bin/sh'))('are read by a shell as they were', () => {
    expect(readBy('/bin/sh', shown)).toEqual(shown)
  })

  it.skipIf(!existsSync('/bin/bash'))('also where they hold what does not show', () => {
    expect(readBy('/bin/bash', [...shown, ...hiddenOnes])).toEqual([...shown, ...hiddenOnes])
  })

  it('are no keys in a terminal', () => {
    for (const word of hiddenOnes) expect(shellWord(word)).toMatch(/^[ -~]*$/)
  })

  it('are not taken for options', () => {
    expect(tensorCommand('picture', 'm', 'w', ['-o', 'x'])).toEqual(['tare', 'picture', 'm', 'w', '-o', 'x'])
    expect(tensorCommand('picture', 'm', '-o', ['-o', 'x'])).toEqual(['tare', 'picture', '-o', 'x', '--', 'm', '-o'])
  })
})
