// The file byte by byte: findings lead to their bytes, fields and bytes belong together, and everything can be found.
import { readFileSync, truncateSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { mapSource, verifySource } from '../../../src/kit.js'
import { FileSource } from '../../../src/node/index.js'
import { type Folder, makeFolder, writePair } from '../models.js'
import { type OpenPage, openPage, show, startView, type Viewed } from '../page.js'

export function bytesSuite(browser: () => Browser): void {
  let folder: Folder
  let viewed: Viewed
  let opened: OpenPage
  let [a, b] = ['', '']
  beforeAll(async () => {
    folder = makeFolder()
    ;[a, b] = await writePair(folder)
    truncateSync(b, 5000)
    viewed = await startView(a, b)
    opened = await openPage(browser(), viewed.address)
    await opened.page.waitForSelector('.facts')
  })
  afterAll(async () => {
    await opened?.close()
    await viewed?.close()
    folder?.remove()
  })

  it('the finding of a damaged file leads to its byte', async () => {
    const { page } = opened
    const { findings } = await verifySource(await FileSource.open(b), { quick: true })
    const finding = findings.find(({ severity, offset }) => severity === 'error' && offset !== undefined)!
    await show(page, '#/f/1/overview', '.failed')
    await show(page, '#/f/1/findings', '.code-group.error')
    await page.locator('.code-group.error .link').first().click()
    await page.waitForSelector('.hex .byte.at')
    const size = 5000
    expect(await cursor(page)).toBe(Math.min(finding.offset!, size - 1))
    opened.assertClean()
  })

  it('every field is named over its bytes', async () => {
    const { page } = opened
    const { files } = await mapSource(await FileSource.open(a))
    const rows = files[0]!.extents
    await show(page, '#/f/0/bytes', '.hex .byte.at')
    for (const row of [rows[0]!, rows[1]!, rows[Math.floor(rows.length / 2)]!, rows.at(-1)!]) {
      await show(page, `#/f/0/bytes?at=0x${row.offset.toString(16)}`, `#byte-${row.offset}.at`)
      await page.waitForFunction(
        (path) => document.querySelector('.bytes .path')?.textContent?.includes(path),
        row.path,
      )
    }
    opened.assertClean()
  })

  it('shows the bytes of the file, also far from the start', async () => {
    const { page } = opened
    const source = await FileSource.open(a)
    const offset = source.size - 100
    await show(page, `#/f/0/bytes?at=${offset}`, `#byte-${offset}.at`)
    const wanted = await source.read(offset, 100)
    await source.close()
    await page.waitForFunction((at) => document.querySelector(`#byte-${at}`)?.textContent !== '··', offset)
    const shown = await page.evaluate(
      ([from, count]) =>
        Array.from({ length: count! }, (_, i) => document.querySelector(`#byte-${from! + i}`)?.textContent),
      [offset, 100],
    )
    expect(shown.join('')).toBe(Buffer.from(wanted).toString('hex'))
  })

  it('finds text, and fields by their names', async () => {
    const { page } = opened
    await show(page, '#/f/0/bytes?at=0', '#byte-0.at')
    await page.fill('.bytes [type=search]', 'layers.1.mlp')
    await page.keyboard.press('Enter')
    await page.waitForSelector(`#byte-${readFileSync(a).indexOf('layers.1.mlp')}.at`)
    await page.fill('[name=goto]', 'header_length')
    await page.keyboard.press('Enter')
    await page.waitForSelector('#byte-0.at')
  })

  it('the tree goes to bytes, and follows them', async () => {
    const { page } = opened
    await show(page, '#/f/0/bytes?at=0', '.fields .choose')
    expect(await page.locator('.fields [aria-current]').first().innerText()).toContain('header_length')
    await page.locator('.fields .choose', { hasText: /^data/ }).first().click()
    await page.waitForFunction(() => !document.querySelector('#byte-0.at'))
    expect(await page.locator('.fields [aria-current]').first().innerText()).toContain('data')
    opened.assertClean()
  })
}

const cursor = async (page: Page): Promise<number> =>
  Number((await page.locator('.hex .byte.at').getAttribute('id'))!.replace('byte-', ''))
