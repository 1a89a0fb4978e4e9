// `tare fetch`: files arrive whole, compared with what the server says of them, and an interrupted run goes on where it stopped.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { MemorySource } from '../../../src/bytes/index.js'
import { fetchFiles } from '../../../src/node/fetch/fetch-files.js'
import { commits, useHub } from '../../remote/hub/server.js'
import { useEnvironment } from '../../remote/s3/command.js'
import { useS3 } from '../../remote/s3/server.js'
import { useServer } from '../../remote/server.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { useTempDir } from '../temp-dir.js'

const at = useTempDir()
const store = useS3()
const hub = useHub()
const web = useServer()
const tare = useEnvironment(store, at)

const model = sampleModel(
  Array.from({ length: 4 }, (_, i) => sampleTensor(`layer.${i}.weight`, 'f32', [64, 512], i + 1)),
)
const files = await convertToFiles(model, 'safetensors', { name: 'model.safetensors', shardSize: 150_000 })
const all = new Map([...files, ['README.md', Buffer.from('# words')], ['sub/config.json', Buffer.from('{}')]])

beforeEach(() => {
  vi.stubEnv('HF_HOME', at('hf'))
  vi.stubEnv('HF_ENDPOINT', hub.endpoint)
  for (const [name, bytes] of all) store.put(`tiny/${name}`, bytes)
  store.put('tiny/.gitattributes', Buffer.from('hidden'))
  store.put('tinyother/x.gguf', Buffer.from('of another folder'))
  store.put('one.safetensors', [...files.values()][1]!)
  for (const [name, bytes] of files) web.files.set(`m/${name}`, bytes)
  hub.repositories.set('models/lab/tiny', { commit: commits[0], files: new Map(all) })
})

const same = (path: string, bytes: Uint8Array): boolean => Buffer.compare(readFileSync(path), bytes) === 0

describe('a model', () => {
  it.each([
    ['a store', () => 's3://models/tiny/', all],
    ['a store, without the slash', () => 's3://models/tiny', all],
    ['the hub', () => 'hf://lab/tiny', all],
    ['a store, alone,', () => 's3://models/one.safetensors', new Map([['one.safetensors', [...files.values()][1]!]])],
    ['a server', () => web.url('m/model.safetensors.index.json'), files],
  ])('from %s arrives with all its files', async (_, address, expected) => {
    const { status, stdout, stderr } = await tare('fetch', address(), '-o', at('home'), '--json')
    expect([status, stderr]).toEqual([0, ''])
    expect(
      JSON.parse(stdout)
        .files.map(({ path }: { path: string }) => path)
        .sort(),
    ).toEqual([...expected.keys()].sort())
    for (const [name, bytes] of expected) expect(same(at('home', name), bytes), name).toBe(true)
    expect((await tare('verify', at('home'))).status).toBe(0)
  })

  it('is listed, and only what is chosen comes', async () => {
    const listed = await tare('fetch', 's3://models/tiny/', '--dry-run')
    expect([listed.status, listed.stdout.includes('README.md'), existsSync(at('home'))]).toEqual([0, true, false])
    expect((await tare('fetch', 'hf://lab/tiny', '-o', at('home'), '--only', '*.safetensors')).status).toBe(0)
    expect(
      readdirSync(at('home'))
        .filter((name) => !name.startsWith('.'))
        .every((name) => name.endsWith('.safetensors')),
    ).toBe(true)
    expect((await tare('fetch', 'hf://lab/tiny', '-o', at('one'), '--only', 'none')).status).toBe(2)
  })

  it('that is there is not fetched again, unless it changed on either side', async () => {
    const run = async () => {
      store.seen.length = 0
      const { stdout } = await tare('fetch', 's3://models/tiny/', '-o', at('home'), '--json')
      const hows = JSON.parse(stdout).files.map(({ how }: { how: string }) => how)
      return [
        hows.filter((how: string) => how === 'fetched').length,
        store.seen.filter(({ operation }) => operation === 'get').length,
      ]
    }
    expect((await run())[0]).toBe(all.size)
    expect(await run()).toEqual([0, 0])
    store.put('tiny/README.md', Buffer.from('# other'))
    expect((await run())[0]).toBe(1)
    writeFileSync(at('home/sub/config.json'), '[]')
    expect((await run())[0]).toBe(1)
    expect(same(at('home/sub/config.json'), Buffer.from('{}'))).toBe(true)
  })

  it('with other bytes than the server states is thrown away', async () => {
    const [name, bytes] = [...files].find(([each]) => each.endsWith('.safetensors'))!
    const changed = bytes.slice()
    changed[changed.byteLength - 1]! ^= 1
    const { etag } = store.objects.get(`tiny/${name}`)!
    store.objects.set(`tiny/${name}`, { content: { size: changed.byteLength, pieces: [changed] }, etag })
    const { status, stderr } = await tare('fetch', 's3://models/tiny/', '-o', at('home'))
    expect([status, stderr.includes('remote/digest-mismatch')]).toEqual([1, true])
    expect(existsSync(at('home', name))).toBe(false)
  })

  it.each(['lab/tiny', './x', 's3://models/none/', 'hf://lab/none'])('%s cannot be fetched', async (address) => {
    expect((await tare('fetch', address, '-o', at('home'))).status).toBe(2)
    expect(existsSync(at('home'))).toBe(false)
  })
})

describe('an interrupted run', () => {
  const bytes = Buffer.alloc(9 << 20, 'interrupted ')
  /** Fails once it has read `good` bytes. */
  const fileThatBreaks = (good: number, version = 'v1') => ({
    path: 'large.bin',
    address: 'https://example.org/large.bin',
    size: bytes.byteLength,
    version,
    open: async () => {
      const source = new MemorySource(bytes, 'large.bin')
      const read = source.read.bind(source)
      const failing = async (offset: number, length: number) => {
        if (offset + length > good) throw new Error('broken')
        asked.push(offset)
        return read(offset, length)
      }
      return { name: 'large.bin', size: bytes.byteLength, read: failing, close: async () => {} }
    },
  })
  const asked: number[] = []

  it('goes on behind what it has, and begins again for another version', async () => {
    await expect(fetchFiles([fileThatBreaks(5 << 20)], at('home'))).rejects.toThrow('broken')
    expect(existsSync(at('home/large.bin'))).toBe(false)
    asked.length = 0
    const [file] = await fetchFiles([fileThatBreaks(bytes.byteLength)], at('home'))
    expect([file!.how, asked[0]! > 0]).toEqual(['resumed', true])
    expect(same(at('home/large.bin'), bytes)).toBe(true)
    await expect(fetchFiles([fileThatBreaks(5 << 20, 'v2')], at('home'))).rejects.toThrow('broken')
    asked.length = 0
    const [again] = await fetchFiles([fileThatBreaks(bytes.byteLength, 'v3')], at('home'))
    expect([again!.how, asked[0]]).toEqual(['fetched', 0])
  })
})
