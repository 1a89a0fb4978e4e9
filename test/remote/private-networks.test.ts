// Names and what they mean: those of the public network are mocked, the private one is this machine.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const names: Record<string, { first: string; later: string }> = {
  'models.corp': { first: '10.0.0.5', later: '10.0.0.5' },
  'public.example': { first: '93.184.215.14', later: '93.184.215.14' },
  // A name that means a public address when it is looked at, and a private one when it is asked.
  'flip.example': { first: '93.184.215.14', later: '127.0.0.1' },
}
vi.mock('node:dns/promises', () => ({
  lookup: async (host: string) => [{ address: names[host]!.first, family: 4 }],
}))
vi.mock('node:dns', () => ({
  lookup: (host: string, _options: unknown, done: (error: null, found: object[]) => void) =>
    done(null, [{ address: names[host]!.later, family: 4 }]),
}))

const { openInput } = await import('../../src/node/input.js')
const { filesAt } = await import('../../src/node/fetch/collection.js')
const { openRemote } = await import('../../src/node/remote/open-remote.js')
const { findPrivate, isPrivateAddress, refusePrivate } = await import('../../src/node/remote/private-address.js')
const { useServer } = await import('./server.js')

const server = useServer()
const direct = globalThis.fetch
afterEach(() => vi.unstubAllGlobals())

/** Everything at a name leads on to `target`; addresses are asked for real. */
function redirectTo(target: string): void {
  vi.stubGlobal('fetch', (input: URL, init: RequestInit) =>
    /^[\d.]+$/.test(input.hostname)
      ? direct(input, init)
      : Promise.resolve(new Response(null, { status: 302, headers: { location: target } })),
  )
}

it('a private place that the user typed may lead to another', async () => {
  server.files.set('m.bin', new Uint8Array(100))
  redirectTo(server.url('m.bin'))
  expect((await openRemote('http://models.corp/m.bin', { cache: false })).size).toBe(100)
})

it('a public place may not, whatever the name says at first', async () => {
  server.files.set('m.bin', new Uint8Array(100))
  for (const target of [server.url('m.bin'), server.url('m.bin').replace('127.0.0.1', 'flip.example')]) {
    redirectTo(target)
    await expect(openRemote('http://public.example/m.bin', { cache: false })).rejects.toMatchObject({
      code: 'remote/private-address',
    })
  }
  expect(server.seen).toEqual([])
})

describe.each([
  'http://127.0.0.1:1/x',
  'http://2852039166/latest/meta-data/',
  'http://[::ffff:169.254.169.254]/latest/meta-data/',
  'http://[fd00:ec2::254]/latest/meta-data/',
  'http://models.corp/m.bin',
  'http://flip.example/m.bin',
])('a redirect to %s', (target) => {
  const commit = 'c'.repeat(40)
  const siblings = [{ rfilename: 'm.bin', size: 100 }]
  /** What public servers say; everything else is asked for real. */
  const answers = (path: string): Response => {
    if (path.startsWith('/api/')) return new Response(JSON.stringify({ sha: commit, siblings }))
    if (path === '/folder/') return new Response('<a href="m.bin">m.bin</a>')
    return new Response(null, { status: 307, headers: { location: target } })
  }
  const asked: string[] = []
  beforeEach(() => {
    asked.length = 0
    vi.stubGlobal('fetch', (input: URL, init: RequestInit) => {
      asked.push(input.hostname)
      return input.hostname === 'public.example' ? Promise.resolve(answers(input.pathname)) : direct(input, init)
    })
    vi.stubEnv('HF_ENDPOINT', 'http://public.example')
    vi.stubEnv('HF_HOME', '/nowhere')
    vi.stubEnv('AWS_ENDPOINT_URL', 'http://public.example')
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'id')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'key')
  })
  afterEach(() => vi.unstubAllEnvs())

  it.each(['hf://lab/tiny/m.bin', 's3://bucket/m.bin', 'http://public.example/m.bin'])(
    'is not followed from %s',
    async (address) => {
      await expect(openInput(address, { cache: false })).rejects.toMatchObject({ code: 'remote/private-address' })
      expect(new Set(asked)).toEqual(new Set(['public.example']))
    },
  )

  it.each(['hf://lab/tiny', 'http://public.example/folder/'])('is not followed by a fetch of %s', async (address) => {
    const fetched = async () => {
      for (const file of await filesAt(address)) await (await file.open()).close()
    }
    await expect(fetched()).rejects.toMatchObject({ code: 'remote/private-address' })
    expect(new Set(asked)).toEqual(new Set(['public.example']))
  })
})

it('names and passwords in a redirect are left out', async () => {
  server.files.set('m.bin', new Uint8Array(100))
  redirectTo(server.url('m.bin').replace('http://', 'http://me:secret@'))
  expect((await openRemote('http://models.corp/m.bin', { cache: false })).size).toBe(100)
  expect(server.seen[0]!.authorization).toBeUndefined()
})

it.each([
  'http://[::127.0.0.1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:0:127.0.0.1]/',
  'http://[64:ff9b::10.0.0.1]/',
  'http://[64:ff9b:1::7f00:1]/',
  'http://[2001::1]/',
  'http://[fec0::1]/',
  'http://[fd12::1]/',
  'http://[5f00::1]/',
  'http://[3fff:1::1]/',
  'http://[2001:2::1]/',
  'http://2130706433/',
  'http://0177.0.0.1/',
  'http://0x7f.1/',
  'http://127.0.0.1./',
  'http://localhost./',
  'http://x.localhost/',
  'http://models.corp/',
])('%s is not asked when a file names it', async (address) => {
  await expect(refusePrivate(new URL(address))).rejects.toMatchObject({ code: 'remote/private-address' })
})

it('public addresses stay public', async () => {
  for (const address of ['1.1.1.1', '2606:4700::1111', '2001:4860:4860::8888', '2a00::1', '::ffff:1.1.1.1']) {
    expect(isPrivateAddress(address)).toBe(false)
  }
  expect(await findPrivate('public.example')).toBeUndefined()
})
