import { execFileSync, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test, vi } from 'vitest'
import { useTempDir } from '../node/temp-dir.js'
import { useCompiled } from './compiled.js'

const at = useTempDir()
const compiled = useCompiled()
const version = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version

function tare(...args: string[]): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [compiled('cli/main.js'), ...args], { encoding: 'utf8' })
}

describe('version', () => {
  test.each(['--version', '-V'])('%s prints it and nothing else', (flag) => {
    expect(tare(flag)).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' })
  })

  test('--verbose says what it runs on', () => {
    const { status, stdout } = tare('--version', '--verbose')
    expect(status).toBe(0)
    expect(stdout).toContain(`tare ${version}\n`)
    expect(stdout).toContain(process.version)
    expect(stdout).toMatch(/sha256 +node:crypto/)
  })
})

test('wrong usage ends the process with status 2', () => {
  const { status, stdout, stderr } = tare('inspct', 'x')
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr).toBe("tare: unknown verb 'inspct'\n(Did you mean inspect?)\n")
})

test('an input that does not open ends it with status 1', () => {
  expect(tare('verify', 'there-is-no-such-file')).toMatchObject({ status: 1, stdout: '' })
})

test('digests to compare with come from standard input, too', () => {
  const model = join(import.meta.dirname, '../../examples/tiny-mlp.safetensors')
  const args = [compiled('cli/main.js'), 'hash', '--check', '-', model]
  const ran = spawnSync(process.execPath, args, { encoding: 'utf8', input: tare('hash', model).stdout })
  expect(ran).toMatchObject({ status: 0, stderr: '' })
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends it with status %i', async (signal, status) => {
  const child = spawn(process.execPath, [compiled('cli/main.js'), 'inspect', '-'], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  // More than a pipe holds: when it has gone through, the program is up and reading.
  await new Promise((resolve) => child.stdin.write(new Uint8Array(1 << 20), resolve))
  child.kill(signal)
  expect(await ended).toEqual([status, null])
})

test.skipIf(process.platform === 'win32').each([['inspect'], ['hash', 'x', '--check']])(
  'a pipe through which nothing comes can be given up (%s)',
  async (...args) => {
    execFileSync('mkfifo', [at('pipe')])
    const child = spawn(process.execPath, [compiled('cli/main.js'), ...args, at('pipe')], { stdio: 'ignore' })
    const ended = once(child, 'exit')
    // A pipe opens for writing at once only when somebody reads it: then the program is up.
    const isRead = () => openSync(at('pipe'), constants.O_WRONLY + constants.O_NONBLOCK)
    const writer = await vi.waitFor(isRead, { timeout: 20_000 })
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), 10_000)
    expect(await ended).toEqual([143, null])
    clearTimeout(late)
    closeSync(writer)
  },
)

test('Ctrl-C leaves no directory behind that was made for the output', async () => {
  const made = join(at('new'), 'deep')
  const code = `
    import { inNewDirectory } from ${JSON.stringify(pathToFileURL(compiled('cli/convert-place.js')))}
    import { installSignals } from ${JSON.stringify(pathToFileURL(compiled('cli/process-events.js')))}
    installSignals()
    await inNewDirectory(${JSON.stringify(made)}, () => {
      console.log('made')
      return new Promise(() => setInterval(() => {}, 1000))
    })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  expect(existsSync(made)).toBe(true)
  child.kill('SIGINT')
  expect(await ended).toEqual([130, null])
  expect(existsSync(at('new'))).toBe(false)
})

test('a reader that goes away is fine', () => {
  const command = `"${process.execPath}" "${compiled('cli/main.js')}" inspect --help | true; echo "status \${PIPESTATUS[0]}"`
  const { stdout, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8' })
  expect([stdout, stderr]).toEqual(['status 0\n', ''])
})
