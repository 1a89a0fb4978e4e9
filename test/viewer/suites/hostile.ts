// Names and values that would like to be markup, or to look like others: they are text on every screen.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Folder, makeFolder, writeSafetensors } from '../models.js'
import { openPage, startView, type Viewed } from '../page.js'

const markup = '<img src=x onerror=alert(1)><script>alert(2)</script>'
const bidi = 'weight\u202egnp.exe\u0007'

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
    })
    const path = folder.at('<b onmouseover=alert(4)>model.safetensors')
    writeSafetensors(path, header, new Uint8Array(1032))
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
