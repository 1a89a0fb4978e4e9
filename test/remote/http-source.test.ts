import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { streamRange } from '../../src/bytes/index.js'
import { type Format, formats, HttpSource, hashModel, openModel } from '../../src/kit.js'
import { DiskStore, openNamedRemote, openRemote } from '../../src/kit-node.js'
import { guardedFetch } from '../../src/node/remote/guarded-fetch.js'
import { isPrivateAddress, refusePrivate } from '../../src/node/remote/private-address.js'
import { useTempDir } from '../node/temp-dir.js'
import { convertToFiles } from '../support/convert.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'
import { useServer } from './server.js'

const server = useServer()
const at = useTempDir()
const quick = { backoff: 1, idleTimeout: 300 }

afterEach(() => vi.unstubAllEnvs())

const pattern = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 7 + (i >> 8)) % 256)
const large = pattern(700_000)

async function opened(name = 'm.bin', bytes = large, options = {}) {
  server.files.set(name, bytes)
  return HttpSource.open(server.url(name), { ...quick, ...options })
}

/** In an archive every member has a header of its own, in ONNX every tensor stands before its values; a file of one array holds no twenty. */
const spread = ['.npz', '.pt', '.onnx']

function isListedAtOnce({ extensions, capabilities }: Format): boolean {
  const isSpread = capabilities.write?.maxTensors === 1 || spread.some((each) => extensions.includes(each))
  return capabilities.write !== undefined && !isSpread && capabilities.write?.order !== 'column'
}

describe('an honest server', () => {
  it('tells the size with the first 64 KiB', async () => {
    const source = await opened()
    expect(source.size).toBe(700_000)
    expect(await source.read(10, 1000)).toEqual(large.subarray(10, 1010))
    expect(server.seen.map((each) => each.range)).toEqual(['bytes=0-65535'])
  })

  it('gives any range, fetching neighbours together and keeping them', async () => {
    const source = await opened()
    for (const [offset, length] of [
      [65_500, 100],
      [65_530, 200_000],
      [699_999, 1],
      [0, 700_000],
      [300_000, 0],
    ] as const) {
      expect(Buffer.compare(await source.read(offset, length), large.subarray(offset, offset + length))).toBe(0)
    }
    expect(server.seen.length).toBeLessThanOrEqual(5)
    const before = server.seen.length
    await source.read(100_000, 50_000)
    expect(server.seen.length).toBe(before)
  })

  it.each(formats.filter(isListedAtOnce).map((format) => format.id))(
    'lists a %s file in at most two requests',
    async (id) => {
      const tensors = Array.from({ length: 20 }, (_, i) => sampleTensor(`layer.${i}.weight`, 'f32', [64, 64], i + 1))
      const model = sampleModel(tensors)
      const files = await convertToFiles(model, id, {
        name: `m${formats.find((format) => format.id === id)!.extensions[0]}`,
      })
      for (const [name, bytes] of files) server.files.set(name, bytes)
      const main = [...files.keys()][0]!
      const remote = await openModel(await HttpSource.open(server.url(main), quick))
      expect(remote.tensors.length).toBe(20)
      // Every further file of a set is a file of its own.
      expect(server.seen.length).toBeLessThanOrEqual(2 * files.size)
      expect((await hashModel(remote)).fingerprint).toBe((await hashModel(model)).fingerprint)
    },
  )

  it('opens an empty file', async () => {
    const source = await opened('empty', new Uint8Array())
    expect(source.size).toBe(0)
    expect((await source.read(0, 0)).byteLength).toBe(0)
  })

  it('opens files beside the first, and nothing else', async () => {
    server.files.set('b c.bin', pattern(10))
    const source = await opened()
    expect((await source.sibling('b c.bin')).size).toBe(10)
    await expect(source.sibling('../x')).rejects.toMatchObject({ code: 'io/unsafe-path' })
    server.files.set('d/e f.bin', pattern(11))
    expect((await source.below('d/e f.bin')).size).toBe(11)
    for (const path of ['d/../b c.bin', '/d/e f.bin', 'd//e', 'http://127.0.0.1/x']) {
      await expect(source.below(path), path).rejects.toMatchObject({ code: 'io/unsafe-path' })
    }
  })
})

