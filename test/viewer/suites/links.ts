// Every view is a link: an address with all that a screen keeps in it shows the same when it is opened again.
import type { Browser, Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { show } from '../page.js'
import { usePair } from './open-pair.js'

/** An address, something that is there when it is shown, and what it says that stands in a field, a title or a mark. */
const links: readonly (readonly [hash: string, sign: string, says: string])[] = [
  ['#/f/0/overview?against=1', '.error-legend', '1'],
  ['#/f/1/tensors?q=mlp&sort=-size', '.rows .row', 'mlp'],
  ['#/f/1/tensors?tree=1', '.rows [aria-expanded]', 'on'],
  [
    '#/f/1/tensor/layers.1.mlp.weight?layer=codes&scale=sign&colors=gray&x=100&y=200&z=2',
    '.codes rect',
    'codes sign gray 4:1',
  ],
  ['#/f/1/tensor/layers.1.mlp.weight?k=5&cells=rms&x=128&y=256&z=-1', '.statistics', '5 rms 1:2'],
  ['#/f/0/bytes?at=0x40&to=0x50', '#byte-64.at', 'byte-64'],
  ['#/f/1/findings', '.verdict', 'Nothing is wrong'],
  ['#/f/0/compare/layers.2.attn.weight?with=1&at=64,100', '.pair .frame canvas', 'layers.2.attn.weight 1'],
  ['#/f/0/lab/layers.0.mlp.weight?method=q6_k&at=0,0', '.figures dd', 'layers.0.mlp.weight q6_k'],
  ['#/f/0/convert?to=gguf&cast=f16&method=q5_k', '.plan dd', 'gguf f16 q5_k'],
]

export function linkSuite(browser: () => Browser): void {
  const opened = usePair(browser)

  it.each(links)('%s', async (hash, sign, says) => {
    const { page, assertClean } = opened()
    await show(page, hash, sign)
    const first = await shownOf(page, says.split(' '))
    for (const word of says.split(' ')) expect(first).toContain(word)
    expect(await page.title()).toMatch(/ · tare$/)
    await page.reload()
    await page.waitForSelector(sign)
    expect(await shownOf(page, [first])).toBe(first)
    expect(decodeURIComponent(new URL(page.url()).hash)).toBe(hash)
    assertClean()
  })
}

/** What people chose and where they are: fields, titles, marked places; once all of the words are there, or after a while without them. */
async function shownOf(page: Page, words: readonly string[]): Promise<string> {
  let shown = ''
  for (let i = 0; i < 50; i++) {
    shown = await readPage(page)
    if (words.every((word) => shown.includes(word))) break
    await page.waitForTimeout(100)
  }
  return shown
}

const readPage = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const fields = [...document.querySelectorAll<HTMLInputElement | HTMLSelectElement>('main input, main select')]
    const isOff = (field: Element): boolean => field.matches('[type=checkbox]:not(:checked)')
    const values = fields.map((field) => (isOff(field) ? 'off' : field.value))
    const places =
      'main h1, main .pair h2, main .verdict, main .zoom, main [aria-sort], main .crop-maps .part, main .rows .row:first-child .name'
    const marked = [...document.querySelectorAll(places)].map(({ textContent }) => textContent)
    return [...values, ...marked, document.querySelector('.byte.at')?.id].join('\n')
  })
