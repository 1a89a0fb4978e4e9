// The same against a real store, which `scripts/ceph-up.sh` starts. It runs where TARE_TEST_S3 names one:
//   TARE_TEST_S3=http://AKTEST:SKTEST@127.0.0.1:7480 npx vitest run test/remote/s3/gateway.test.ts
import { readFileSync, writeFileSync } from 'node:fs'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { S3Client } from '../../../src/remote/s3/client.js'
import { listObjects } from '../../../src/remote/s3/list.js'
import { runCli as tare } from '../../cli/run-cli.js'
import { useTempDir } from '../../node/temp-dir.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'

const given = process.env.TARE_TEST_S3 ? new URL(process.env.TARE_TEST_S3) : undefined
const at = useTempDir()
const bucket = 'tare-test'

describe.skipIf(!given)('a real store', () => {
  const credentials = { accessKeyId: given?.username ?? '', secretAccessKey: given?.password ?? '' }
  const client = new S3Client(bucket, { endpoint: given?.origin ?? 'http://127.0.0.1', credentials })
  const { signal } = new AbortController()
  const model = sampleModel([1, 2, 3].map((i) => sampleTensor(`layer.${i}.weight`, 'f32', [2048, 1024], i)))

  beforeAll(async () => {
    await client.request({ method: 'PUT', key: '' }, signal, [409])
    for (const { key } of (await listObjects(client, '', { deep: true })).objects)
      await client.request({ method: 'DELETE', key }, signal)
  })
  beforeEach(async () => {
    vi.stubEnv('AWS_ENDPOINT_URL', given?.origin)
    vi.stubEnv('AWS_ACCESS_KEY_ID', credentials.accessKeyId)
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', credentials.secretAccessKey)
    vi.stubEnv('TARE_CACHE', at('cache'))
    const [bytes] = (await convertToFiles(model, 'safetensors', { name: 'm', deterministic: true })).values()
    writeFileSync(at('m.safetensors'), bytes!)
  })
  afterEach(() => vi.unstubAllEnvs())

  it('takes every format, copies ranges, and gives the bytes back', async () => {
    const address = (name: string): string => `s3://${bucket}/a b/${name}`
    const options = ['--deterministic', '--as-is', '--allow-loss', '-q']
    for (const to of ['safetensors', 'gguf', 'aero', 'npz']) {
      for (const output of [at(`x.${to}`), address(`x.${to}`)])
        expect((await tare('convert', at('m.safetensors'), '-o', output, ...options)).status, to).toBe(0)
      expect((await tare('fetch', address(`x.${to}`), '-o', at('home'))).status, to).toBe(0)
      expect(Buffer.compare(readFileSync(at('home', `x.${to}`)), readFileSync(at(`x.${to}`))), to).toBe(0)
    }
    const copied = await tare('convert', address('x.safetensors'), '-o', address('y.gguf'), '--as-is')
    expect(copied.stderr).toContain('19.0 MiB copied by the store')
    expect((await tare('diff', address('y.gguf'), at('x.gguf'))).status).toBe(0)
    expect((await tare('edit', address('y.gguf'), '--set', 'note=new')).stderr).toContain('copied by the store')
    expect((await tare('inspect', address('y.gguf'))).stdout).toContain('note')
    const refused = await tare('convert', at('m.safetensors'), '-o', address('y.gguf'), '--as-is', '--no-overwrite')
    expect([refused.status, refused.stderr.includes('io/exists')]).toEqual([2, true])
    const { text } = await client.request({ method: 'GET', key: '', query: { uploads: '' } }, signal)
    expect(text).not.toContain('<Upload>')
  }, 120_000)
})