describe('a server that misbehaves', () => {
  it('without ranges: everything is downloaded, once, with a word', async () => {
    server.behave.noRanges = true
    const codes: string[] = []
    const source = await opened('m.bin', large, { onFinding: (finding: { code: string }) => codes.push(finding.code) })
    expect(await source.read(600_000, 10)).toEqual(large.subarray(600_000, 600_010))
    expect(server.seen.length).toBe(1)
    expect(codes).toEqual(['remote/no-ranges'])
    await expect(opened('m.bin', large, { downloadLimit: 1000 })).rejects.toMatchObject({ code: 'remote/too-large' })
  })

  it('that cuts connections is asked for the rest', async () => {
    const source = await opened()
    server.behave.cut = { after: 1000, times: 2 }
    expect(Buffer.compare(await source.read(65_536, 300_000), large.subarray(65_536, 365_536))).toBe(0)
  })

  it('that cuts every connection is given up', async () => {
    const source = await opened()
    server.behave.cut = { after: 0, times: 99 }
    await expect(source.read(65_536, 300_000)).rejects.toMatchObject({ code: 'remote/unreachable' })
  })

  it('that is busy is asked again', async () => {
    server.behave.fail = { status: 503, times: 2 }
    expect((await opened()).size).toBe(700_000)
  })

  it.each([403, 404, 500])('that answers %i is believed', async (status) => {
    server.behave.fail = { status, times: 99 }
    await expect(opened()).rejects.toMatchObject({ code: 'remote/status' })
    expect(server.seen.length).toBe(status === 500 ? 4 : 1)
  })

  it.each([
    ['shift', 'remote/range-mismatch'],
    ['garbage', 'remote/range-mismatch'],
    ['size', 'remote/changed'],
  ] as const)('that lies about the range (%s) is not believed', async (lie, code) => {
    const source = await opened()
    server.behave.lieAboutRange = lie
    await expect(source.read(100_000, 100)).rejects.toMatchObject({ code })
  })

  it('whose file changes is noticed', async () => {
    const source = await opened()
    server.behave.restless = true
    await expect(source.read(100_000, 100)).rejects.toMatchObject({ code: 'remote/changed' })
  })

  it('that sends less than it says is asked for the rest', async () => {
    const source = await opened()
    server.behave.short = 10_000
    expect(Buffer.compare(await source.read(65_536, 60_000), large.subarray(65_536, 125_536))).toBe(0)
  })

  it('that sends shorter ranges than it was requested is asked for the rest', async () => {
    server.behave.most = 30_000
    const source = await opened()
    expect(Buffer.compare(await source.read(20_000, 100_000), large.subarray(20_000, 120_000))).toBe(0)
  })

  it.each([undefined, 20_000])('that sends more than it announced is not believed (ranges up to %s)', async (most) => {
    const source = await opened()
    server.behave.overflow = true
    if (most) server.behave.most = most
    const { length } = server.seen
    await expect(source.read(100_000, 100)).rejects.toMatchObject({ code: 'remote/range-mismatch' })
    expect(server.seen.length).toBe(length + 1)
  })

  it('that sends nothing is given up', async () => {
    const source = await opened()
    server.behave.short = 0
    await expect(source.read(100_000, 100)).rejects.toMatchObject({ code: 'remote/unreachable' })
  })

  it('that is slow is waited for', async () => {
    const source = await opened()
    server.behave.slow = 8192
    expect(await source.read(100_000, 30_000)).toEqual(large.subarray(100_000, 130_000))
  })

  it('that compresses ranges is not believed', async () => {
    const source = await opened()
    server.behave.encoding = 'br'
    await expect(source.read(100_000, 100)).rejects.toMatchObject({ code: 'remote/range-mismatch' })
  })

  it('that stalls is given up', async () => {
    const source = await opened()
    server.behave.stall = true
    await expect(source.read(100_000, 100)).rejects.toMatchObject({ code: 'remote/unreachable' })
  })

  it('that cannot be reached gives an error with a code', async () => {
    await expect(HttpSource.open('http://127.0.0.1:9/x', quick)).rejects.toMatchObject({ code: 'remote/unreachable' })
    await expect(HttpSource.open('ftp://x/y')).rejects.toMatchObject({ code: 'remote/bad-address' })
  })

  it('stops when it is told to', async () => {
    const source = await opened()
    server.behave.stall = true
    const abort = new AbortController()
    setTimeout(() => abort.abort(), 20)
    await expect(source.read(100_000, 100, { signal: abort.signal })).rejects.toMatchObject({ code: 'io/aborted' })
  })
})

