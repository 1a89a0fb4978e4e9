// By keys alone: everything that can be pressed or filled in is reached by Tab, nothing holds the focus, and what has the focus gets its keys.
import type { Browser, Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { show } from '../page.js'
import { usePair } from './open-pair.js'

const screens: readonly (readonly [hash: string, sign: string])[] = [
  ['#/', '.drop'],
  ['#/f/0/overview', '.facts dd'],
  ['#/f/1/tensors', '.rows .row'],
  ['#/f/1/tensor/layers.1.mlp.weight', '.codes rect'],
  ['#/f/1/bytes', '.fields .choose'],
  ['#/f/1/findings', '.verdict'],
  ['#/f/0/compare/layers.2.attn.weight', '.pair .frame canvas'],
  ['#/f/0/lab/layers.0.mlp.weight', '.plot canvas'],
  ['#/f/0/convert', '.plan dd'],
]

export function keyboardSuite(browser: () => Browser): void {
  const opened = usePair(browser)

  it.each(screens)('Tab reaches everything on %s', async (hash, sign) => {
    const { page } = opened()
    await show(page, hash, sign)
    expect(await missedByTab(page)).toEqual([])
  })

  it('a button that has the focus is pressed, also where Enter means something else', async () => {
    const { page } = opened()
    await show(page, '#/f/1/tensors', '.rows .row')
    await page.locator('[role=columnheader] button', { hasText: 'Name' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('[aria-sort=ascending]')
    await page.locator('.check input').focus()
    await page.keyboard.press('Space')
    await page.waitForSelector('[role=treegrid]')
    expect(page.url()).toContain('/tensors?')
  })

  it('arrows move a slider that has the focus, and elsewhere the cursor of the map', async () => {
    const { page } = opened()
    await show(page, '#/f/1/tensor/layers.1.mlp.weight', '.statistics')
    await page.locator('.controls input[type=range]').focus()
    await page.keyboard.press('ArrowRight')
    await page.waitForFunction(() => location.hash.includes('k=3.5'))
    expect(await page.locator('#readout dd').first().innerText()).toBe('–')
    await page.locator('.map canvas').focus()
    await page.keyboard.press('ArrowRight')
    await page.waitForFunction(() => /^\[\d+, \d+\]$/.test(document.querySelector('#readout dd')?.textContent ?? ''))
    opened().assertClean()
  })
}

/** What can be used and has not had the focus after going once around. */
async function missedByTab(page: Page): Promise<string[]> {
  const wanted = await page.evaluate(() => {
    const kinds = 'main button, main a[href], main input, main select, main summary, main [tabindex="0"]'
    const usable = [...document.querySelectorAll<HTMLElement>(kinds)].filter(
      (each) => each.checkVisibility() && each.tabIndex >= 0 && !each.matches(':disabled'),
    )
    for (const [i, each] of usable.entries()) each.dataset.wanted = String(i)
    document.querySelector<HTMLElement>('#main')!.focus()
    return usable.length
  })
  expect(wanted).toBeGreaterThan(0)
  for (let i = 0; i < wanted + 60; i++) {
    await page.keyboard.press('Tab')
    const left = await page.evaluate(() => {
      delete (document.activeElement as HTMLElement | null)?.dataset.wanted
      return document.querySelectorAll('[data-wanted]').length
    })
    if (left === 0) return []
  }
  return page.evaluate(() =>
    [...document.querySelectorAll('[data-wanted]')].map(({ outerHTML }) => outerHTML.slice(0, 120)),
  )
}
