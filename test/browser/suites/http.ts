import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { type HttpOptions, MemorySource } from '../../../src/kit.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { filesOf, formatIds, openHere, spread } from '../given-files.js'
import { hashText } from '../page/models.js'
import { callIn, type Use } from '../site.js'

export function httpSuite({ site, page }: Use): void {
  /** What is in a file that takes several requests. */
  let wanted: string
  beforeAll(async () => {
    const tensors = [1, 2, 3].map((i) => sampleTensor(`layer.${i}`, 'f32', [64, 1024], i))
    const [bytes] = (await convertToFiles(sampleModel(tensors), 'safetensors')).values()
    writeFileSync(join(site().folder, 'files', 'large.safetensors'), bytes!)
    wanted = await hashText(new MemorySource(bytes!))
  })
  beforeEach(() => {
    site().plain.asked.length = 0
    site().isolated.asked.length = 0
  })

  const hashFrom = (address: string, options: HttpOptions = {}): Promise<string> =>
    callIn(page(), 'page', 'hashRemote', address, options)

  it.each(formatIds)('%s, a range at a time', async (id) => {
    for (const each of spread(
      filesOf(id).filter(({ isAccepted }) => isAccepted),
      3,
    )) {
      expect(await hashFrom(`/fixtures/${each.place}`), each.place).toBe(await hashText(await openHere(each)))
    }
    const { asked } = site().plain
    expect(asked.length).toBeGreaterThan(0)
    expect(asked.filter(({ range, method }) => range === undefined || method !== 'GET')).toEqual([])
  })

  it('asks for what is needed, of one version of the file', async () => {
    expect(await hashFrom('/files/large.safetensors')).toBe(wanted)
    const [first, ...others] = site().plain.asked
    expect(first).toMatchObject({ range: 'bytes=0-65535', ifMatch: undefined })
    expect(others.length).toBeGreaterThan(0)
    for (const each of others) expect(each.ifMatch).toMatch(/^"\d+"$/)
  })

  it('follows redirects, also to another origin', async () => {
    expect(await hashFrom('/files/x?to=/files/large.safetensors')).toBe(wanted)
    const elsewhere = `${site().isolated.origin}/files/large.safetensors?as=shared`
    expect(await hashFrom(`/files/x?to=${encodeURIComponent(elsewhere)}`)).toBe(wanted)
    expect(site().isolated.asked.length).toBeGreaterThan(1)
  })

  it('reads from another origin that allows it, without asking for permission first', async () => {
    const address = `${site().isolated.origin}/files/large.safetensors`
    expect(await hashFrom(`${address}?as=shared`)).toBe(wanted)
    expect(new Set(site().isolated.asked.map(({ method }) => method))).toEqual(new Set(['GET']))
    expect(await hashFrom(address)).toMatch(/^remote\/unreachable @ 0/)
  })

  it('does not let headers go where a redirect leads', async () => {
    const headers = { 'X-Token': 'secret' }
    const elsewhere = `${site().isolated.origin}/files/large.safetensors?as=shared`
    expect(await hashFrom(`/files/x?to=${encodeURIComponent(elsewhere)}`, { headers })).toMatch(/^remote\/redirect @ 0/)
    expect(site().isolated.asked).toEqual([])
    expect(await hashFrom('/files/large.safetensors', { headers })).toBe(wanted)
    expect(site().plain.asked.at(-1)).toMatchObject({ token: 'secret' })
  })

  it('downloads what a server has no ranges for', async () => {
    expect(await hashFrom('/files/large.safetensors?as=whole')).toBe(wanted)
    expect(site().plain.asked.length).toBe(1)
  })

  it('says what is missing', async () => {
    expect(await hashFrom('/files/missing')).toMatch(/^remote\/status @ 0/)
  })
}
