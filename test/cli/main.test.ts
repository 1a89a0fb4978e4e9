import { execFileSync, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, existsSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
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
  test.each(['--version', '-V', '-v'])('%s prints it and nothing else', (flag) => {
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

test('an input that is not there ends it with status 2', () => {
  expect(tare('verify', 'there-is-no-such-file')).toMatchObject({ status: 2, stdout: '' })
})

test.skipIf(process.platform !== 'linux')('a file whose name is not UTF-8 is read, and not edited in place', () => {
  const sample = join(import.meta.dirname, '../../examples/tiny-mlp.safetensors')
  const run = (words: string) => {
    const script = `name="$(printf '${at('caf\\351.safetensors')}')"; cp "${sample}" "$name"; "$0" "$1" ${words}`
    return spawnSync('sh', ['-c', script, process.execPath, compiled('cli/main.js')], { encoding: 'utf8' })
  }
  expect(run('hash "$name"')).toMatchObject({ status: 0, stdout: expect.stringContaining('layers.0.weight') })
  expect(run('verify "$name"')).toMatchObject({ status: 0 })
  expect(run(`convert "$name" -o ${at('x.gguf')}`)).toMatchObject({ status: 0 })
  expect(run('edit "$name" --set a=b')).toMatchObject({ status: 2, stderr: expect.stringContaining('-o FILE') })
  expect(readdirSync(at()).map((name) => name.replace('\ufffd', '?'))).toEqual(['caf?.safetensors', 'x.gguf'])
})

test('digests to compare with come from standard input, too', () => {
  const model = join(import.meta.dirname, '../../examples/tiny-mlp.safetensors')
  const args = [compiled('cli/main.js'), 'hash', '--check', '-', model]
  const ran = spawnSync(process.execPath, args, { encoding: 'utf8', input: tare('hash', model).stdout })
  expect(ran).toMatchObject({ status: 0, stderr: '' })
})

test.each([['SIGINT'], ['SIGTERM']] as const)('%s ends it while it reads', async (signal) => {
  const child = spawn(process.execPath, [compiled('cli/main.js'), 'inspect', '-'], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  // More than a pipe holds: when it has gone through, the program is up and reading.
  await new Promise((resolve) => child.stdin.write(new Uint8Array(1 << 20), resolve))
  child.kill(signal)
  expect(await ended).toEqual([null, signal])
})

test.each([['SIGINT'], ['SIGTERM']] as const)('%s ends it in the middle of a long computation', async (signal) => {
  const code = `
    import { installSignals, onEarlyExit } from ${JSON.stringify(pathToFileURL(compiled('cli/console/process-events.js')))}
    installSignals({ progress: {} })
    onEarlyExit(() => {})() // something to clean up, which is done
    console.log('up')
    for (const end = Date.now() + 60_000; Date.now() < end; );`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  child.kill(signal)
  expect(await ended).toEqual([null, signal])
})

test('output that is cut off is not fine', async () => {
  const model = join(import.meta.dirname, '../../examples/tiny-mlp.safetensors')
  const cut = (command: string): number | null =>
    spawnSync('bash', ['-c', `${command} | head -c 1 > /dev/null; exit \${PIPESTATUS[0]}`]).status
  const large = at('large.npy')
  writeFileSync(large, npyOfZeros(8 << 20))
  const tareIs = `${process.execPath} ${compiled('cli/main.js')}`
  expect(cut(`${tareIs} convert ${large} --to safetensors -o -`)).toBe(2)
  expect(cut(`${tareIs} extract ${large} large -o -`)).toBe(2)
  expect(cut(`${tareIs} inspect ${model}`)).toBe(0)
})

function npyOfZeros(count: number): Uint8Array {
  const header = `{'descr': '|u1', 'fortran_order': False, 'shape': (${count},), }`.padEnd(117).concat('\n')
  const bytes = new Uint8Array(128 + count)
  bytes.set([0x93, ...Buffer.from('NUMPY'), 1, 0, 118, 0])
  bytes.set(Buffer.from(header), 10)
  return bytes
}

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
    expect(await ended).toEqual([null, 'SIGTERM'])
    clearTimeout(late)
    closeSync(writer)
  },
)

test('Ctrl-C leaves no directory behind that was made for the output', async () => {
  const made = join(at('new'), 'deep')
  const code = `
    import { writingTo } from ${JSON.stringify(pathToFileURL(compiled('cli/output/output.js')))}
    import { installSignals } from ${JSON.stringify(pathToFileURL(compiled('cli/console/process-events.js')))}
    installSignals({ progress: { interrupt() {} } })
    await writingTo({ json: true }, [${JSON.stringify(join(made, 'x.gguf'))}], () => {
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
