// Models in object stores, through the command line: how many requests they take, who asks, and what failures become.
import { readFileSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { S3Client } from '../../../src/remote/s3/client.js'
import { listObjects } from '../../../src/remote/s3/list.js'
import { useTempDir } from '../../node/temp-dir.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { useEnvironment } from './command.js'
import { type Fault, useS3 } from './server.js'

const at = useTempDir()
const server = useS3()
const tare = useEnvironment(server, at)

const model = sampleModel(
  Array.from({ length: 4 }, (_, i) => sampleTensor(`layer.${i}.weight`, 'f32', [256, 512], i + 1)),
)
const truth = await model.tensors[2]!.data!.read!(0, 256 * 512 * 4)

async function serve(folder: string, options: object = {}, target = 'safetensors'): Promise<void> {
  const files = await convertToFiles(model, target, { name: `model.${target}`, ...options })
  for (const [name, bytes] of files) server.put(folder + name, bytes)
}

const operations = (): string[] => server.seen.map(({ operation }) => operation)

describe('a model in a bucket', () => {
  it('is listed in one request, and a tensor of it comes with one more', async () => {
    await serve('a b/c+d/')
    const shown = await tare('inspect', '--json', 's3://models/a b/c+d/model.safetensors')
    expect(JSON.parse(shown.stdout)).toMatchObject({ file: 's3://models/a b/c+d/model.safetensors' })
    expect(operations()).toEqual(['get'])
    server.seen.length = 0
    const { status } = await tare(
      'extract',
      's3://models/a b/c+d/model.safetensors',
      'layer.2.weight',
      '-o',
      at('w.bin'),
    )
    expect([status, operations()]).toEqual([0, ['get', 'get']])
    expect(Buffer.compare(readFileSync(at('w.bin')), truth)).toBe(0)
  })

  it('is found below a prefix with its shards', async () => {
    await serve('set/', { shardSize: 600_000 })
    server.put('set/README.md', Buffer.from('# words'))
    server.put('set/other/model.gguf', Buffer.from('not looked at'))
    for (const input of ['s3://models/set/', 's3://models/set']) {
      server.seen.length = 0
      const { stdout, status } = await tare('verify', input)
      expect([status, stdout]).toEqual([0, expect.stringContaining(`${input}: ok — safetensors`)])
    }
    server.seen.length = 0
    expect((await tare('extract', 's3://models/set/', 'layer.2.weight', '-o', at('w.bin'), '--no-cache')).status).toBe(
      0,
    )
    // The list, the index, and the shards' headers; the weights of one of them.
    expect(operations().filter((each) => each === 'list')).toHaveLength(1)
    expect(Buffer.compare(readFileSync(at('w.bin')), truth)).toBe(0)
  })

  it('is named in errors as it was typed', async () => {
    await serve('')
    for (const [input, words] of [
      ['s3://models/none.gguf', 's3://models/none.gguf: the server answered 404 (NoSuchKey'],
      ['s3://models/none/', 's3://models/none/: there is no file in it'],
      ['s3://other-bucket/x.gguf', '404 (NoSuchBucket'],
      ['s3://x', 'no name of a bucket'],
      ['s3://models/a/../b', 'a key with "." or ".."'],
    ] as const) {
      const { status, stderr } = await tare('inspect', input)
      expect([status > 0, stderr.includes(words)], stderr).toEqual([true, true])
    }
  })

  it('of more than a thousand objects is listed page by page', async () => {
    for (let i = 0; i < 2100; i++) server.put(`many/${String(i).padStart(4, '0')}&<.bin`, Buffer.of(i % 256))
    const client = new S3Client('models', {
      endpoint: server.endpoint,
      credentials: { accessKeyId: 'AKID', secretAccessKey: 'S3CR3T' },
    })
    const { objects } = await listObjects(client, 'many/')
    expect([objects.length, objects[7]!.key, server.seen.length]).toEqual([2100, 'many/0007&<.bin', 3])
  })

  it('can be compared, hashed and converted like a file', async () => {
    await serve('')
    await serve('copy/')
    expect((await tare('diff', 's3://models/model.safetensors', 's3://models/copy/')).status).toBe(0)
    expect((await tare('convert', 's3://models/copy/', '-o', at('out.gguf'), '--as-is')).status).toBe(0)
    const [far, near] = [await tare('hash', 's3://models/copy/'), await tare('hash', at('out.gguf'))]
    const print = (text: string) => text.match(/fingerprint (\w+)/)?.[1]
    expect(print(far.stdout)).toBe(print(near.stdout))
  })
})

describe('who asks', () => {
  const inspect = () => tare('inspect', 's3://models/model.safetensors', '--no-cache')
  const without = (...names: string[]) => names.map((name) => vi.stubEnv(name, undefined))
  beforeEach(() => serve(''))

  it('is nobody where there are no credentials', async () => {
    without('AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY')
    expect((await inspect()).stderr).toContain('no credentials were found, so the request was not signed')
    server.isPublic = true
    expect((await inspect()).status).toBe(0)
  })

  it('is a profile of the files', async () => {
    without('AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_ENDPOINT_URL')
    writeFileSync(
      at('credentials'),
      '[default]\naws_access_key_id=no\naws_secret_access_key=no\n[lab]\naws_access_key_id = AKID\naws_secret_access_key = S3CR3T\naws_session_token = T0KEN\n',
    )
    writeFileSync(
      at('config'),
      `[default]\nregion = x\n[profile lab]\nregion = eu-north-7\nendpoint_url = ${server.endpoint}\n`,
    )
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', at('credentials'))
    vi.stubEnv('AWS_CONFIG_FILE', at('config'))
    vi.stubEnv('AWS_PROFILE', 'lab')
    server.keys.set('AKID', { secret: 'S3CR3T', token: 'T0KEN' })
    server.region = 'eu-north-7'
    expect((await inspect()).status).toBe(0)
    expect(server.seen).toHaveLength(1)
  })

  it('is told when the secret is wrong, and the secret is not shown', async () => {
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'WR0NG')
    const { status, stderr, stdout } = await inspect()
    expect([status, stderr.includes('403 (SignatureDoesNotMatch')]).toEqual([2, true])
    expect(stdout + stderr).not.toMatch(/WR0NG|S3CR3T|AKID/)
  })

  it('finds the region and the time of the store', async () => {
    server.region = 'ap-south-1'
    server.behind = 3_600_000
    expect((await inspect()).status).toBe(0)
    expect(server.seen).toHaveLength(3)
  })
})

