// A real server on loopback with workers and submitters as processes, where one is installed.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach } from 'vitest'
import { useCompiled } from '../../cli/compiled.js'

export const program = ['nats-server', '/usr/sbin/nats-server'].find(
  (path) => spawnSync(path, ['--version']).status === 0,
)

export interface Ran {
  readonly status: string | number | null
  readonly stdout: string
  readonly stderr: string
}

/** `at` is a folder for each test. */
export function useQueue(at: (...names: string[]) => string) {
  const dist = useCompiled()
  const children = new Set<ChildProcess>()
  let port = 0
  let server: ChildProcess
  const start = (path: string, ...args: string[]): ChildProcess => {
    const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    children.add(child)
    child.stderr!.setEncoding('utf8')
    child.stdout!.setEncoding('utf8')
    child.stdout!.resume()
    return child
  }
  const startServer = (): void => {
    server = start(program!, '-a', '127.0.0.1', '-p', `${port}`, '-js', '-sd', at('queue'), '--auth', 'hunter2')
  }
  const address = (): string => `nats://hunter2@127.0.0.1:${port}`
  const command = (...args: string[]): ChildProcess => start(process.execPath, dist('cli', 'main.js'), ...args)
  beforeEach(async () => {
    if (!program) return
    port = await freePort()
    startServer()
    await setTimeout(300)
  })
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL')
    children.clear()
  })
  return {
    address,
    command,
    startServer,
    worker: (...more: string[]): ChildProcess => command('worker', address(), '--threads', '1', ...more),
    async killServer() {
      server.kill('SIGKILL')
      await ended(server)
    },
    /** A command with `--workers`, to its end. */
    run(...args: string[]): Promise<Ran> {
      return outcome(command(...args, '--workers', address()))
    },
  }
}

export function outcome(child: ChildProcess): Promise<Ran> {
  let [stdout, stderr] = ['', '']
  child.stdout!.on('data', (text) => {
    stdout += text
  })
  child.stderr!.on('data', (text) => {
    stderr += text
  })
  return new Promise((resolve) =>
    child.on('close', (status, signal) => resolve({ status: signal ?? status, stdout, stderr })),
  )
}

export const ended = (child: ChildProcess): Promise<string | number | null> =>
  new Promise((resolve) => child.on('exit', (status, signal) => resolve(signal ?? status)))

export async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}
