// Large files in chunks, through the package of the hub: used to bring files home, where it is installed, and never without the digest.
import { existsSync, readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { runCli as tare } from '../../cli/run-cli.js'
import { useTempDir } from '../../node/temp-dir.js'
import { commits, useHub } from './server.js'

const at = useTempDir()
const hub = useHub()

const large = Uint8Array.from({ length: 17 << 20 }, (_, i) => (i * 31 + (i >> 9)) & 255)
const small = large.subarray(0, 5000)

beforeEach(() => {
  for (const name of Object.keys(process.env)) if (/^(HF|HUGGING)_/.test(name)) vi.stubEnv(name, undefined)
  vi.stubEnv('TARE_CACHE', at('cache'))
  vi.stubEnv('HF_HOME', at('hf'))
  vi.stubEnv('HF_ENDPOINT', hub.endpoint)
  vi.stubEnv('HF_TOKEN', 'hf_T0KEN')
  const files = new Map([
    ['a b/large.bin', large],
    ['small.bin', small],
  ])
  hub.repositories.set('models/lab/tiny', { commit: commits[0], files, token: 'hf_T0KEN' })
})

const fetchAll = () => tare('fetch', 'hf://lab/tiny', '-o', at('home'))
const asked = (words: string): number => hub.seen.filter(({ url }) => url.includes(words)).length

describe('a large file of the hub', () => {
  it('comes in chunks, and the token goes to the hub only', async () => {
    hub.xet = 'right'
    const { status, stdout, stderr } = await fetchAll()
    expect(status, stderr).toBe(0)
    expect(Buffer.compare(readFileSync(at('home/a b/large.bin')), large)).toBe(0)
    expect(Buffer.compare(readFileSync(at('home/small.bin')), small)).toBe(0)
    expect([asked('/xorbs/') > 0, asked('small.bin') > 0]).toEqual([true, true])
    for (const { on, authorization } of hub.seen)
      expect(authorization ?? '').toMatch(on === 'hub' ? /^Bearer hf_T0KEN$/ : /^(Bearer xet_T0KEN)?$/)
    expect(stdout + stderr).not.toMatch(/T0KEN/)
  })

  it('comes from where the hub redirects to, as far as the chunks are not there', async () => {
    hub.xet = 'cut'
    const { status, stderr } = await fetchAll()
    expect(status, stderr).toBe(0)
    expect(Buffer.compare(readFileSync(at('home/a b/large.bin')), large)).toBe(0)
    expect(asked('/xorbs/')).toBeGreaterThan(0)
  }, 60_000)

  it('is thrown away where the chunks are others', async () => {
    hub.xet = 'damaged'
    const { status, stderr } = await fetchAll()
    expect([status > 0, stderr.includes('remote/digest-mismatch')], stderr).toEqual([true, true])
    expect(existsSync(at('home/a b/large.bin'))).toBe(false)
  })

  it('is not asked for in chunks where another origin wants the token', async () => {
    hub.xet = 'stolen'
    expect((await fetchAll()).status).toBe(0)
    expect(asked('/xorbs/')).toBe(0)
    expect(hub.seen.filter(({ on }) => on === 'store').every(({ authorization }) => authorization === undefined)).toBe(
      true,
    )
  })

  it('is read by ranges by everything else', async () => {
    hub.xet = 'right'
    await tare('hash', 'hf://lab/tiny/a b/large.bin', '--files')
    expect(asked('xet')).toBe(0)
  })
})
