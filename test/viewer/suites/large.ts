// Models that are too large for most pages: a million tensors, six gigabytes, and a worker that dies over them.
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Folder, makeFolder, safetensorsHeader, writeSafetensors } from '../models.js'
import { openPage, show, startView } from '../page.js'

const million = 1_000_000

export function largeSuite(browser: () => Browser): void {
  let folder: Folder
  beforeAll(() => {
    folder = makeFolder()
  })
  afterAll(() => folder?.remove())

  it('a million tensors scroll and sort', async () => {
    const path = folder.at('million.safetensors')
    const entries = Array.from(
      { length: million },
      (_, i) => `"t${i}":{"dtype":"U8","shape":[1],"data_offsets":[${i},${i + 1}]}`,
    )
    writeSafetensors(path, `{${entries.join(',')}}`, new Uint8Array(million))
    const viewed = await startView(path)
    const { page, assertClean, close } = await openPage(browser(), viewed.address)
    await page.waitForSelector('.facts', { timeout: 50_000 })
    await show(page, '#/f/0/tensors', '[role=row] .name')
    const grid = page.locator('[role=grid], [role=treegrid]').first()
    expect(Number(await grid.getAttribute('aria-rowcount'))).toBeGreaterThanOrEqual(million)
    expect(await page.locator('[role=row]').count()).toBeLessThan(200)
    await grid.focus()
    await page.keyboard.press('End')
    await page.waitForFunction(() => document.querySelector('main')?.textContent?.includes('t999999'))
    assertClean()
    await close()
    await viewed.close()
  })

  it('six gigabytes open, and their last byte is shown', async () => {
    const path = folder.at('sparse.safetensors')
    const [rows, columns] = [98_304, 16_384]
    const data = rows * columns * 4
    const head = safetensorsHeader(
      JSON.stringify({ big: { dtype: 'F32', shape: [rows, columns], data_offsets: [0, data] } }),
    )
    const file = openSync(path, 'w')
    writeSync(file, head)
    ftruncateSync(file, head.byteLength + data)
    closeSync(file)
    const viewed = await startView(path)
    const { page, assertClean, close } = await openPage(browser(), viewed.address)
    await page.waitForSelector('.facts')
    const last = head.byteLength + data - 1
    await show(page, `#/f/0/bytes?at=${last}`, `#byte-${last}.at`)
    await page.waitForFunction((at) => document.querySelector(`#byte-${at}`)?.textContent === '00', last)
    // The same from a file that was chosen, without a server in between.
    await page.keyboard.press('o')
    await page.setInputFiles('input[type=file][multiple]', path)
    await page.waitForSelector('.facts')
    assertClean()
    await close()
    await viewed.close()
  })

  it('a worker that dies is replaced', async () => {
    const path = folder.at('small.safetensors')
    writeSafetensors(
      path,
      JSON.stringify({ a: { dtype: 'F32', shape: [4, 4], data_offsets: [0, 64] } }),
      new Uint8Array(64),
    )
    const viewed = await startView(path)
    const { page, close } = await openPage(browser(), viewed.address)
    await page.waitForSelector('.facts')
    await killWorker(page)
    await show(page, '#/f/0/bytes', '.hex .byte.at')
    await page.waitForFunction(() => document.querySelector('.hex .byte')?.textContent !== '··')
    await show(page, '#/f/0/findings', '.findings-screen .verdict')
    await close()
    await viewed.close()
  })
}

/** As a bug would: an error that nobody catches. */
async function killWorker(page: Page): Promise<void> {
  const session = page.workers().find((worker) => worker.url().includes('session-worker'))!
  const replaced = page.waitForEvent('worker')
  await session.evaluate(() => {
    setTimeout(() => {
      throw new Error('made to fail')
    })
  })
  await replaced
}
