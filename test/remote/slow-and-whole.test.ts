// Servers that cost memory or time: those that only send whole files, and those that send next to nothing.
import { readdirSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { openRemote } from '../../src/kit-node.js'
import { spoolDownload } from '../../src/node/files/spool.js'
import { HttpSource } from '../../src/remote/index.js'
import { Pace } from '../../src/remote/pace.js'
import { runCli as tare } from '../cli/run-cli.js'
import { useTempDir } from '../node/temp-dir.js'
import { useServer } from './server.js'

const server = useServer()
const at = useTempDir()
const quick = { backoff: 1, idleTimeout: 5000 }
const bytes = Uint8Array.from({ length: 6 << 20 }, (_, i) => (i * 7 + (i >> 8)) % 256)

afterEach(() => {
  delete process.env.TARE_MIN_RATE
})

function serve(size: number): string {
  server.files.set('m.bin', bytes.subarray(0, size))
  return server.url('m.bin')
}

describe('a server that only sends whole files', () => {
  it.each([1000, 6 << 20])('gives a source of %i bytes, on disk where it is large', async (size) => {
    server.behave.noRanges = true
    const source = await openRemote(serve(size), { cache: false })
    expect([source.size, source.handle !== undefined]).toEqual([size, size > 4 << 20])
    expect(await source.read(0, 3)).toEqual(bytes.subarray(0, 3))
    expect(Buffer.compare(await source.read(size - 500, 500), bytes.subarray(size - 500, size))).toBe(0)
    await source.close()
    expect(server.seen.length).toBe(1)
  })

  it('fills no more memory than it may, and leaves no file behind', async () => {
    server.behave.noRanges = true
    const keepWhole = (body: AsyncIterable<Uint8Array>, name: string) =>
      spoolDownload(body, name, { memory: 1000, directory: at('.') })
    const source = await HttpSource.open(serve(1001), { ...quick, keepWhole })
    expect(source.handle?.kind).toBe('descriptor')
    expect(Buffer.compare(await source.read(0, 1001), bytes.subarray(0, 1001))).toBe(0)
    await source.close()
    expect(readdirSync(at('.'))).toEqual([])
  })

  it('is asked again when the connection breaks, and given up after some tries', async () => {
    const keepWhole = (body: AsyncIterable<Uint8Array>, name: string) => spoolDownload(body, name, { memory: 10 })
    server.behave.noRanges = true
    server.behave.cut = { after: 500, times: 2 }
    expect((await HttpSource.open(serve(2000), { ...quick, keepWhole })).size).toBe(2000)
    server.behave.cut = { after: 500, times: 99 }
    const open = HttpSource.open(serve(2000), { ...quick, tries: 2, keepWhole })
    await expect(open).rejects.toMatchObject({ code: 'remote/unreachable' })
  })

  it('that promises much and sends little takes no memory for the promise', async () => {
    const body = new ReadableStream({ pull: (controller) => controller.close() })
    const fetch = async () => new Response(body, { headers: { 'content-length': String(2 ** 30) } })
    const open = HttpSource.open('http://127.0.0.1/m', { fetch, tries: 1, keepWhole: keepNothing })
    await expect(open).rejects.toMatchObject({ code: 'remote/unreachable' })
  })
})

async function keepNothing(body: AsyncIterable<Uint8Array>): Promise<never> {
  for await (const chunk of body) expect(chunk.byteLength).toBeLessThan(100)
  throw new Error('the body should have ended in an error')
}

describe('a server that sends next to nothing', () => {
  it.each([true, false])('is given up, without another try (whole files only: %s)', async (noRanges) => {
    server.behave = { noRanges, slow: 1 }
    const open = HttpSource.open(serve(100_000), { ...quick, minRate: 1 << 20, rateWindow: 50 })
    const error = await open.catch((reason) => reason)
    expect(error).toMatchObject({ code: 'remote/too-slow' })
    expect(error.message).toMatch(/\d+ bytes came in .* try again later, or set TARE_MIN_RATE/)
    expect(server.seen.length).toBe(1)
  })

  it('is given up in the middle of a file, too', async () => {
    const source = await HttpSource.open(serve(1 << 20), { ...quick, minRate: 1 << 20, rateWindow: 50 })
    server.behave = { slow: 1 }
    await expect(source.read(500_000, 100_000)).rejects.toMatchObject({ code: 'remote/too-slow' })
  })

  it('is waited for where that is wanted', async () => {
    server.behave = { noRanges: true, slow: 100 }
    expect((await HttpSource.open(serve(5000), { ...quick, minRate: 0, rateWindow: 5 })).size).toBe(5000)
  })

  it('is given up by the command, whose limit comes from the environment', async () => {
    process.env.TARE_MIN_RATE = 'fast'
    const { status, stderr } = await tare('inspect', '--no-cache', serve(1000))
    expect([status, stderr]).toEqual([2, expect.stringContaining('TARE_MIN_RATE')])
  })
})

describe('Pace', () => {
  it('counts the time of waiting alone, window by window', () => {
    const pace = new Pace('x', { minRate: 1000, rateWindow: 10_000 })
    for (let i = 0; i < 100; i++) pace.add(1000, 1000)
    pace.add(1 << 20, 0)
    expect(() => pace.add(0, 1000)).not.toThrow()
    const slow = new Pace('x', {})
    for (let i = 0; i < 29; i++) slow.add(1, 1000)
    expect(() => slow.add(1, 1000)).toThrow(expect.objectContaining({ code: 'remote/too-slow' }))
  })
})