describe('a request that fails', () => {
  beforeEach(() => serve('', { shardSize: 600_000 }))
  afterEach(() => vi.restoreAllMocks())

  const passing: readonly Fault[] = ['reset', '500', 'slow-down', 'short-body', 'clock-skew']
  it.each(passing)('with %s is sent again, whichever it is', async (fault) => {
    const run = () => tare('extract', 's3://models/', 'layer.2.weight', '-o', at('w.bin'), '--no-cache')
    expect((await run()).status).toBe(0)
    const count = server.seen.length
    for (let turn = 0; turn < count; turn++) {
      server.seen.length = 0
      server.fault = ({ operation }, index) =>
        index === turn && !(fault === 'clock-skew' && operation === 'head') ? fault : undefined
      const { status, stderr } = await run()
      expect([status, stderr], `request ${turn}`).toEqual([0, expect.anything()])
      expect(Buffer.compare(readFileSync(at('w.bin')), truth)).toBe(0)
    }
  })

  it.each(['wrong-range', 'changed-etag', 'expired-token', 'region'] as const)(
    'with %s ends with a finding or right bytes',
    async (fault) => {
      const run = () => tare('extract', 's3://models/', 'layer.2.weight', '-o', at('w.bin'), '--no-cache')
      await run()
      const count = server.seen.length
      for (let turn = 0; turn < count; turn++) {
        server.seen.length = 0
        server.fault = (_, index) => (index === turn ? fault : undefined)
        writeFileSync(at('w.bin'), '')
        const { status, stderr } = await run()
        const written = readFileSync(at('w.bin'))
        if (status === 0) expect(Buffer.compare(written, truth)).toBe(0)
        else expect([written.byteLength, /\((remote|safetensors|io)\/[\w-]+\)/.test(stderr)], stderr).toEqual([0, true])
      }
    },
  )
})
