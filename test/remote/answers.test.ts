// What a server may say that is neither the range nor a plain no.
import { describe, expect, it } from 'vitest'
import { HttpSource } from '../../src/kit.js'
import { DiskStore } from '../../src/kit-node.js'
import { guardedFetch } from '../../src/node/remote/guarded-fetch.js'
import { useTempDir } from '../node/temp-dir.js'
import { useServer } from './server.js'

const server = useServer()
const at = useTempDir()
const bytes = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 7 + Math.floor(i / 256)) % 256)
const quick = { backoff: 1, idleTimeout: 200 }

async function opened(options = {}): Promise<HttpSource> {
  server.files.set('m.bin', bytes)
  return HttpSource.open(server.url('m.bin'), { ...quick, ...options })
}

describe('a server that takes a request and says nothing', () => {
  const ways: readonly (readonly [string, { fetch?: typeof fetch }])[] = [
    ['fetch', {}],
    ['the guarded fetch', { fetch: guardedFetch }],
  ]
  it.each(ways)('is asked again, with %s', async (_, options) => {
    server.behave.mute = 1
    const source = await opened(options)
    expect(await source.read(200_000, 10)).toEqual(bytes.subarray(200_000, 200_010))
  })

  it.each(ways)('is given up in the end, with %s', async (_, options) => {
    server.behave.mute = 10
    await expect(opened({ ...options, tries: 2 })).rejects.toMatchObject({
      code: 'remote/unreachable',
      finding: { message: 'no answer came for 0.2 s (tried 2 times)' },
    })
    expect(server.seen.length).toBe(2)
  })
})

describe('a server that is busy until some time', () => {
  it.each([
    ['in seconds', '0'],
    ['as a date', new Date(0).toUTCString()],
  ])('is asked again then (%s)', async (_, retryAfter) => {
    server.behave.fail = { status: 503, times: 2, retryAfter }
    // Without the header the pauses would take longer than the test may.
    const source = await opened({ backoff: 60_000 })
    expect(source.size).toBe(300_000)
  })
})

describe('the version of a file', () => {
  it('must not get lost on the way', async () => {
    server.behave.forgetAfter = 1
    const source = await opened()
    await expect(source.read(200_000, 10)).rejects.toMatchObject({ code: 'remote/changed' })
  })

  it('is not kept on disk under an ETag that may stand for different bytes', async () => {
    const store = new DiskStore({ directory: at('cache') })
    for (const [etag, requests] of [
      ['W/"1"', 4],
      ['"1"', 3],
    ] as const) {
      server.behave.etag = etag
      server.seen.length = 0
      for (let i = 0; i < 2; i++) {
        const source = await opened({ store })
        await source.read(200_000, 10)
        await source.close()
      }
      expect(server.seen.length).toBe(requests)
    }
  })
})

it('more than was requested is not taken in, however much is announced', async () => {
  server.behave.lieAboutRange = 'endless'
  await expect(opened()).rejects.toMatchObject({
    code: 'remote/range-mismatch',
    finding: { message: 'bytes 0-65535 were requested, 0-35184372088832 came' },
  })
  expect(server.seen.length).toBe(1)
})

describe('answers without a range', () => {
  it('mean an empty file, unless they say that it has bytes', async () => {
    server.behave.unsatisfied = 'bytes */0'
    expect((await opened()).size).toBe(0)
    server.behave.unsatisfied = 'bytes */300000'
    await expect(opened()).rejects.toMatchObject({ code: 'remote/range-mismatch' })
  })

  it.each([undefined, guardedFetch])('are unfolded where they are compressed', async (fetch) => {
    server.behave.gzip = true
    const source = await opened({ fetch })
    expect(Buffer.compare(await source.read(0, 300_000), bytes)).toBe(0)
    await expect(opened({ fetch, downloadLimit: 100_000 })).rejects.toMatchObject({ code: 'remote/too-large' })
  })
})
