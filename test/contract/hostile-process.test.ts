// Hostile files through the real command, in a process of its own: little time, little memory, exit status 1.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formats } from '../../src/kit.js'
import { useCompiled } from '../cli/compiled.js'
import { useTempDir } from '../node/temp-dir.js'
import { fixturePath, presentCases } from '../support/fixtures.js'

const compiled = useCompiled()
const at = useTempDir()
const memoryLimit = 150 * 2 ** 20

/** Runs `tare verify --json` over the files in one process, and prints its peak memory at the end. */
function verifyAll(files: readonly string[]): {
  lines: { file: string; verdict: string }[]
  peak: number
  status: number | null
} {
  const script = at('peak.mjs')
  writeFileSync(
    script,
    `process.on('exit', () => process.stderr.write('peak ' + process.resourceUsage().maxRSS * 1024 + '\\n'))
     await import(${JSON.stringify(compiled('cli', 'main.js'))})`,
  )
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, 'verify', '--json', ...files], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    timeout: 60_000,
  })
  const lines = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { file: string; verdict: string })
  return { lines, peak: Number(/peak (\d+)/.exec(stderr)?.[1]), status }
}

describe.each(formats.map((format) => format.id))('%s, hostile', (id) => {
  const hostile = presentCases(id).filter((each) => each.verdict === 'reject')

  it('answers every file with errors, within bounds', () => {
    const files = hostile.map((each) => fixturePath(id, each.file))
    const { lines, peak, status } = verifyAll(files)
    expect(lines.map((line) => join(line.file))).toEqual(files.map((file) => join(file)))
    for (const line of lines) expect(line.verdict, line.file).toBe('errors')
    expect(status).toBe(1)
    expect(peak).toBeGreaterThan(0)
    expect(peak).toBeLessThan(memoryLimit)
  })
})
