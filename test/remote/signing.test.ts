// Signatures of models at addresses: where they are written and looked for, and that they are those of the same files in a directory.
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { beforeEach, expect, it, vi } from 'vitest'
import { useTempDir } from '../node/temp-dir.js'
import { commits, useHub } from './hub/server.js'
import { useEnvironment } from './s3/command.js'
import { bytesOf } from './s3/content.js'
import { useS3 } from './s3/server.js'
import { useServer } from './server.js'

const at = useTempDir()
const store = useS3()
const hub = useHub()
const web = useServer()
const tare = useEnvironment(store, at)

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const files: Readonly<Record<string, string>> = {
  'b.txt': 'text',
  'b/c d.bin': 'x'.repeat(2000),
  'b/empty': '',
  'model.bin': 'weights',
  '.gitattributes': 'not part of it',
}

beforeEach(() => {
  vi.stubEnv('HF_ENDPOINT', hub.endpoint)
  vi.stubEnv('HF_HOME', at('hf'))
  writeFileSync(at('key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  writeFileSync(at('key.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  const repository = new Map<string, Uint8Array>()
  hub.repositories.set('models/lab/tiny', { commit: commits[0], files: repository })
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(at(`tiny/${name}`)), { recursive: true })
    writeFileSync(at(`tiny/${name}`), text)
    store.put(`lab/tiny/${name}`, Buffer.from(text))
    web.files.set(`tiny/${name}`, Buffer.from(text))
    repository.set(name, Buffer.from(text))
  }
  const list = (...names: string[]): Uint8Array => Buffer.from(names.map((name) => `<a href="${name}">x</a>`).join(''))
  web.files.set('tiny/', list('b.txt', 'b/', 'model.bin', '.gitattributes'))
  web.files.set('tiny/b/', list('c%20d.bin', 'empty'))
})

const sign = (...words: string[]) => tare('sign', ...words, '--key', at('key.pem'))
const verify = (...words: string[]) => tare('verify', ...words, '--key', at('key.pub'))
const statementOf = (bytes: Uint8Array): string =>
  Buffer.from(JSON.parse(Buffer.from(bytes).toString()).dsseEnvelope.payload, 'base64').toString()

it('a prefix has its signature in it, and an object beside it', async () => {
  for (const address of ['s3://models/lab/tiny/', 's3://models/lab/tiny']) {
    expect(await sign(address)).toMatchObject({ status: 0 })
    expect([...store.objects.keys()].filter((key) => key.endsWith('.sig'))).toEqual(['lab/tiny/model.sig'])
    const { status, stdout } = await verify(address)
    expect([status, stdout]).toEqual([0, expect.stringContaining('4 files')])
  }
  expect(await sign('s3://models/lab/tiny/model.bin')).toMatchObject({ status: 0 })
  expect(store.objects.has('lab/tiny/model.bin.sig')).toBe(true)
  expect(await verify('s3://models/lab/tiny/model.bin')).toMatchObject({ status: 0 })
})

it.each([['sha256'], ['blake2b', '--pieces', '600'], ['blake3', '--tensors']])(
  'the statement is that of the directory, hashed with %s %s',
  async (...flags) => {
    await sign(at('tiny'), '-o', at('here.sig'), '--hash', ...flags)
    expect(await sign('s3://models/lab/tiny/', '--hash', ...flags)).toMatchObject({ status: 0 })
    await sign('hf://lab/tiny', '-o', at('hub.sig'), '--hash', ...flags)
    await sign(web.url('tiny/'), '-o', at('web.sig'), '--hash', ...flags)
    const expected = statementOf(readFileSync(at('here.sig')))
    expect(statementOf(bytesOf(store.objects.get('lab/tiny/model.sig')!.content)).replace('"model.sig",', '')).toBe(
      expected,
    )
    for (const name of ['hub.sig', 'web.sig']) expect(statementOf(readFileSync(at(name)))).toBe(expected)
    for (const model of ['s3://models/lab/tiny/', 'hf://lab/tiny', web.url('tiny/'), at('tiny')])
      expect(await verify(model, '--signature', at('here.sig'), '--ignore-path', 'model.sig')).toMatchObject({
        status: 0,
      })
  },
)

it('what changed, was added or is missing is named', async () => {
  await sign('s3://models/lab/tiny/')
  store.put('lab/tiny/b.txt', Buffer.from('other'))
  store.put('lab/tiny/new.txt', Buffer.from('new'))
  store.objects.delete('lab/tiny/b/empty')
  const { status, stdout } = await verify('--json', 's3://models/lab/tiny/')
  expect(status).toBe(1)
  expect(JSON.parse(stdout).findings).toEqual([
    expect.objectContaining({ code: 'signature/missing', file: 's3://models/lab/tiny/b/empty' }),
    expect.objectContaining({ code: 'signature/extra', file: 's3://models/lab/tiny/new.txt' }),
    expect.objectContaining({ code: 'signature/changed', file: 's3://models/lab/tiny/b.txt' }),
  ])
  const lenient = JSON.parse((await verify('--json', '--ignore-unsigned', 's3://models/lab/tiny/')).stdout)
  expect(lenient.findings.map(({ code }: { readonly code: string }) => code)).toEqual([
    'signature/missing',
    'signature/changed',
  ])
})

it('a repository holds its signature, and one is made only for a file here', async () => {
  const refused = await sign('hf://lab/tiny')
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('name a file with -o')])
  const none = await verify('hf://lab/tiny')
  expect([none.status, none.stderr]).toEqual([
    2,
    expect.stringContaining('there is no signature hf://lab/tiny@main/model.sig'),
  ])
  await sign(at('tiny'))
  const bytes = readFileSync(at('tiny/model.sig'))
  hub.repositories.get('models/lab/tiny')!.files.set('model.sig', bytes)
  web.files.set('tiny/model.sig', bytes)
  web.files.set('tiny/', Buffer.concat([web.files.get('tiny/')!, Buffer.from('<a href="model.sig">s</a>')]))
  for (const model of ['hf://lab/tiny', `${hub.endpoint}/lab/tiny`, web.url('tiny/')])
    expect(await verify(model)).toMatchObject({ status: 0 })
})

it('a folder without a list, or with what cannot be listed, is not signed', async () => {
  web.files.set('page/', Buffer.from('no list'))
  expect(await sign(web.url('page/'), '-o', at('x.sig'))).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('shows no list'),
  })
  store.put('lab/tiny/odd//name', Buffer.from('x'))
  expect(await sign('s3://models/lab/tiny/', '-o', at('x.sig'))).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('io/unsafe-path'),
  })
})
