// The page in a real browser. All suites share one browser; each opens pages of its own.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, describe } from 'vitest'
import { launchBrowser } from '../browser/browser.js'
import { bytesSuite } from './suites/bytes.js'
import { commandSuite } from './suites/commands.js'
import { conversionSuite } from './suites/conversions.js'
import { diskSuite } from './suites/disk.js'
import { featureSuite } from './suites/features.js'
import { fixtureSuite } from './suites/fixtures.js'
import { hostileSuite } from './suites/hostile.js'
import { keyboardSuite } from './suites/keyboard.js'
import { largeSuite } from './suites/large.js'
import { linkSuite } from './suites/links.js'
import { oddValueSuite } from './suites/odd-values.js'
import { pictureSuite } from './suites/pictures.js'
import { placeSuite } from './suites/places.js'
import { screenSuite } from './suites/screens.js'

const { browser, reason } = await launchBrowser()
if (reason !== undefined) console.warn(`tests of the page are skipped: ${reason}`)
afterAll(() => browser?.close())

const isBuilt = existsSync(resolve(import.meta.dirname, '../../dist/viewer/index.html'))
if (!isBuilt) console.warn('tests of the page are skipped: dist/viewer is missing; npm run build makes it')

describe.skipIf(!browser || !isBuilt)('the page', () => {
  const use = () => browser!
  describe('screens', () => screenSuite(use))
  describe('by keys alone', () => keyboardSuite(use))
  describe('links', () => linkSuite(use))
  describe('fixtures', () => fixtureSuite(use))
  describe('bytes and findings', () => bytesSuite(use))
  describe('comparing, quantizing, converting', () => conversionSuite(use))
  describe('commands', () => commandSuite(use))
  describe('hostile models', () => hostileSuite(use))
  describe('odd values', () => oddValueSuite(use))
  describe('large models', () => largeSuite(use))
  describe('from disk', () => diskSuite(use))
  describe('features', () => featureSuite(use))
  describe('pictures', () => pictureSuite(use))
  describe('places', () => placeSuite(use))
})
