// Tensors whose values are all one, none at all, or at the ends of what their type holds: every part of the screen shows something.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, it } from 'vitest'
import { type Folder, makeFolder, writeSafetensors } from '../models.js'
import { type OpenPage, openPage, show, startView, type Viewed } from '../page.js'

const count = 64
const f32 = (valueAt: (i: number) => number): Float32Array => Float32Array.from({ length: count }, (_, i) => valueAt(i))
const f64 = (valueAt: (i: number) => number): Float64Array => Float64Array.from({ length: count }, (_, i) => valueAt(i))

const tensors: Readonly<Record<string, readonly [dtype: string, values: Float32Array | Float64Array | BigInt64Array]>> =
  {
    constant: ['F32', f32(() => -3.25)],
    'largest constant': ['F32', f32(() => 3.4e38)],
    'smallest constant': ['F32', f32(() => 1e-45)],
    zeros: ['F32', f32(() => 0)],
    'no numbers': ['F32', f32((i) => (i % 2 ? Number.NaN : Number.POSITIVE_INFINITY))],
    ends: ['F32', f32((i) => (i % 2 ? 3.4e38 : -3.4e38))],
    'beyond f32': ['F64', f64((i) => (i % 2 ? 1.7e308 : -1.7e308))],
    'one step apart': ['F64', f64((i) => 1e16 + 2 * (i % 2))],
    integers: ['I64', BigInt64Array.from({ length: count }, (_, i) => (i % 2 ? -(2n ** 63n) : 2n ** 63n - 1n))],
  }

export function oddValueSuite(browser: () => Browser): void {
  let folder: Folder
  let viewed: Viewed
  let opened: OpenPage
  beforeAll(async () => {
    folder = makeFolder()
    const header: Record<string, unknown> = {}
    const parts: Buffer[] = []
    let at = 0
    for (const [name, [dtype, { buffer }]] of Object.entries(tensors)) {
      header[name] = { dtype, shape: [8, 8], data_offsets: [at, at + buffer.byteLength] }
      parts.push(Buffer.from(buffer))
      at += buffer.byteLength
    }
    const path = folder.at('odd.safetensors')
    writeSafetensors(path, JSON.stringify(header), Buffer.concat(parts))
    viewed = await startView(path)
    opened = await openPage(browser(), viewed.address)
    await opened.page.waitForSelector('.facts')
  })
  afterAll(async () => {
    await opened?.close()
    await viewed?.close()
    folder?.remove()
  })

  it.each(Object.keys(tensors))('%s', async (name) => {
    const { page, assertClean } = opened
    await show(page, `#/f/0/tensor/${encodeURIComponent(name)}`, '.statistics')
    await page.waitForFunction((title) => document.querySelector('h1')?.textContent === title, name)
    await page.waitForSelector('.outliers ol li, .outliers p.faint')
    if ((await page.locator('.histogram').count()) > 0) await page.waitForSelector('.histogram canvas')
    assertClean()
  })
}
