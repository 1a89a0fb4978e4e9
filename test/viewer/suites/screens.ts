// Every screen, by keys alone, in both colour schemes: nothing to complain about for axe-core, for the console and for the page's policy.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Folder, makeFolder, writePair } from '../models.js'
import { accessibilityProblems, type OpenPage, openPage, startView, type Viewed } from '../page.js'

/** The key of each screen, and something that is there when it is complete. */
const screens: readonly (readonly [key: string, name: string, sign: string])[] = [
  ['1', 'Overview', '.facts dd'],
  ['2', 'Tensors', '[role=grid], [role=treegrid]'],
  ['3', 'Tensor', 'canvas'],
  ['4', 'Bytes', '.hex .byte.at'],
  ['5', 'Findings', '.findings-screen .verdict'],
  ['6', 'Compare', '.differences .link'],
  ['7', 'Quantize', '.plot canvas'],
  ['8', 'Convert', '.plan dd'],
]

export function screenSuite(browser: () => Browser): void {
  let folder: Folder
  let viewed: Viewed
  beforeAll(async () => {
    folder = makeFolder()
    viewed = await startView(...(await writePair(folder)))
  })
  afterAll(async () => {
    await viewed?.close()
    folder?.remove()
  })

  for (const colorScheme of ['light', 'dark'] as const)
    it(`are clean in ${colorScheme} colours`, async () => {
      const opened = await openPage(browser(), viewed.address, { colorScheme })
      await opened.page.waitForSelector('.facts')
      // Of the same elements in other colours, only the contrast is another.
      const rules = colorScheme === 'dark' ? ['color-contrast'] : undefined
      for (const [key, name, sign] of [...screens, ['o', 'Open', '.drop'] as const]) {
        await opened.page.keyboard.press(key)
        await opened.page.waitForSelector(sign)
        expect(await accessibilityProblems(opened.page, rules), name).toEqual([])
      }
      opened.assertClean()
      await opened.close()
    })

  it('fit a telephone without a scroll bar at the bottom', async () => {
    const opened = await openPage(browser(), viewed.address, { viewport: { width: 390, height: 800 } })
    await opened.page.waitForSelector('.facts')
    for (const [key, name, sign] of screens) {
      await opened.page.keyboard.press(key)
      await opened.page.waitForSelector(sign)
      const width = await opened.page.evaluate(() => document.documentElement.scrollWidth)
      expect(width, name).toBeLessThanOrEqual(390)
    }
    opened.assertClean()
    await opened.close()
  })

  it('the boxes of the treemap take the room that they were given', async () => {
    const opened = await openPage(browser(), viewed.address, { viewport: { width: 768, height: 800 } })
    await opened.page.waitForSelector('.boxes button')
    const wide = await opened.page.evaluate(
      () =>
        [...document.querySelectorAll<HTMLElement>('.boxes > *')].filter(
          (box) => Math.abs(box.offsetWidth - Number.parseFloat(box.style.width)) > 1,
        ).length,
    )
    expect(wide).toBe(0)
    await opened.close()
  })

  it('all keys are listed', async () => {
    const opened = await openPage(browser(), viewed.address)
    await opened.page.waitForSelector('.facts')
    await opened.page.keyboard.press('4')
    await opened.page.waitForSelector('.hex .byte.at')
    await opened.page.keyboard.press('?')
    const keys = await opened.page.locator('dialog[open]').innerText()
    expect(keys).toContain('Go to an offset, field or tensor')
    expect(keys).toContain('Copy a link to this view')
    await opened.page.keyboard.press('Escape')
    await opened.close()
  })

  it('are links: another page at the same address shows the same', async () => {
    const first = await openPage(browser(), viewed.address)
    await first.page.waitForSelector('.facts')
    await first.page.keyboard.press('4')
    await first.page.fill('[name=goto]', 'embed.weight')
    await first.page.keyboard.press('Enter')
    await first.page.waitForFunction(() => location.hash.includes('at='))
    const address = first.page.url()
    const at = await cursorOf(first)
    const second = await openPage(browser(), address)
    await second.page.waitForSelector('.hex .byte.at')
    expect(await cursorOf(second)).toBe(at)
    await first.close()
    await second.close()
  })
}

const cursorOf = ({ page }: OpenPage): Promise<string | null> => page.locator('.hex .byte.at').getAttribute('id')
