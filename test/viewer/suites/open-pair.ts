// One page on the two sample models, for all tests of a suite: loading it takes as long as many of them.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { type Folder, makeFolder, writePair } from '../models.js'
import { type OpenPage, openPage, startView, type Viewed } from '../page.js'

interface PairOptions {
  /** The first of the two only. */
  readonly isOne?: boolean
  readonly colorScheme?: 'light' | 'dark'
}

/** Gives the page while the tests run. */
export function usePair(browser: () => Browser, { isOne = false, ...look }: PairOptions = {}): () => OpenPage {
  let folder: Folder
  let viewed: Viewed
  let opened: OpenPage
  beforeAll(async () => {
    folder = makeFolder()
    const [a, b] = await writePair(folder)
    viewed = await startView(...(isOne ? [a] : [a, b]))
    opened = await openPage(browser(), viewed.address, look)
    await opened.page.waitForSelector('.facts')
  })
  afterAll(async () => {
    await opened?.close()
    await viewed?.close()
    folder?.remove()
  })
  return () => opened
}
