import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ServedModels } from '../../../src/node/view/served-models.js'
import { serveView, type ViewServer } from '../../../src/node/view/server.js'
import { convertToFiles } from '../../support/convert.js'
import { writeHubDirectory } from '../../support/hub-directory.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { useTempDir } from '../temp-dir.js'
import { type Answer, type Asked, ask } from './ask.js'

const at = useTempDir()
let models: ServedModels | undefined
let server: ViewServer | undefined
let token = ''

beforeEach(() => {
  mkdirSync(at('page/assets'), { recursive: true })
  writeFileSync(at('page/index.html'), '<!doctype html><title>page</title>')
  writeFileSync(at('page/assets/main.js'), 'export {}')
  writeFileSync(at('secret.txt'), 'secret')
})
afterEach(async () => {
  await server?.close()
  await models?.close()
  server = undefined
  models = undefined
})

async function start(...inputs: string[]): Promise<void> {
  models = await ServedModels.open(inputs)
  server = await serveView({ page: at('page'), models })
  token = new URL(server.address).pathname.split('/')[1]!
}

/** Asks below the token. */
const get = (path: string, asked?: Asked): Promise<Answer> => ask(server!.port, `/${token}/${path}`, asked)

const bytesOf = (length: number): Buffer => Buffer.from(Uint8Array.from({ length }, (_, i) => (i * 7) % 251))

async function writeModel(path: string, columns = 16): Promise<Buffer> {
  const bytes = await fileOf('a', 8, columns)
  writeFileSync(path, bytes)
  return Buffer.from(bytes)
}

async function fileOf(name: string, rows: number, columns: number): Promise<Uint8Array> {
  const files = await convertToFiles(sampleModel([sampleTensor(name, 'f32', [rows, columns])]), 'safetensors')
  return [...files.values()][0]!
}

describe('who may ask', () => {
  beforeEach(async () => {
    await writeModel(at('model.safetensors'))
    await start(at('model.safetensors'))
  })

  it('listens on the loopback address alone, with a token in the path', async () => {
    expect(server!.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/$/)
    expect((await get('')).status).toBe(200)
    expect((await ask(server!.port, `/${token}`)).headers.location).toBe(`/${token}/`)
  })

  it.each(['', '/', '/index.html', '/files.json', '/wrong/', '/files/0/model.safetensors'])(
    'the path %s without the token gives nothing',
    async (path) => {
      const answer = await ask(server!.port, path || '/')
      expect(answer.status).toBe(404)
      expect(answer.body.toString()).not.toContain(token)
    },
  )

  it.each(['evil.example', 'evil.example:80', '127.0.0.1', 'localhost.evil.example'])(
    'a domain that was made to point here (%s) is refused',
    async (host) => {
      expect((await get('files.json', { headers: { host } })).status).toBe(403)
    },
  )

  it('localhost is a name of ours', async () => {
    expect((await get('', { headers: { host: `localhost:${server!.port}` } })).status).toBe(200)
  })

  it.each(['http://evil.example', 'null', 'http://127.0.0.1:1', 'https://127.0.0.1'])(
    'a page of %s is refused',
    async (origin) => {
      expect((await get('files.json', { headers: { origin } })).status).toBe(403)
    },
  )

  it('our own page is not, and no answer permits another origin to read it', async () => {
    const answer = await get('files.json', { headers: { origin: `http://127.0.0.1:${server!.port}` } })
    expect(answer.status).toBe(200)
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
    expect(answer.headers['cross-origin-resource-policy']).toBe('same-origin')
  })

  it('requests of other pages without an origin are refused, links are followed', async () => {
    const script = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' }
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    expect((await get('assets/main.js', { headers: script })).status).toBe(403)
    expect((await get('', { headers: { ...link, 'sec-fetch-dest': 'iframe' } })).status).toBe(403)
    expect((await get('', { headers: link })).status).toBe(200)
  })

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s is refused', async (method) => {
    const answer = await get('files/0/model.safetensors', { method })
    expect(answer.status).toBe(405)
    expect(answer.headers.allow).toBe('GET, HEAD')
  })

  it('every answer has the strict headers', async () => {
    for (const path of ['', 'assets/main.js', 'files.json', 'files/0/model.safetensors', 'nothing']) {
      const { headers } = await get(path)
      expect(headers['content-security-policy'], path).toMatch(/^default-src 'none';.*frame-ancestors 'none'$/)
      expect(headers['x-content-type-options'], path).toBe('nosniff')
      expect(headers['referrer-policy'], path).toBe('no-referrer')
      expect(headers['cross-origin-opener-policy'], path).toBe('same-origin')
    }
  })
})