describe('redirects', () => {
  const other = useServer()

  it('take no headers to another origin', async () => {
    other.files.set('real.bin', large)
    server.behave.redirect = other.url('real.bin')
    const source = await HttpSource.open(server.url('m.bin'), { ...quick, headers: { Authorization: 'Bearer secret' } })
    await source.read(100_000, 100)
    expect(server.seen[0]!.authorization).toBe('Bearer secret')
    expect(other.seen.map((each) => each.authorization)).toEqual([undefined, undefined])
    expect(server.seen.length).toBe(1)
  })

  it.each([
    ['me:100%', 'me:100%'],
    ['m%c3%a9:%zz%20-%ff', 'mé:%zz -%ff'],
  ])('a name and password may hold any character: %s', async (typed, meant) => {
    server.files.set('m.bin', large)
    await HttpSource.open(server.url('m.bin').replace('http://', `http://${typed}@`), quick)
    expect(server.seen[0]!.authorization).toBe(`Basic ${Buffer.from(meant).toString('base64')}`)
  })

  it('take no name and password to another origin either', async () => {
    other.files.set('real.bin', large)
    server.behave.redirect = other.url('real.bin')
    const typed = server.url('m.bin').replace('http://', 'http://me:pass%20word@')
    const source = await HttpSource.open(typed, quick)
    expect(source.name).toBe(server.url('m.bin'))
    expect(server.seen[0]!.authorization).toBe(`Basic ${Buffer.from('me:pass word').toString('base64')}`)
    expect(other.seen[0]!.authorization).toBeUndefined()
  })

  it('from a public place into a private one are not followed', async () => {
    server.files.set('m.bin', large)
    const fetchIt: typeof fetch = async () =>
      new Response(null, { status: 302, headers: { location: server.url('m.bin') } })
    const options = { ...quick, fetch: fetchIt, checkAddress: refusePrivate }
    await expect(HttpSource.open('http://93.184.215.14/x', options)).rejects.toMatchObject({
      code: 'remote/private-address',
    })
    expect(server.seen).toEqual([])
  })

  it('in a circle are noticed', async () => {
    server.behave.redirect = server.url('again')
    await expect(opened()).rejects.toMatchObject({ code: 'remote/redirect' })
  })

  it('are looked up again when the shortcut expires', async () => {
    other.files.set('real.bin', large)
    server.behave.redirect = other.url('real.bin')
    const source = await HttpSource.open(server.url('m.bin'), quick)
    other.behave.fail = { status: 403, times: 1 }
    expect(await source.read(100_000, 10)).toEqual(large.subarray(100_000, 100_010))
    expect(server.seen.length).toBe(2)
  })
})

describe('addresses', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.20.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '::1',
    'fd00::1',
    'fe80::1',
    '::ffff:10.0.0.1',
    '::ffff:7f00:1',
    '2002:7f00:1::',
  ])('%s is private', (address) => expect(isPrivateAddress(address)).toBe(true))
  it.each(['1.1.1.1', '172.32.0.1', '2606:4700::1111', '::ffff:1.1.1.1'])('%s is not', (address) =>
    expect(isPrivateAddress(address)).toBe(false),
  )

  it('may be private when the user typed them, but not when a file names them', async () => {
    server.files.set('m.bin', large)
    expect((await openRemote(server.url('m.bin'), { cache: false })).size).toBe(700_000)
    await expect(openNamedRemote(server.url('m.bin'), { cache: false })).rejects.toMatchObject({
      code: 'remote/private-address',
    })
  })
})

