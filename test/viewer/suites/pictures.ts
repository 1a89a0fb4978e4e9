// Eight screens as pictures, compared with kept ones. Both are reduced to blocks first, so that another font or another edge of a letter does not
// count, while a panel that is missing, a map without colours or a broken grid does. TARE_UPDATE_PICTURES=1 keeps new ones.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { show } from '../page.js'
import { usePair } from './open-pair.js'

const kept = resolve(import.meta.dirname, '../pictures')
const tensor = 'layers.1.mlp.weight'

const scenes: readonly (readonly [name: string, hash: string, sign: string])[] = [
  ['overview', '#/f/0/overview', '.boxes button'],
  ['tensors', '#/f/0/tensors', '.spark'],
  ['tensor', `#/f/1/tensor/${tensor}`, '.codes rect'],
  ['bytes', '#/f/1/bytes?at=0x40', '.hex .byte.at'],
  ['findings', '#/f/1/findings', '.findings-screen .verdict'],
  ['compare', `#/f/0/compare/${tensor}`, '.pair .frame canvas'],
  ['lab', `#/f/0/lab/${tensor}?method=q4_k`, '.plot canvas'],
  ['convert', '#/f/0/convert?to=gguf&method=q4_k', '.plan dd'],
]

const [width, height] = [80, 50]
/** Of 255, in one of three colours of a block. */
const tolerance = 40
/** Share of blocks that may be further apart than that. */
const allowed = 0.03

export function pictureSuite(browser: () => Browser): void {
  const opened = usePair(browser, { colorScheme: 'light' })
  const taken = new Map<string, readonly number[]>()

  it.each(scenes)('%s looks as it did', async (name, hash, sign) => {
    const { page } = opened()
    await show(page, hash, sign)
    const path = resolve(kept, `${name}.txt`)
    if (process.env.TARE_UPDATE_PICTURES) {
      mkdirSync(kept, { recursive: true })
      writeFileSync(path, `${base64(await settledBlocks(page, () => true))}\n`)
    }
    const wanted = [...Buffer.from(readFileSync(path, 'utf8'), 'base64')]
    const blocks = await settledBlocks(page, (now) => shareApart(now, wanted) <= allowed)
    taken.set(name, blocks)
    expect(shareApart(blocks, wanted)).toBeLessThanOrEqual(allowed)
    opened().assertClean()
  })

  it('other screens are further apart than is allowed', () => {
    const all = [...taken.values()]
    for (const [i, a] of all.entries())
      for (const b of all.slice(i + 1)) expect(shareApart(a, b)).toBeGreaterThan(allowed)
  })
}

const base64 = (blocks: readonly number[]): string => Buffer.from(blocks).toString('base64')

function shareApart(a: readonly number[], b: readonly number[]): number {
  let apart = 0
  for (let i = 0; i < a.length; i += 3)
    if ([0, 1, 2].some((color) => Math.abs(a[i + color]! - (b[i + color] ?? 0)) > tolerance)) apart++
  return apart / (a.length / 3)
}

/**
 * Once two pictures are alike and `isDone` takes them: tiles are sharp, plots are drawn. On a busy machine two may be alike because nothing was
 * drawn between them; the last picture is returned when there are no more tries.
 */
async function settledBlocks(page: Page, isDone: (blocks: readonly number[]) => boolean): Promise<readonly number[]> {
  let before: readonly number[] = []
  for (let i = 0; i < 40; i++) {
    await page.waitForTimeout(250)
    const now = await blocksOf(page)
    if (now.length === before.length && shareApart(now, before) === 0 && isDone(now)) return now
    before = now
  }
  return before
}

/** They close with the context. */
const blanks = new WeakMap<Page, Page>()

/** Reduced by the browser itself, in a page without our policy. */
async function blocksOf(page: Page): Promise<readonly number[]> {
  const picture = (await page.screenshot()).toString('base64')
  const blank = blanks.get(page) ?? (await page.context().newPage())
  blanks.set(page, blank)
  return blank.evaluate(
    async ([data, across, down]) => {
      const bytes = Uint8Array.from(atob(data as string), (letter) => letter.charCodeAt(0))
      const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }), {
        resizeWidth: across as number,
        resizeHeight: down as number,
        resizeQuality: 'high',
      })
      const context = new OffscreenCanvas(across as number, down as number).getContext('2d')!
      context.drawImage(image, 0, 0)
      const { data: pixels } = context.getImageData(0, 0, across as number, down as number)
      return [...pixels].filter((_, i) => i % 4 !== 3)
    },
    [picture, width, height] as const,
  )
}
