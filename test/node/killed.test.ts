import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { useCompiled } from '../cli/compiled.js'
import { useTempDir } from './temp-dir.js'

const compiled = useCompiled()
const at = useTempDir()

/** Runs a program that writes half of an output and then does what `end` says. */
async function writeHalf(end: string, signal?: NodeJS.Signals): Promise<number | null> {
  const script = `
    import { FileSink } from ${JSON.stringify(pathToFileURL(compiled('node/files/file-sink.js')).href)}
    const sink = await FileSink.open(${JSON.stringify(at('out'))})
    const other = await sink.sibling('other')
    await other.write(new Uint8Array(10))
    await other.close()
    await sink.write(new Uint8Array(3_000_000).fill(1))
    console.log('half')
    ${end}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  if (signal) child.kill(signal)
  const [status] = await ended
  return status
}

test('a process that is killed leaves the target as it was, and only hidden temporary files', async () => {
  writeFileSync(at('out'), 'old')
  expect(await writeHalf('setInterval(() => {}, 1000)', 'SIGKILL')).toBe(null)
  expect(readFileSync(at('out'), 'utf8')).toBe('old')
  const others = readdirSync(at()).filter((name) => name !== 'out')
  expect(others).toHaveLength(2)
  for (const name of others) expect(name).toMatch(/^\.(out|other)\.\d+-[0-9a-f]{8}-[0-9a-f]{8}\.tare-tmp$/)
})

test.each(['process.exit(3)', 'throw new Error("oops")'])('a process that ends by %s leaves nothing', async (end) => {
  writeFileSync(at('out'), 'old')
  expect(await writeHalf(end)).toBeGreaterThan(0)
  expect(readdirSync(at())).toEqual(['out'])
  expect(readFileSync(at('out'), 'utf8')).toBe('old')
})
