// Names and what they mean: those of the public network are mocked, the private one is this machine.
import { afterEach, expect, it, vi } from 'vitest'

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