describe('what is there', () => {
  it.each([
    '../secret.txt',
    'assets/../../secret.txt',
    '..%2fsecret.txt',
    '%2e%2e/secret.txt',
    '..\\secret.txt',
    'files/0/../../../secret.txt',
    'files/0/..%2f..%2fsecret.txt',
    'files/0/secret.txt',
    'files/0/%2Fetc%2Fpasswd',
    'files/0//etc/passwd',
    'files/1/model.safetensors',
    'files/00/model.safetensors',
    'files/-1/model.safetensors',
    'files/0/model.safetensors%00.txt',
    'files/0/',
    'files',
    'files/0/%zz',
    '__proto__',
    'constructor',
  ])('%s is not', async (path) => {
    await writeModel(at('model.safetensors'))
    await start(at('model.safetensors'))
    const { status, body } = await get(path)
    expect([400, 404]).toContain(status)
    expect(body.toString()).not.toContain('secret')
  })

  it('the page, with types', async () => {
    await writeModel(at('model.safetensors'))
    await start(at('model.safetensors'))
    expect((await get('')).headers['content-type']).toBe('text/html; charset=utf-8')
    const script = await get('assets/main.js')
    expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8')
    expect(script.body.toString()).toBe('export {}')
  })

  it('the files of a directory: weights and companions, and nothing else of it', async () => {
    await writeHubDirectory(at('hub'))
    writeFileSync(at('hub/notes.txt'), 'private')
    writeFileSync(at('hub/.env'), 'private')
    symlinkSync(at('secret.txt'), at('hub/vocab.txt.link'))
    const templates = 'additional_chat_templates'
    mkdirSync(at(`hub/${templates}`))
    writeFileSync(at(`hub/${templates}/tools.jinja`), '{{ tools }}')
    writeFileSync(at(`hub/${templates}/notes.txt`), 'private')
    symlinkSync(at('secret.txt'), at(`hub/${templates}/away.jinja`))
    await start(at('hub'))
    const { files, command } = JSON.parse((await get('files.json')).body.toString())
    const names = files.map(({ name }: { name: string }) => name)
    expect(names[0]).toBe('model.safetensors')
    expect(names).toContain('config.json')
    expect(names).toContain(`${templates}/tools.jinja`)
    expect(files.map(({ folder }: { folder?: string }) => folder).filter(Boolean)).toEqual(['hub'])
    for (const name of ['notes.txt', '.env', 'vocab.txt.link', `${templates}/notes.txt`, `${templates}/away.jinja`]) {
      expect(names).not.toContain(name)
      expect((await get(`files/0/${name}`)).status).toBe(404)
    }
    expect(command).toEqual(['tare', 'view', at('hub')])
    for (const { address, size, group } of files) {
      expect(group).toBe(0)
      expect((await get(address)).body.byteLength).toBe(size)
    }
  })

  it('the shards of an index, and each argument as a group', async () => {
    const shards = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors']
    mkdirSync(at('set'))
    for (const [i, name] of shards.entries()) writeFileSync(at('set', name), await fileOf(`t${i}`, 4, 4))
    const map = { metadata: { total_size: 128 }, weight_map: { t0: shards[0], t1: shards[1] } }
    writeFileSync(at('set/model.safetensors.index.json'), JSON.stringify(map))
    await writeModel(at('other.safetensors'))
    await start(at('set/model.safetensors.index.json'), at('other.safetensors'))
    const { files } = JSON.parse((await get('files.json')).body.toString())
    expect(files.map(({ group, name }: { group: number; name: string }) => `${group} ${name}`)).toEqual([
      '0 model.safetensors.index.json',
      ...shards.map((name) => `0 ${name}`),
      '1 other.safetensors',
    ])
  })

  it('the parts of an AEROSET, which are opened when they are needed', async () => {
    const model = sampleModel([sampleTensor('a', 'f32', [8, 16])])
    const set = await convertToFiles(model, 'aeroset', { name: 'model.aeroset.json' })
    const index = [...set.keys()][0]!
    expect(set.size).toBeGreaterThan(2)
    mkdirSync(at('set'))
    for (const [name, bytes] of set) writeFileSync(at('set', name), bytes)
    await start(at('set', index))
    const { files } = JSON.parse((await get('files.json')).body.toString())
    expect(files.map(({ name }: { name: string }) => name).sort()).toEqual([...set.keys()].sort())
    for (const { address, name } of files) expect((await get(address)).body).toEqual(Buffer.from(set.get(name)!))
  })

  it('a damaged model is served, for the page to show what is wrong', async () => {
    writeFileSync(at('broken.safetensors'), bytesOf(100))
    await start(at('broken.safetensors'))
    expect((await get('files/0/broken.safetensors')).body).toEqual(bytesOf(100))
  })

  it.each(['a b.gguf', '<img src=x onerror=alert(1)>.gguf', 'ä€😀%2f.gguf', 'a"b\'.gguf', 'q?x#y.gguf', 'a\\b.gguf'])(
    'a file called %s',
    async (name) => {
      writeFileSync(at(name), bytesOf(50))
      await start(at(name))
      const list = await get('files.json')
      expect(list.headers['content-type']).toBe('application/json')
      const { files } = JSON.parse(list.body.toString())
      expect(files[0].name).toBe(name)
      const answer = await get(files[0].address)
      expect(answer.body).toEqual(bytesOf(50))
      expect(answer.headers['content-type']).toBe('application/octet-stream')
    },
  )
})

