// Names and values that would like to be markup, or to look like others: they are text on every screen.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Folder, makeFolder, writeSafetensors } from '../models.js'
import { openPage, show, startView, type Viewed } from '../page.js'

const markup = '<img src=x onerror=alert(1)><script>alert(2)</script>'
const bidi = 'weight\u202egnp.exe\u0007'
const long = `model.${'without_breaks'.repeat(20)}.weight`

export function hostileSuite(browser: () => Browser): void {
  let folder: Folder
  let viewed: Viewed
  beforeAll(async () => {
    folder = makeFolder()
    const header = JSON.stringify({
      __metadata__: {
        [markup]: markup,
        [bidi]: bidi,
        'tokenizer.chat_template': '{{ constructor.constructor("alert(3)")() }}',
      },
      [markup]: { dtype: 'F32', shape: [16, 16], data_offsets: [0, 1024] },
      [bidi]: { dtype: 'F32', shape: [2], data_offsets: [1024, 1032] },
      [long]: { dtype: 'F32', shape: [4, 4], data_offsets: [1032, 1096] },
      '': { dtype: 'F32', shape: [2], data_offsets: [1096, 1104] },
    })
    const path = folder.at('<b onmouseover=alert(4)>model.safetensors')
    writeSafetensors(path, header, new Uint8Array(1104))
    viewed = await startView(path, path)
  })
  afterAll(async () => {
    await viewed?.close()
    folder?.remove()
  })

  it('never become markup, on any screen', async () => {
    const { page, assertClean, close } = await openPage(browser(), viewed.address)
    let asked = 0
    page.on('dialog', (dialog) => {
      asked++
      void dialog.dismiss()
    })
    await page.waitForSelector('.facts')
    const signs = {
      1: '.facts dd',
      2: '[role=grid], [role=treegrid]',
      4: '.fields .choose',
      5: '.verdict',
      6: '.summary',
      7: '.lab',
      8: '.plan',
    }
    for (const [key, sign] of Object.entries(signs)) {
      await page.keyboard.press(key)
      await page.waitForSelector(sign)
      const made = await page.evaluate(
        () => document.querySelectorAll('main img, main script, main b, header b').length,
      )
      expect(made, sign).toBe(0)
      const text = await page.locator('body').innerText()
      expect(text, sign).not.toMatch(/[\u202e\u0007]/)
    }
    expect(asked).toBe(0)
    assertClean()
    await close()
  })

  it('a long name without a place to break fits a telephone, and the height of a row', async () => {
    const { page, assertClean, close } = await openPage(browser(), viewed.address, {
      viewport: { width: 390, height: 800 },
    })
    await page.waitForSelector('.facts')
    for (const [screen, sign] of [
      ['tensor', '.statistics'],
      ['lab', '.bench [role=alert]'],
      ['compare', '.summary'],
    ] as const) {
      await show(page, `#/f/0/${screen}/${long}`, sign)
      expect(await page.evaluate(() => document.documentElement.scrollWidth), screen).toBeLessThanOrEqual(390)
    }
    await page.setViewportSize({ width: 1280, height: 800 })
    await show(page, '#/f/0/tensors', '.rows .row .name')
    const heights = await page.evaluate(() =>
      [...document.querySelectorAll('.rows .row')].map((row) => row.querySelector('.name')!.scrollHeight),
    )
    expect(heights).toHaveLength(4)
    for (const height of heights) expect(height).toBeLessThanOrEqual(30)
    assertClean()
    await close()
  })

  it('a tensor without a name has something to point at, and a link', async () => {
    const { page, assertClean, close } = await openPage(browser(), viewed.address)
    await page.waitForSelector('.facts')
    await show(page, '#/f/0/tensors', '.rows .row .name')
    await page.getByText('(no name)').click()
    await page.waitForSelector('.statistics')
    expect(await page.locator('h1').innerText()).toBe('(no name)')
    await page.reload()
    await page.waitForSelector('.statistics')
    expect(await page.locator('h1').innerText()).toBe('(no name)')
    assertClean()
    await close()
  })

  it('an address that makes no sense shows something', async () => {
    const { page, assertClean, close } = await openPage(browser(), viewed.address)
    await page.waitForSelector('.facts')
    for (const hash of [
      '#/f/99/bytes',
      '#/f/0/bytes?at=zzz&file=7',
      '#/f/0/lab/%E0%A4%A',
      '#/f/0/convert?to=nothing&rules=%7B',
      '#/f/0/__proto__',
      '#javascript:alert(1)',
    ]) {
      await page.evaluate((to) => {
        location.hash = to
      }, hash)
      await page.waitForFunction(() => (document.querySelector('main')?.textContent?.length ?? 0) > 20)
    }
    assertClean()
    await close()
  })
}
