// `gs:` addresses: the same requests, signed with keys of their own, without what Google's store does not know.
import { readFileSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { useTempDir } from '../../node/temp-dir.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { useEnvironment } from './command.js'
import { bytesOf } from './content.js'
import { useS3 } from './server.js'

const at = useTempDir()
const server = useS3()
const tare = useEnvironment(server, at)

const model = sampleModel([1, 2, 3].map((i) => sampleTensor(`layer.${i}.weight`, 'f32', [1536, 1024], i)))
const files = await convertToFiles(model, 'safetensors', { name: 'm.safetensors', deterministic: true })
const bytes = files.get('m.safetensors')!

beforeEach(() => {
  Object.assign(server, { kind: 'google', region: 'auto' })
  server.keys.clear()
  server.keys.set('GOOG1', { secret: 'G5ECRET' })
  server.put('dir/m.safetensors', bytes)
  writeFileSync(at('m.safetensors'), bytes)
  vi.stubEnv('AWS_ENDPOINT_URL', 'http://127.0.0.1:9')
  vi.stubEnv('BOTO_CONFIG', at('boto'))
  vi.stubEnv('STORAGE_EMULATOR_HOST', server.endpoint)
  vi.stubEnv('GS_ACCESS_KEY_ID', 'GOOG1')
  vi.stubEnv('GS_SECRET_ACCESS_KEY', 'G5ECRET')
})

const stored = (key: string): Buffer => bytesOf(server.objects.get(key)!.content)

describe('a model in the store of Google', () => {
  it('is read, listed and fetched', async () => {
    const shown = await tare('inspect', '--json', 'gs://models/dir/')
    expect([JSON.parse(shown.stdout).file, shown.status]).toEqual(['gs://models/dir/', 0])
    expect((await tare('diff', 'gs://models/dir/m.safetensors', at('m.safetensors'))).status).toBe(0)
    expect((await tare('fetch', 'gs://models/dir/', '-o', at('home'))).status).toBe(0)
    expect(Buffer.compare(readFileSync(at('home/m.safetensors')), bytes)).toBe(0)
  })

  it('is written and edited, by bytes that go through this machine', async () => {
    expect((await tare('convert', at('m.safetensors'), '-o', at('m.gguf'), '--as-is')).status).toBe(0)
    const ran = await tare('convert', 'gs://models/dir/m.safetensors', '-o', 'gs://models/m.gguf', '--as-is')
    expect(ran.status, ran.stderr).toBe(0)
    expect(server.seen.some(({ operation }) => operation === 'copy')).toBe(false)
    expect(Buffer.compare(stored('m.gguf'), readFileSync(at('m.gguf')))).toBe(0)
    const again = ['convert', at('m.safetensors'), '-o', 'gs://models/m.gguf', '--as-is', '--no-overwrite']
    expect((await tare(...again)).stderr).toContain('io/exists')
    server.objects.delete('m.gguf')
    expect((await tare(...again)).status).toBe(0)
    expect((await tare('edit', 'gs://models/m.gguf', '--set', 'note=new')).status).toBe(0)
    expect((await tare('edit', at('m.gguf'), '--set', 'note=new')).status).toBe(0)
    expect((await tare('diff', 'gs://models/m.gguf', at('m.gguf'))).status).toBe(0)
    expect(server.uploads.size).toBe(0)
  })

  it('is read with the keys of a file, or without any where it is public', async () => {
    const inspect = () => tare('inspect', 'gs://models/dir/m.safetensors', '--no-cache')
    vi.stubEnv('GS_ACCESS_KEY_ID', undefined)
    expect((await inspect()).stderr).toContain('no credentials were found')
    // Keys of AWS are there, and a request that is signed with them would be refused.
    server.isPublic = true
    expect((await inspect()).status).toBe(0)
    server.isPublic = false
    writeFileSync(at('boto'), '[Credentials]\ngs_access_key_id = GOOG1\ngs_secret_access_key = G5ECRET\n')
    expect((await inspect()).status).toBe(0)
  })

  it('is not written by many machines', async () => {
    const { status, stderr } = await tare('plan', at('m.safetensors'), 'gs://models/x.gguf', '-o', at('job.json'))
    expect([status, stderr.includes('many machines cannot write there')], stderr).toEqual([2, true])
  })
})
