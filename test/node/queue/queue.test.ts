// The queue with a real server on loopback, where one is installed: workers, the server and the submitter are killed, one hangs, inputs are
// damaged. The output has the SHA-256 of the single run, or the job stops with a finding.
import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseQueue } from '../../../src/node/queue/connection.js'
import { parseOutcome, parseTask } from '../../../src/node/queue/messages.js'
import { runCli as tare } from '../../cli/run-cli.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { useTempDir } from '../temp-dir.js'
import { ended, outcome, program, useQueue } from './real-queue.js'

const at = useTempDir()

const model = sampleModel([1, 2, 3, 4, 5, 6].map((i) => sampleTensor(`layer.${i}.weight`, 'f16', [2048, 1024], i)))
let bytes: Uint8Array
beforeAll(async () => {
  bytes = (await convertToFiles(model, 'safetensors', { name: 'm' })).get('m')!
})

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')
const flags = ['--to', 'npz', '--cast', 'f32', '-q']

const { address, command, worker, killServer, startServer } = useQueue(at)
const submit = (...more: string[]): ChildProcess =>
  command('convert', at('m.safetensors'), '-o', at('out'), '--workers', address(), ...flags, ...more)
const done = { status: 0, stdout: '', stderr: '' }

async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 2000 && !isSo(); i++) await setTimeout(10)
  expect(isSo()).toBe(true)
}

/** The parts that are there. */
function results(): number {
  const folder = readdirSync(at('.')).find((name) => name.includes('.job-'))
  return folder && existsSync(at(folder, 'results')) ? readdirSync(at(folder, 'results')).length : 0
}

describe.skipIf(!program)('a queue', () => {
  let wanted = ''
  beforeEach(async () => {
    writeFileSync(at('m.safetensors'), bytes)
    expect((await tare('convert', at('m.safetensors'), '-o', at('ref'), ...flags)).status).toBe(0)
    wanted = sha256(at('ref'))
  })

  it('has its workers make the bytes of the single run', async () => {
    const workers = [worker('--below', at('.')), worker()]
    const job = submit()
    expect(await outcome(job)).toEqual(done)
    expect(sha256(at('out'))).toBe(wanted)
    expect(workers.map(({ exitCode }) => exitCode)).toEqual([null, null])
    expect(readdirSync(at('.')).filter((name) => name.includes('.job-'))).toEqual([])
  }, 60_000)

  it('gives the task of a worker that was killed, or that hangs, to another one', async () => {
    const [first, second] = [worker(), worker()]
    const job = submit('--shard-size', '1GB')
    await until(() => results() > 0)
    first!.kill('SIGKILL')
    second!.kill('SIGSTOP')
    worker()
    expect(await outcome(job)).toEqual(done)
    expect(sha256(at('out'))).toBe(wanted)
    second!.kill('SIGCONT')
    await setTimeout(500)
    expect(sha256(at('out'))).toBe(wanted)
  }, 120_000)

  it('goes on when its server is killed and started again', async () => {
    worker()
    const job = submit()
    await until(() => results() > 0)
    await killServer()
    await setTimeout(500)
    startServer()
    expect(await outcome(job)).toEqual(done)
    expect(sha256(at('out'))).toBe(wanted)
  }, 120_000)

  it('finishes what another submitter began', async () => {
    worker()
    const job = submit()
    await until(() => results() > 0)
    job.kill('SIGKILL')
    await ended(job)
    expect(existsSync(at('out'))).toBe(false)
    expect(await outcome(submit())).toEqual(done)
    expect(sha256(at('out'))).toBe(wanted)
  }, 60_000)

  it('stops with what a worker found, and shows no secret', async () => {
    worker()
    const npz = (await convertToFiles(model, 'npz', { name: 'm' })).get('m')!
    npz[npz.length >> 1]! ^= 1
    writeFileSync(at('m.npz'), npz)
    const job = command('convert', at('m.npz'), '-o', at('bad.safetensors'), '--workers', address())
    const { status, stderr } = await outcome(job)
    expect([status, stderr]).toEqual([1, expect.stringContaining('verify/damaged')])
    expect(stderr).not.toContain('hunter2')
    expect(existsSync(at('bad.safetensors'))).toBe(false)
  }, 60_000)

  it('is not served beyond what a worker may touch', async () => {
    worker('--below', join(at('.'), 'elsewhere'))
    const { status, stderr } = await outcome(submit())
    expect([status, stderr]).toEqual([2, expect.stringContaining('not below what this worker may touch')])
  }, 60_000)

  it('that lets nobody in says so without the password', async () => {
    const { status, stderr } = await tare('worker', `${address().replace('hunter2', 'user:wrong')}`)
    expect([status, stderr]).toEqual([2, expect.stringContaining('job/queue')])
    expect(stderr).not.toContain('wrong@')
  })
})

it('addresses are shown without what is secret', () => {
  expect(parseQueue('nats://a:b@host')).toEqual({
    name: 'nats://host:4222',
    settings: { servers: 'host:4222', user: 'a', pass: 'b' },
  })
  expect(parseQueue('tls://tok%2Fen@host:1').settings).toEqual({ servers: 'host:1', token: 'tok/en', tls: {} })
  for (const address of ['http://secret@host', 'host', 'nats://', 'nats://%zz@host', ''])
    expect(() => parseQueue(address)).toThrow(/address of a queue/)
})

it.each([
  '',
  '{}',
  '[]',
  'null',
  '{"job":"x","address":"a","task":1}',
  '{"job":"0123456789abcdef","address":"a","task":-1}',
])('a message %j is none of ours', (text) => {
  expect(parseTask(text)).toBeUndefined()
  expect(parseOutcome(text)).toBeUndefined()
})
