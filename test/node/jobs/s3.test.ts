// Jobs whose output is in an object store: parts of a multipart upload from several workers, copies for what is unchanged, and a finisher that
// can be killed. Compared by SHA-256 with what the single run writes.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useEnvironment } from '../../remote/s3/command.js'
import { bytesOf } from '../../remote/s3/content.js'
import { type Operation, useS3 } from '../../remote/s3/server.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { useTempDir } from '../temp-dir.js'

const at = useTempDir()
const server = useS3()
const tare = useEnvironment(server, at)

const MiB = 2 ** 20
const model = sampleModel([
  ...[1, 2, 3, 4].map((i) => sampleTensor(`layer.${i}.weight`, 'f32', [3072, 1024], i)),
  sampleTensor('norm', 'f32', [1027], 9),
])
let bytes: Uint8Array
beforeAll(async () => {
  bytes = (await convertToFiles(model, 'safetensors', { name: 'm', deterministic: true })).get('m')!
})
beforeEach(() => {
  server.put('model.safetensors', bytes)
  writeFileSync(at('model.safetensors'), bytes)
})

const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex')
const stored = (key: string): string => sha256(bytesOf(server.objects.get(key)!.content))
const count = (operation: Operation): number => server.seen.filter((seen) => seen.operation === operation).length

async function make(input: string, output: string, ...flags: string[]): Promise<void> {
  const job = at('job.json')
  const planned = await tare('plan', input, output, '-o', job, '-q', ...flags)
  expect([planned.status, planned.stderr]).toEqual([0, ''])
  for (const part of ['2/2', '1/2']) {
    expect((await tare('finish', job, '-q')).status).toBe(1)
    const worked = await tare('work', job, '--part', part, '-q')
    expect([worked.status, worked.stderr]).toEqual([0, ''])
  }
  expect(JSON.parse((await tare('status', job, '--json')).stdout)).toMatchObject({ state: 'ready', missing: [] })
}

async function finish(): Promise<void> {
  const finished = await tare('finish', at('job.json'), '-q')
  expect([finished.status, finished.stderr]).toEqual([0, ''])
  expect(JSON.parse((await tare('status', at('job.json'), '--json')).stdout)).toMatchObject({ state: 'finished' })
}

describe.each(['aws', 'ceph'] as const)('a job in a store like %s', (kind) => {
  beforeEach(() => {
    server.kind = kind
  })

  it.each([
    ['gguf', ['--as-is']],
    ['safetensors', ['--cast', 'f16']],
    ['npz', []],
    ['aero', ['--deterministic', '--page-hashes']],
    ['gguf', ['--as-is', '--dequantize', '--cast', 'bf16']],
  ] as const)('in %s with %j has the bytes of the single run', async (to, flags) => {
    const options = ['--to', to, '--allow-loss', ...flags]
    expect((await tare('convert', at('model.safetensors'), '-o', at('out'), '-q', ...options)).status).toBe(0)
    await make('s3://models/model.safetensors', 's3://models/dir/out', '--part-size', '6M', ...options)
    expect(server.objects.has('dir/out')).toBe(false)
    await finish()
    expect(stored('dir/out')).toBe(sha256(readFileSync(at('out'))))
    expect([...server.objects.keys()].sort()).toEqual(['dir/out', 'model.safetensors'])
    expect(server.uploads.size).toBe(0)
  })

  it('copies what is unchanged inside the store', async () => {
    await make('s3://models/model.safetensors', 's3://models/out.gguf', '--as-is')
    expect(count('copy')).toBeGreaterThan(0)
    const uploaded = server.seen.reduce((sum, seen) => sum + (seen.operation === 'part' ? seen.in : 0), 0)
    expect(uploaded).toBeLessThan(8 * MiB)
    await finish()
    await tare('convert', at('model.safetensors'), '-o', at('out.gguf'), '--as-is', '-q')
    expect(stored('out.gguf')).toBe(sha256(readFileSync(at('out.gguf'))))
  })

  it('of several files gets all of them, the main one last', async () => {
    await make(at('model.safetensors'), 's3://models/set/', '--shard-size', '20MB')
    await finish()
    expect((await tare('diff', at('model.safetensors'), 's3://models/set/')).status).toBe(0)
    const last = server.seen.filter(({ operation }) => operation === 'complete').at(-1)!
    expect(last.key).toBe('set/model.safetensors.index.json')
  })

  it('stops when an object that it is made from changes', async () => {
    await make('s3://models/model.safetensors', 's3://models/out.gguf', '--as-is')
    server.put('model.safetensors', bytes.slice().fill(1, 1_000_000, 2_000_000))
    const finished = await tare('finish', at('job.json'))
    expect([finished.status, finished.stderr]).toEqual([2, expect.stringContaining('job/input-changed')])
    expect(server.objects.has('out.gguf')).toBe(false)
  })

  it('can be finished by another one when a finisher is cut off', async () => {
    await tare('convert', at('model.safetensors'), '-o', at('out'), '--to', 'npz', '-q')
    await make(at('model.safetensors'), 's3://models/out', '--to', 'npz')
    for (const operation of ['part', 'complete', 'delete'] as const) {
      let isFirst = true
      server.fault = (seen) => {
        if (seen.operation !== operation || !isFirst) return undefined
        isFirst = false
        return 'denied'
      }
      const cut = await tare('finish', at('job.json'), '-q')
      expect([operation, cut.status]).toEqual([operation, 2])
      server.fault = () => undefined
    }
    await finish()
    expect(stored('out')).toBe(sha256(readFileSync(at('out'))))
  })

  it('can be given up, and leaves nothing', async () => {
    await make(at('model.safetensors'), 's3://models/out.gguf', '--as-is', '--part-size', '6M')
    expect((await tare('finish', at('job.json'), '--discard', '-q')).status).toBe(0)
    expect([server.uploads.size, [...server.objects.keys()]]).toEqual([0, ['model.safetensors']])
    expect((await tare('status', at('job.json'))).stdout).toContain('gone')
    expect((await tare('work', at('job.json'))).stderr).toContain('job/gone')
  })

  it('with a part that the upload does not have is not complete, whatever results say', async () => {
    await make(at('model.safetensors'), 's3://models/out.gguf', '--as-is', '--part-size', '6M')
    const upload = [...server.uploads.values()][0]!
    upload.parts.delete(2)
    const finished = await tare('finish', at('job.json'))
    expect([finished.status, finished.stderr]).toEqual([1, expect.stringContaining('job/incomplete')])
    expect((await tare('work', at('job.json'), '-q')).status).toBe(0)
    await finish()
  })
})
