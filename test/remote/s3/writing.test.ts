// Object stores as outputs, through the command line: the bytes that appear, what moves for them, and what failures leave behind.
import { readFileSync, writeFileSync } from 'node:fs'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { closeModel, type Model, openModel, planConversion, runConversion, TareError } from '../../../src/kit.js'
import { guardedFetch } from '../../../src/node/remote/guarded-fetch.js'
import { S3Client } from '../../../src/remote/s3/client.js'
import { openObject } from '../../../src/remote/s3/object.js'
import { S3Sink } from '../../../src/remote/s3/sink.js'
import { useTempDir } from '../../node/temp-dir.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { useEnvironment } from './command.js'
import { bytesOf } from './content.js'
import { type Fault, type Operation, useS3 } from './server.js'

const at = useTempDir()
const server = useS3()
const tare = useEnvironment(server, at)

const MiB = 2 ** 20
const model = sampleModel([
  ...[1, 2, 3, 4].map((i) => sampleTensor(`layer.${i}.weight`, 'f32', [1536, 1024], i)),
  sampleTensor('norm', 'f32', [1027], 9),
])
let bytes: Uint8Array
beforeAll(async () => {
  const files = await convertToFiles(model, 'safetensors', { name: 'model.safetensors', deterministic: true })
  bytes = files.get('model.safetensors')!
})
beforeEach(() => {
  server.put('model.safetensors', bytes)
  writeFileSync(at('model.safetensors'), bytes)
})

const stored = (key: string): Buffer => bytesOf(server.objects.get(key)!.content)
const moved = (way: 'in' | 'out'): number => server.seen.reduce((sum, seen) => sum + seen[way], 0)
const count = (operation: Operation): number => server.seen.filter((seen) => seen.operation === operation).length

describe.each(['aws', 'ceph'] as const)('an output in a store like %s', (kind) => {
  beforeEach(() => {
    server.kind = kind
  })

  it.each(['gguf', 'safetensors', 'npz', 'aero', 'mcf', 'oinf', 'embd'])(
    'in %s has the bytes that a file has',
    async (to) => {
      const options = ['--to', to, '--deterministic', '--as-is', '--allow-loss', '-q']
      expect((await tare('convert', at('model.safetensors'), '-o', at('out'), ...options)).status).toBe(0)
      const ran = await tare('convert', at('model.safetensors'), '-o', 's3://models/dir/out', ...options)
      expect([ran.status, ran.stderr]).toEqual([0, ''])
      expect(Buffer.compare(stored('dir/out'), readFileSync(at('out')))).toBe(0)
      expect([server.uploads.size, count('create'), count('complete')]).toEqual([0, 1, 1])
    },
  )

  it('of several files appears with its main file last', async () => {
    const ran = await tare('convert', at('model.safetensors'), '-o', 's3://models/set/', '--shard-size', '13MB', '-q')
    expect([ran.status, ran.stderr]).toEqual([0, ''])
    expect((await tare('diff', at('model.safetensors'), 's3://models/set/')).status).toBe(0)
    const last = server.seen.filter(({ operation }) => operation === 'complete' || operation === 'put').at(-1)!
    expect(last.key).toBe('set/model.safetensors.index.json')
  })

  it('gets unchanged ranges by copies in the store', async () => {
    const ran = await tare('convert', 's3://models/model.safetensors', '-o', 's3://models/out.gguf', '--as-is')
    expect(ran.status).toBe(0)
    expect(ran.stderr).toContain('19.0 MiB copied by the store, 5.00 MiB uploaded')
    expect([moved('in') < 5.1 * MiB, moved('out') < 5.3 * MiB]).toEqual([true, true])
    expect((await tare('convert', at('model.safetensors'), '-o', at('out.gguf'), '--as-is')).status).toBe(0)
    expect(Buffer.compare(stored('out.gguf'), readFileSync(at('out.gguf')))).toBe(0)
  })

  it('does not appear when what it is copied from changes', async () => {
    server.fault = ({ operation }) => {
      if (operation === 'copy') server.put('model.safetensors', bytes.slice().fill(1, 1000, 2000))
      return undefined
    }
    const ran = await tare('convert', 's3://models/model.safetensors', '-o', 's3://models/out.gguf', '--as-is')
    expect([ran.status > 0, ran.stderr.includes('remote/changed')], ran.stderr).toEqual([true, true])
    expect([server.objects.has('out.gguf'), server.uploads.size]).toEqual([false, 0])
  })

  it('that is there is not replaced with --no-overwrite', async () => {
    server.put('out.gguf', Buffer.from('mine'))
    const options = ['-o', 's3://models/out.gguf', '--as-is', '--no-overwrite']
    const ran = await tare('convert', at('model.safetensors'), ...options)
    expect([ran.status, ran.stderr.includes('io/exists')]).toEqual([2, true])
    expect(stored('out.gguf').toString()).toBe('mine')
    // Somebody else is faster.
    server.objects.delete('out.gguf')
    server.fault = ({ operation }) => {
      if (operation === 'part') server.put('out.gguf', Buffer.from('theirs'))
      return undefined
    }
    expect((await tare('convert', at('model.safetensors'), ...options)).status).toBe(2)
    expect([stored('out.gguf').toString(), server.uploads.size]).toEqual(['theirs', 0])
  })

  it('is edited where it is', async () => {
    const foreseen = await tare('edit', 's3://models/model.safetensors', '--set', 'note=new', '--dry-run')
    expect(foreseen.stdout).toContain('would be rewritten, 24.0 MiB: 19.0 MiB copied by the store, 5.00 MiB uploaded')
    server.seen.length = 0
    const ran = await tare('edit', 's3://models/model.safetensors', '--set', 'note=new', '--json')
    expect(JSON.parse(ran.stdout)).toMatchObject({ how: 'rewritten', output: 's3://models/model.safetensors' })
    expect(moved('in')).toBeLessThan(5.1 * MiB)
    expect((await tare('edit', at('model.safetensors'), '--set', 'note=new')).status).toBe(0)
    expect((await tare('diff', at('model.safetensors'), 's3://models/model.safetensors')).status).toBe(0)
  })
})

