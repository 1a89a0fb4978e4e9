// A user without a home directory, such as one that a container runs as: there is no place for the cache, and no need for it.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

vi.mock('node:os', async (original) => ({
  ...(await original<typeof import('node:os')>()),
  homedir: () => {
    throw new Error('uv_os_homedir returned ENOENT')
  },
}))

const { DiskStore, openRemote } = await import('../../src/kit-node.js')
const { useServer } = await import('./server.js')

const server = useServer()
beforeEach(() => {
  vi.stubEnv('TARE_CACHE', '')
  vi.stubEnv('XDG_CACHE_HOME', '')
})
afterEach(() => vi.unstubAllEnvs())

it('reads without a cache', async () => {
  server.files.set('m.bin', new Uint8Array(200_000).fill(7))
  const source = await openRemote(server.url('m.bin'))
  expect(await source.read(150_000, 2)).toEqual(Uint8Array.of(7, 7))
})

it('has one where a place is named', () => {
  expect(() => new DiskStore()).toThrow('name a directory for the cache')
  expect(new DiskStore({ directory: '/own' }).directory).toBe('/own')
})
