// The fixtures of every format in the page: what Node accepts opens, what it refuses is shown with its finding.
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { expect, it } from 'vitest'
import { filesOf, formatIds, spread } from '../../browser/given-files.js'
import { fixturesRoot } from '../../support/fixtures.js'
import { usePair } from './open-pair.js'

/** Of each format, this many that are accepted and this many that are not. */
const some = 6

export function fixtureSuite(browser: () => Browser): void {
  const opened = usePair(browser, { isOne: true })

  it.each(formatIds)('%s', async (format) => {
    // A file of a set comes with those beside it; here each is opened alone.
    const given = filesOf(format).filter(({ place }) => place.split('/').length <= 3)
    const chosen = [
      ...spread(
        given.filter(({ isAccepted }) => isAccepted),
        some,
      ),
      ...spread(
        given.filter(({ isAccepted }) => !isAccepted),
        some,
      ),
    ]
    if (chosen.length === 0) return
    const { page, assertClean } = opened()
    for (const { name, place, siblings, isAccepted } of chosen) {
      await page.evaluate(() => {
        location.hash = '#/'
      })
      await page.waitForSelector('.drop')
      await page.setInputFiles('input[type=file][multiple]', join(fixturesRoot, place))
      const shown = await page.waitForSelector('.facts h1, .failed h1', { timeout: 20_000 })
      const title = await shown.innerText()
      expect(title, name).toContain(name)
      const isOpen = await page.evaluate(() => document.querySelector('.facts') !== null)
      // Some damage shows only when all bytes are checked.
      if (isAccepted && Object.keys(siblings).length === 0) expect(isOpen, name).toBe(true)
      await page.click('button.close')
      await page.waitForSelector('.drop')
    }
    assertClean()
  })
}
