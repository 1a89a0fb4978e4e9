// Nobody is at the other end of a pipe, or nobody there does anything: then a signal must still end the process.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { useCompiled } from '../../cli/compiled.js'
import { useTempDir } from '../temp-dir.js'

const compiled = useCompiled()
const at = useTempDir()

/** Starts a program that does something with a pipe, and ends it by a signal a moment later. */
async function interrupt(work: string): Promise<number | null> {
  const program = `
    import { openInput, openOutput } from ${JSON.stringify(pathToFileURL(compiled('kit-node.js')).href)}
    process.on('SIGTERM', () => process.exit(143))
    const path = ${JSON.stringify(at('pipe'))}
    const going = (async () => { ${work} })()
    setTimeout(() => console.log('waits'), 300)
    await going
    console.log('done')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const [said] = await once(child.stdout, 'data')
  expect(String(said)).toBe('waits\n')
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), 5000)
  const [status] = await ended
  clearTimeout(late)
  return status
}

const writeMuch = `const sink = await openOutput(path); await sink.write(new Uint8Array(1 << 20)); await sink.close()`

describe.skipIf(process.platform === 'win32')('a signal ends', () => {
  test.each([
    ['a reader without a writer', `await openInput(path)`, undefined],
    ['a writer without a reader', writeMuch, undefined],
    ['a reader whose writer is idle', `await openInput(path)`, constants.O_RDWR],
    ['a writer whose reader is idle', writeMuch, constants.O_RDONLY + constants.O_NONBLOCK],
  ])('%s', async (_, work, other) => {
    execFileSync('mkfifo', [at('pipe')])
    const end = other === undefined ? undefined : openSync(at('pipe'), other)
    expect(await interrupt(work)).toBe(143)
    if (end !== undefined) closeSync(end)
  })
})

test.skipIf(process.platform === 'win32')(
  'what is written to a pipe arrives, whichever side opens it first',
  async () => {
    const { openOutput } = await import('../../../src/node/output.js')
    execFileSync('mkfifo', [at('pipe')])
    const bytes = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * i) >>> 5)
    const opening = openOutput(at('pipe'))
    const reader = spawn('sh', ['-c', `sleep 0.2; cat ${at('pipe')} > ${at('copy')}`])
    const ended = once(reader, 'exit')
    const sink = await opening
    for (let done = 0; done < bytes.length; done += 999_999) await sink.write(bytes.subarray(done, done + 999_999))
    await sink.close()
    await ended
    expect(Buffer.compare(readFileSync(at('copy')), bytes)).toBe(0)
  },
)