describe('connections to addresses that a file names', () => {
  it('are judged when they are made, whatever the name said before', async () => {
    server.files.set('m.bin', large)
    const address = server.url('m.bin').replace('127.0.0.1', 'localhost')
    await expect(HttpSource.open(address, { ...quick, fetch: guardedFetch })).rejects.toMatchObject({
      code: 'remote/private-address',
    })
    expect(server.seen).toEqual([])
  })

  it('bring what others bring', async () => {
    server.files.set('m.bin', large)
    const source = await HttpSource.open(server.url('m.bin'), { ...quick, fetch: guardedFetch })
    expect(await source.read(300_000, 100_000)).toEqual(large.subarray(300_000, 400_000))
    expect(server.seen.map(({ range }) => range)).toEqual(['bytes=0-65535', 'bytes=262144-458751'])
  })
})

describe('reading on and on', () => {
  it('takes one request, however small the windows are', async () => {
    const source = await opened()
    let at = 60_000
    for await (const chunk of streamRange({ source, offset: at, length: 500_000 }, 10_000)) {
      expect(Buffer.compare(chunk, large.subarray(at, at + chunk.byteLength))).toBe(0)
      at += chunk.byteLength
    }
    expect([at, server.seen.length]).toEqual([560_000, 2])
  })

  it('goes on where a connection was cut', async () => {
    const source = await opened()
    server.behave.cut = { after: 70_000, times: 2 }
    const parts: Uint8Array[] = []
    for await (const chunk of streamRange({ source, offset: 0, length: 700_000 }, 65_000)) parts.push(chunk.slice())
    expect(Buffer.compare(Buffer.concat(parts), large)).toBe(0)
    expect(server.seen.map(({ range }) => range)).toEqual([
      'bytes=0-65535',
      'bytes=65536-699999',
      'bytes=135536-699999',
      'bytes=205536-699999',
    ])
  })

  it('from neighbour to neighbour asks for more each time', async () => {
    const source = await opened()
    for (let at = 0; at < 700_000; at += 70_000) await source.read(at, 70_000)
    expect(server.seen.length).toBeLessThanOrEqual(5)
  })

  it('can be given up at any time', async () => {
    const source = await opened()
    server.behave.slow = 1000
    for await (const _ of streamRange({ source, offset: 0, length: 700_000 }, 10_000)) break
    await source.close()
    await expect(source.read(600_000, 10)).rejects.toMatchObject({ code: 'io/aborted' })
  })

  it('side by side takes one request each', async () => {
    const source = await opened()
    const sum = async (offset: number): Promise<number> => {
      let total = 0
      for await (const chunk of streamRange({ source, offset, length: 300_000 }, 9_000))
        for (const byte of chunk) total += byte
      return total
    }
    const truth = (offset: number): number => large.subarray(offset, offset + 300_000).reduce((a, b) => a + b)
    expect(await Promise.all([sum(65_536), sum(390_000)])).toEqual([truth(65_536), truth(390_000)])
    expect(server.seen.length).toBeLessThanOrEqual(4)
  })
})