describe('ranges', () => {
  const size = 3_000_000
  beforeEach(async () => {
    writeFileSync(at('model.gguf'), bytesOf(size))
    await start(at('model.gguf'))
  })
  const part = (range: string, headers = {}): Promise<Answer> =>
    get('files/0/model.gguf', { headers: { range, ...headers } })

  it.each([
    ['bytes=0-0', 0, 1],
    ['bytes=1048570-1048590', 1048570, 1048591],
    ['bytes=100-', 100, size],
    ['bytes=-7', size - 7, size],
    ['bytes=2999999-9999999', 2_999_999, size],
  ])('%s', async (range, start, end) => {
    const answer = await part(range)
    expect(answer.status).toBe(206)
    expect(answer.headers['content-range']).toBe(`bytes ${start}-${end - 1}/${size}`)
    expect(answer.body.equals(bytesOf(size).subarray(start, end))).toBe(true)
  })

  it('beyond the end', async () => {
    const answer = await part(`bytes=${size}-`)
    expect(answer.status).toBe(416)
    expect(answer.headers['content-range']).toBe(`bytes */${size}`)
  })

  it('what makes no sense is ignored', async () => {
    const answer = await part('bytes=9-1')
    expect(answer.status).toBe(200)
    expect(answer.body.equals(bytesOf(size))).toBe(true)
  })

  it('HEAD has the headers and no body', async () => {
    const { status, headers, body } = await get('files/0/model.gguf', { method: 'HEAD' })
    expect([status, headers['content-length'], body.byteLength]).toEqual([200, String(size), 0])
  })

  it('another version is not mixed in', async () => {
    const { etag } = (await part('bytes=0-9')).headers
    expect((await part('bytes=0-9', { 'if-match': etag })).status).toBe(206)
    expect((await part('bytes=0-9', { 'if-match': '"other"' })).status).toBe(412)
    expect((await part('bytes=0-9', { 'if-range': '"other"' })).status).toBe(200)
    expect((await part('bytes=0-9', { 'if-range': etag })).status).toBe(206)
  })

  it('a client that leaves in the middle does no harm', async () => {
    await new Promise<void>((done, failed) => {
      const socket = createConnection(server!.port, '127.0.0.1', () => {
        socket.write(`GET /${token}/files/0/model.gguf HTTP/1.1\r\nHost: 127.0.0.1:${server!.port}\r\n\r\n`)
        socket.once('data', () => socket.destroy())
      })
      socket.once('close', () => done())
      socket.once('error', failed)
    })
    expect((await part('bytes=0-9')).status).toBe(206)
  })
})

describe('a file that changes meanwhile', () => {
  it('is refused to a page that read the old one, and given to a new one', async () => {
    await writeModel(at('model.safetensors'))
    await start(at('model.safetensors'))
    const { etag } = (await get('files/0/model.safetensors')).headers
    const now = await writeModel(at('next.safetensors'), 32)
    renameSync(at('next.safetensors'), at('model.safetensors'))
    const old = await get('files/0/model.safetensors', { headers: { 'if-match': etag! } })
    expect(old.status).toBe(412)
    const { files } = JSON.parse((await get('files.json')).body.toString())
    expect(files[0].size).toBe(now.byteLength)
    expect((await get('files/0/model.safetensors')).body).toEqual(now)
  })

  it('written in place', async () => {
    await writeModel(at('model.safetensors'))
    await start(at('model.safetensors'))
    const { etag } = (await get('files/0/model.safetensors')).headers
    await writeModel(at('model.safetensors'))
    utimesSync(at('model.safetensors'), new Date(0), new Date(0))
    expect((await get('files/0/model.safetensors', { headers: { 'if-match': etag! } })).status).toBe(412)
  })

  it('cut short or removed, without an end of the server', async () => {
    await writeModel(at('model.safetensors'))
    await start(at('model.safetensors'))
    truncateSync(at('model.safetensors'), 20)
    expect((await get('files/0/model.safetensors')).body.byteLength).toBe(20)
    rmSync(at('model.safetensors'))
    expect((await get('files.json')).status).toBe(200)
    expect((await get('')).status).toBe(200)
  })
})
