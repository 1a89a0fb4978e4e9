// The portable entry in a real browser. What runs there is a bundle as applications make it; what it finds is compared with what Node
// finds, where digests and other things come from the platform. All suites share one browser.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe } from 'vitest'
import { registerNodeDigests } from '../../src/node/digests.js'
import { launchBrowser } from './browser.js'
import { openSite, type Site } from './site.js'
import { bundleSuite } from './suites/bundle.js'
import { conversionSuite } from './suites/conversions.js'
import { exampleSuite } from './suites/examples.js'
import { fileSuite } from './suites/files.js'
import { httpSuite } from './suites/http.js'
import { kernelSuite } from './suites/kernels.js'
import { policySuite } from './suites/policy.js'
import { poolSuite } from './suites/pool.js'
import { quantizedSuite } from './suites/quantized.js'
import { storeSuite } from './suites/stores.js'

const { browser, reason } = await launchBrowser()
if (reason !== undefined) console.warn(`tests in a browser are skipped: ${reason}`)
afterAll(() => browser?.close())

describe.skipIf(!browser)('in a browser', () => {
  let site: Site
  let page: Page
  beforeAll(async () => {
    registerNodeDigests()
    site = await openSite(browser!)
    page = await site.open('plain')
  })
  afterAll(() => site?.close())

  const use = { site: () => site, page: () => page }
  describe('the bundle', () => bundleSuite(use))
  describe('files', () => fileSuite(use))
  describe('over HTTP', () => httpSuite(use))
  describe('object stores', () => storeSuite(use))
  describe('conversions', () => conversionSuite(use))
  describe('kernels', () => kernelSuite(use))
  describe('quantizing', () => quantizedSuite(use))
  describe('Web Workers', () => poolSuite(use))
  describe('a strict policy', () => policySuite(use))
  describe('examples', () => exampleSuite(use))
})
