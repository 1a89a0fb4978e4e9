// Verbs that only read, with the workers of a real queue on loopback: the output is that of the local run, byte for byte. Workers and the server
// are killed, files change, and messages are not what they should be.
import { readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { bytesPayload } from '../../../src/model/index.js'
import { nextAnswer } from '../../../src/node/queue/answers.js'
import { openQueue, openTasks } from '../../../src/node/queue/connection.js'
import { Looks } from '../../../src/node/queue/look.js'
import { parseLook } from '../../../src/node/queue/messages.js'
import { fromPlain, toPlain, Unsendable } from '../../../src/node/queue/plain.js'
import { runCli as tare } from '../../cli/run-cli.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { useTempDir } from '../temp-dir.js'
import { ended, program, useQueue } from './real-queue.js'

const at = useTempDir()
const files = new Map<string, Uint8Array>()
const model = (seed: number) =>
  sampleModel(
    [1, 2, 3, 4, 5, 6].map((i) => ({
      ...sampleTensor(`layer.${i}.weight`, 'f32', [1], i),
      ...{ shape: [1024, 1024], data: bytesPayload(finite(i * seed)) },
    })),
  )

function finite(seed: number): Uint8Array {
  const values = new Float32Array(1 << 20)
  for (let i = 0; i < values.length; i++) values[i] = ((i * seed * 7919) % 100_003) / 50_000 - 1
  return new Uint8Array(values.buffer)
}

beforeAll(async () => {
  const forms: [string, string, number, object][] = [
    ['a.safetensors', 'safetensors', 1, {}],
    ['b.safetensors', 'safetensors', 7, {}],
    ['a.npz', 'npz', 1, {}],
    ['a.aero', 'aero', 1, { deterministic: true }],
    ['a.gguf', 'gguf', 1, { quantize: { method: 'q8_0' } }],
    ['set.safetensors', 'safetensors', 1, { shardSize: 9 << 20 }],
  ]
  const models = new Map([1, 7].map((seed) => [seed, model(seed)]))
  for (const [name, format, seed, options] of forms)
    for (const [file, bytes] of await convertToFiles(models.get(seed)!, format, { name, ...options }))
      files.set(file, bytes)
}, 60_000)

const write = (): void => {
  for (const [name, bytes] of files) writeFileSync(at(name), bytes)
}
const index = (): string => [...files.keys()].find((name) => name.endsWith('.index.json'))!

describe.skipIf(!program)('the workers of a queue', () => {
  const queue = useQueue(at)
  /** How many messages workers have left. */
  const answers = async (): Promise<number> => {
    const own = await openQueue(queue.address())
    const next = await nextAnswer(own)
    await own.close()
    return next - 1
  }

  it('give the answers of the local run', async () => {
    write()
    queue.worker('--below', at('.'))
    queue.worker()
    const commands = [
      ['hash', 'a.safetensors'],
      ['hash', '--json', '--algorithm', 'sha256', index()],
      ['hash', '--decoded', 'a.gguf'],
      ['verify', '--json', 'a.aero'],
      ['verify', 'a.npz'],
      ['stats', '--json', 'a.gguf'],
      ['stats', 'a.safetensors'],
      ['diff', '--json', 'a.safetensors', 'b.safetensors'],
      ['diff', 'a.safetensors', 'a.gguf'],
      ['diff', '--tolerance', '1e-2', 'a.npz', 'a.gguf'],
      ['diff', index(), 'a.aero'],
    ]
    for (const args of commands) {
      const placed = args.map((word) => (files.has(word) ? at(word) : word))
      const local = await tare(...placed)
      const { status, stdout } = await queue.run(...placed)
      expect([args, status, stdout]).toEqual([args, local.status, local.stdout])
    }
    expect(await answers()).toBeGreaterThan(commands.length)
  }, 600_000)

  it('find the damage that a local run finds', async () => {
    write()
    for (const name of ['a.npz', 'a.aero']) {
      const bytes = readFileSync(at(name))
      bytes[bytes.length >> 1]! ^= 1
      writeFileSync(at(name), bytes)
    }
    queue.worker()
    for (const name of ['a.npz', 'a.aero']) {
      const local = await tare('verify', '--json', at(name))
      const { status, stdout } = await queue.run('verify', '--json', at(name))
      expect([status, stdout]).toEqual([1, local.stdout])
    }
  }, 60_000)

  it('may be killed, and so may the server', async () => {
    write()
    const local = await tare('stats', at('a.safetensors'), at('b.safetensors'), at('a.gguf'))
    const asking = queue.run('stats', at('a.safetensors'), at('b.safetensors'), at('a.gguf'))
    const own = await openQueue(queue.address())
    const pending = async (): Promise<number> => (await openTasks(own)).num_pending
    while ((await pending()) === 0) await setTimeout(20)
    const first = queue.worker()
    while ((await pending()) > 3) await setTimeout(5)
    first.kill('SIGKILL')
    await own.close()
    await queue.killServer()
    await setTimeout(300)
    queue.startServer()
    queue.worker()
    expect(await asking).toMatchObject({ status: 0, stdout: local.stdout })
  }, 120_000)

  it('do the looks that a plan depends on', async () => {
    write()
    queue.worker()
    for (const [name, flags] of [
      ['out.mcf', ['--quantize', 'q8']],
      ['out.safetensors', ['--dedup']],
    ] as const) {
      expect((await tare('convert', at('a.safetensors'), '-o', at(`ref-${name}`), '-q', ...flags)).status).toBe(0)
      const { status } = await queue.run('convert', at('a.safetensors'), '-o', at(name), '-q', ...flags)
      expect([name, status]).toEqual([name, 0])
      expect(readFileSync(at(name)).equals(readFileSync(at(`ref-${name}`)))).toBe(true)
    }
    expect(await answers()).toBeGreaterThanOrEqual(10)
  }, 120_000)

  it('touch nothing beyond what they may, and say so', async () => {
    write()
    queue.worker('--below', join(at('.'), 'elsewhere'))
    const { status, stderr } = await queue.run('hash', at('a.safetensors'))
    expect([status, stderr]).toEqual([2, expect.stringContaining('not below what this worker may touch')])
    expect(stderr).not.toContain('hunter2')
  }, 60_000)

  it('are not told of addresses with a password', async () => {
    const { status, stderr } = await queue.run('hash', 'https://user:pw@127.0.0.1:1/m.safetensors')
    expect(status).toBe(2)
    expect(stderr).not.toContain('pw@')
  })

  it('end with the submitter, but for what they are doing', async () => {
    write()
    const submitter = queue.command('hash', at('a.safetensors'), '--workers', queue.address())
    await setTimeout(1500)
    submitter.kill('SIGKILL')
    await ended(submitter)
    queue.worker()
    const local = await tare('hash', at('a.safetensors'))
    expect(await queue.run('hash', at('a.safetensors'))).toMatchObject({ status: 0, stdout: local.stdout })
  }, 60_000)
})

describe('a look', () => {
  const looks = () =>
    new Looks({
      open: () => Promise.reject(new Error('must not be opened')),
      assertAllowed() {},
    })
  const job = '0123456789abcdef'

  it.each([
    ['slice', {}],
    ['toString', {}],
    ['digest', null],
    ['digest', { handle: { kind: 'descriptor', name: 'x', size: 1, descriptor: 0 }, ranges: [] }],
    ['digest', { handle: { kind: 'shared', name: 'x', size: -1, address: 'x', steps: [] }, ranges: [] }],
    ['digest', { handle: { kind: 'shared', name: 'x', size: 1, address: 'x', steps: [['close', '']] }, ranges: [] }],
    ['stats', { tensor: { name: 'w', dtype: 'f32', shape: [1.5], order: 'row', data: {} } }],
    ['compare', { a: 1, b: 2, slices: [] }],
  ])('%s of %j is refused before anything is opened', async (kind, data) => {
    await expect(looks().look({ job, task: 0, kind, data })).rejects.toMatchObject({ code: 'job/invalid' })
  })

  it('is about the file as it was when it was asked for', async () => {
    const { openInput } = await import('../../../src/node/input.js')
    writeFileSync(at('x'), 'abcdefgh')
    const own = new Looks({ open: (address) => openInput(address), assertAllowed() {} })
    const source = await openInput(at('x'))
    const handle = { kind: 'shared', name: 'x', size: 8, address: at('x'), steps: [], version: source.version }
    const data = { handle, ranges: [{ start: 0, end: 8, algorithm: 'crc32' }] }
    const { answer, bytes } = await own.look({ job, task: 0, kind: 'digest', data })
    expect([bytes, Buffer.from(answer as Uint8Array).readUInt32BE(0)]).toEqual([8, 0xaeef2a50])
    utimesSync(at('x'), 1, 1)
    await expect(own.look({ job, task: 1, kind: 'digest', data })).rejects.toMatchObject({
      code: expect.stringMatching(/changed/),
    })
    await own.close()
    await source.close()
  })

  it('travels as it is', () => {
    const value = { a: [1, -0, Number.NaN, -Infinity], b: new Uint8Array([1, 2]), c: new Float32Array([0.5]), d: null }
    expect(fromPlain(JSON.parse(JSON.stringify(toPlain(value))))).toEqual(value)
    expect(() => toPlain({ handle: { kind: 'descriptor', descriptor: 3 } })).toThrow(Unsendable)
    expect(() => fromPlain({ $: 'floats', value: 'AAA=' })).toThrow()
    expect(parseLook('{"job":"x","task":0,"kind":"digest","data":{}}')).toBeUndefined()
  })
})
