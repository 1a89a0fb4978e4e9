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
  const small = (): string => {
    const path = folder.at('small.safetensors')
    const header = JSON.stringify({ a: { dtype: 'F32', shape: [4, 4], data_offsets: [0, 64] } })
    writeSafetensors(path, header, new Uint8Array(64))
    return path
  }

  it('a million tensors scroll and sort', async () => {
    const path = folder.at('million.safetensors')
    const entries = Array.from(
      { length: million },
      (_, i) => `"t${i}":{"dtype":"U8","shape":[1],"data_offsets":[${i},${i + 1}]}`,
    )
    writeSafetensors(path, `{${entries.join(',')}}`, new Uint8Array(million))
    const viewed = await startView(small())
    const { page, assertClean, close } = await openPage(browser(), viewed.address)
    page.setDefaultTimeout(150_000)
    await page.waitForSelector('.facts')
    await page.keyboard.press('o')
    await page.setInputFiles('input[type=file][multiple]', path)
    await page.waitForSelector('.facts')
    await show(page, '#/f/1/tensors', '[role=row] .name')
    const grid = page.locator('[role=grid], [role=treegrid]').first()
    expect(Number(await grid.getAttribute('aria-rowcount'))).toBeGreaterThanOrEqual(million)
    expect(await page.locator('[role=row]').count()).toBeLessThan(200)
    await grid.focus()
    await page.keyboard.press('End')
    await page.waitForFunction(() => document.querySelector('main')?.textContent?.includes('t999999'))
    await page.keyboard.press('Home')
    for (const direction of ['ascending', 'descending']) {
      const title = page.locator('[role=columnheader]', { hasText: 'Name' })
      if ((await title.getAttribute('aria-sort')) !== direction) await title.locator('button').click()
    }
    await page.waitForFunction(() => document.querySelector('[role=row] .name')?.textContent === 't999999')
    assertClean()
    await close()
    await viewed.close()
  }, 240_000)

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

  it('a worker that dies while it reads a tensor is asked for no more than once again', async () => {
    const path = folder.at('wide.safetensors')
    const header = JSON.stringify({
      a: { dtype: 'F32', shape: [2048, 2048], data_offsets: [0, 2 ** 24] },
      b: { dtype: 'F32', shape: [2048, 2048], data_offsets: [2 ** 24, 2 ** 25] },
    })
    writeSafetensors(path, header, new Uint8Array(2 ** 25))
    const viewed = await startView(path)
    const { page, close } = await openPage(browser(), viewed.address)
    await page.waitForSelector('.facts')
    await show(page, '#/f/0/tensor/a', '.statistics')
    const dies = async (): Promise<void> => {
      const worker = page.workers().find((each) => each.url().includes('tile-worker'))!
      // With the first message that comes next, before it is answered.
      await worker.evaluate(() =>
        addEventListener('message', () => {
          throw new Error('made to fail')
        }),
      )
    }
    await dies()
    await show(page, '#/f/0/tensor/b', '.statistics')
    expect(await page.locator('.no-map').count()).toBe(0)
    await close()
    await viewed.close()
  })

  it('a worker that dies is replaced', async () => {
    const viewed = await startView(small())
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