describe('an object of ten gigabytes', () => {
  it.each(['edit', 'rename'])(
    'moves less than 20 MB for an %s',
    async (how) => {
      const [rows, columns] = [65_536, 8192]
      const size = rows * columns * 2
      const names = Array.from({ length: 10 }, (_, i) => `layer.${i}.weight`)
      const header = names.map((name, i) => [
        name,
        { dtype: 'F16', shape: [rows, columns], data_offsets: [i * size, (i + 1) * size] },
      ])
      const text = JSON.stringify(Object.fromEntries(header))
      const length = Buffer.alloc(8)
      length.writeUInt32LE(text.length)
      server.put('big.safetensors', length, Buffer.from(text), { zeros: 10 * size })
      const change = how === 'edit' ? ['--set', 'note=words'] : ['--rename-tensor', 'layer.3.weight=other.name']
      const ran = await tare('edit', 's3://models/big.safetensors', ...change)
      expect([ran.status, ran.stderr.includes('10.0 GiB copied by the store, 5.00 MiB uploaded')], ran.stderr).toEqual([
        0,
        true,
      ])
      expect(moved('in') + moved('out')).toBeLessThan(20_000_000)
      expect(server.objects.get('big.safetensors')!.content.size).toBeGreaterThan(10 * size)
      const shown = await tare('inspect', 's3://models/big.safetensors', '--all')
      expect(shown.stdout).toContain(how === 'edit' ? 'words' : 'other.name')
    },
    60_000,
  )
})