describe('the disk store', () => {
  it('saves requests, and fetches again what was damaged', async () => {
    const store = new DiskStore({ directory: at('cache') })
    const first = await opened('m.bin', large, { store })
    await first.read(0, 700_000)
    await first.close()
    const afterFirst = server.seen.length
    const second = await opened('m.bin', large, { store })
    expect(Buffer.compare(await second.read(0, 700_000), large)).toBe(0)
    expect(server.seen.length).toBe(afterFirst + 1)

    const [folder] = readdirSync(at('cache'))
    const block = join(at('cache'), folder!, '3.block')
    const bytes = readFileSync(block)
    bytes[500] = bytes[500]! ^ 1
    writeFileSync(block, bytes)
    const third = await opened('m.bin', large, { store })
    expect(Buffer.compare(await third.read(0, 700_000), large)).toBe(0)
    expect(server.seen.length).toBe(afterFirst + 3)
  })

  it('hands out no block under the name of another', async () => {
    const store = new DiskStore({ directory: at('cache') })
    await store.put('one', 1, large.subarray(0, 100))
    await store.put('one', 2, large.subarray(100, 200))
    await store.put('two', 2, large.subarray(200, 300))
    const folders = readdirSync(at('cache')).map((name) => join(at('cache'), name))
    const [one, two] = folders.sort((a, b) => readdirSync(b).length - readdirSync(a).length)
    copyFileSync(join(two!, '2.block'), join(one!, '2.block'))
    copyFileSync(join(one!, '1.block'), join(two!, '1.block'))
    copyFileSync(join(one!, '1.block'), join(one!, '3.block'))
    expect(await store.get('one', 1)).toEqual(large.subarray(0, 100))
    for (const [key, block] of [
      ['one', 2],
      ['two', 1],
      ['one', 3],
    ] as const)
      expect(await store.get(key, block)).toBeUndefined()
  })

  it('keeps versions apart and stays within its limit', async () => {
    const store = new DiskStore({ directory: at('cache'), limit: 200_000 })
    const source = await opened('m.bin', large, { store })
    await source.read(0, 700_000)
    await source.close()
    const sizes = readdirSync(at('cache'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.block'))
      .map((name) => readFileSync(join(at('cache'), name)).byteLength)
    expect(sizes.length).toBeGreaterThan(0)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(200_000)
  })

  it('counts what other runs have left', async () => {
    const directory = at('cache')
    const sizeOf = () =>
      readdirSync(directory, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.block'))
        .reduce((sum, name) => sum + readFileSync(join(directory, name)).byteLength, 0)
    const reading = async (name: string, offset: number): Promise<void> => {
      const source = await opened(name, large, { store: new DiskStore({ directory, limit: 300_000 }) })
      await source.read(offset, 10)
      await source.close()
    }
    for (let i = 1; i < 10; i++) await reading(`m${i}.bin`, i * 65_536)
    expect(sizeOf()).toBeGreaterThan(200_000)
    expect(sizeOf()).toBeLessThanOrEqual(300_000)
  })

  it('removes its own files only', async () => {
    const directory = at('cache')
    const others = ['notes.txt', '0.block', 'thesis/0.block', `${'a'.repeat(32)}/readme`]
    for (const name of others) {
      mkdirSync(dirname(join(directory, name)), { recursive: true })
      writeFileSync(join(directory, name), 'mine')
      utimesSync(join(directory, name), 1, 1)
    }
    const forgotten = join(directory, 'b'.repeat(32), '7.block.1-2.tmp')
    mkdirSync(dirname(forgotten))
    writeFileSync(forgotten, new Uint8Array(150_000))
    utimesSync(forgotten, 1, 1)
    const store = new DiskStore({ directory, limit: 200_000 })
    for (let i = 0; i < 6; i++) await store.put('key', i, large.subarray(0, 60_000))
    await store.trim()
    expect((await store.list('key')).size).toBe(3)
    for (const name of others) expect(readFileSync(join(directory, name), 'utf8')).toBe('mine')
    expect(existsSync(dirname(forgotten))).toBe(false)
  })

  it('takes the same block from several at once', async () => {
    const stores = [1, 2, 3].map(() => new DiskStore({ directory: at('cache') }))
    await Promise.all(stores.map((store) => store.put('key', 1, large.subarray(0, 65_536))))
    for (const store of stores) expect(await store.get('key', 1)).toEqual(large.subarray(0, 65_536))
    expect(
      readdirSync(at('cache'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tmp')),
    ).toEqual([])
  })

  it('takes its limit from the environment', () => {
    vi.stubEnv('TARE_CACHE_LIMIT', '512M')
    expect(new DiskStore().limit).toBe(512 * 2 ** 20)
    vi.stubEnv('TARE_CACHE_LIMIT', 'much')
    expect(() => new DiskStore()).toThrow('is not a size')
  })

  it('takes its place from the environment, where that says something', () => {
    vi.stubEnv('TARE_CACHE', '/own')
    vi.stubEnv('XDG_CACHE_HOME', '/shared')
    expect(new DiskStore().directory).toBe('/own')
    vi.stubEnv('TARE_CACHE', '')
    expect(new DiskStore().directory).toBe(join('/shared', 'tare'))
    vi.stubEnv('XDG_CACHE_HOME', '')
    expect(new DiskStore().directory).toBe(join(homedir(), '.cache', 'tare'))
  })
})