describe('a request of an upload that fails', () => {
  const small = sampleModel([1, 2].map((i) => sampleTensor(`layer.${i}.weight`, 'f32', [1408, 1024], i)))
  beforeAll(async () => {
    smallBytes = (await convertToFiles(small, 'safetensors', { name: 'small' })).get('small')!
  })
  let smallBytes: Uint8Array

  /** Reads from the store and writes to it, with a checksum before the data and, for another format, with copies. */
  async function run(to: string): Promise<unknown> {
    const credentials = { accessKeyId: 'AKID', secretAccessKey: 'S3CR3T' }
    // What takes longer than these counts as silence.
    const waiting = { backoff: 1, idleTimeout: 2000, uploadRate: 10 * MiB }
    const client = new S3Client('models', { endpoint: server.endpoint, credentials, ...waiting })
    let opened: Model | undefined
    try {
      opened = await openModel(await openObject(client, 'small'))
      const conversion = await planConversion(opened, to, { name: 'out', deterministic: true })
      await runConversion(conversion, () => S3Sink.open(client, 'out'))
      return undefined
    } catch (error) {
      if (!(error instanceof TareError)) throw error
      return error.code
    } finally {
      if (opened) await closeModel(opened)
    }
  }

  const faults: readonly Fault[] = [
    ...(['reset', '500', 'slow-down', 'lost-answer', 'clock-skew', 'short-body', 'mute'] as const),
    ...(['wrong-range', 'changed-etag', 'expired-token', 'denied', 'region'] as const),
  ]
  it.each(faults)(
    'with %s ends with the object, or with a finding and nothing',
    async (fault) => {
      server.put('small', smallBytes)
      const isTriedAgain = ['reset', '500', 'slow-down', 'lost-answer', 'mute'].includes(fault)
      for (const to of ['reset', 'lost-answer', 'changed-etag'].includes(fault) ? ['aero', 'gguf'] : ['gguf']) {
        server.seen.length = 0
        expect(await run(to)).toBeUndefined()
        const truth = stored('out')
        const total = server.seen.length
        for (let turn = 0; turn < total; turn++) {
          server.objects.delete('out')
          server.seen.length = 0
          server.fault = (_, index) => (index === turn ? fault : undefined)
          const code = await run(to)
          server.fault = () => undefined
          if (isTriedAgain) expect([turn, code]).toEqual([turn, undefined])
          if (code === undefined) expect(Buffer.compare(stored('out'), truth), `request ${turn}`).toBe(0)
          else
            expect([server.objects.has('out'), /^(remote|io|aero)\//.test(String(code))], `${code}`).toEqual([
              false,
              true,
            ])
          // If the answer to the creation is lost, nobody knows the upload that it was about.
          const isUnknown = fault === 'lost-answer' && server.uploads.size === 1
          expect(isUnknown || server.uploads.size === 0, `request ${turn}: ${code}`).toBe(true)
          server.uploads.clear()
        }
      }
    },
    120_000,
  )
})

describe('an upload to a bucket in another region, with the guarded fetch', () => {
  const credentials = { accessKeyId: 'AKID', secretAccessKey: 'S3CR3T' }

  async function upload(): Promise<void> {
    const options = { endpoint: server.endpoint, credentials, backoff: 1, fetch: guardedFetch }
    const client = new S3Client('models', options)
    const conversion = await planConversion(model, 'safetensors', { name: 'out', deterministic: true })
    await runConversion(conversion, () => S3Sink.open(client, 'out'))
  }

  beforeEach(() => {
    server.region = 'ap-south-1'
  })

  it('keeps the method and the body of each request', async () => {
    await upload()
    expect(Buffer.compare(stored('out'), bytes)).toBe(0)
    expect([count('create') > 0, count('part') > 1, count('complete'), count('get')]).toEqual([true, true, 1, 0])
    expect(moved('in')).toBeGreaterThan(bytes.byteLength)
  })

  it('is withdrawn where the store refuses a part', async () => {
    server.fault = ({ operation }) => (operation === 'part' ? 'denied' : undefined)
    await expect(upload()).rejects.toMatchObject({ code: expect.stringMatching(/^remote\//) })
    expect([server.objects.has('out'), server.uploads.size, count('abort') > 0]).toEqual([false, 0, true])
  })
})

describe('an address that cannot be written', () => {
  it.each([
    ['s3://models/model.safetensors', 'the input itself'],
    ['https://example.org/x.gguf', 'a file, an s3 or a gs address can be written'],
    ['hf://lab/tiny/x.gguf', 'a file, an s3 or a gs address can be written'],
    ['s3://none-such/x.gguf', 'NoSuchBucket'],
    ['az://container/x.gguf', 'az addresses are not opened'],
  ])('%s', async (output, words) => {
    const to = ['--to', 'gguf', '--as-is']
    const { status, stderr } = await tare('convert', 's3://models/model.safetensors', '-o', output, ...to)
    expect([status, stderr.includes(words)], stderr).toEqual([2, true])
    expect(server.uploads.size).toBe(0)
  })
})
