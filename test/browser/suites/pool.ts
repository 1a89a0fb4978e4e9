import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callIn, type Use } from '../site.js'

/** What a page does with its workers is told later than what its functions return. */
const eventually = (find: () => number) => expect.poll(find, { timeout: 20_000 })
const workersOf = (page: Page) => eventually(() => page.workers().length)

export function poolSuite({ site }: Use): void {
  describe.each(['plain', 'isolated'] as const)('on a page that is %s', (kind) => {
    let page: Page
    let started = 0
    beforeAll(async () => {
      page = await site().open(kind)
      page.on('worker', () => started++)
    })
    afterAll(() => page.close())

    it('shares memory only when isolated', async () => {
      const isIsolated = kind === 'isolated'
      expect(await callIn(page, 'page', 'environment')).toMatchObject({ isIsolated, canShare: isIsolated })
    })

    it('gives the same digests from two workers, and none is left', async () => {
      // The page itself is the third thread.
      expect(await callIn(page, 'page', 'openPool', 'a', 3)).toBe(true)
      expect(page.workers().length).toBe(0)
      const { onWorkers, here, told } = await callIn(page, 'page', 'digestOnPool', 'a')
      expect(onWorkers).toEqual(here)
      expect(told).toBe(33_999_997)
      await workersOf(page).toBe(2)
      expect(started).toBe(2)
      await callIn(page, 'page', 'closePool', 'a')
      await workersOf(page).toBe(0)
    })

    it('gives up cancelled work at once and does the next', async () => {
      started = 0
      await callIn(page, 'page', 'openPool', 'b', 2)
      const { cancelled, after } = await callIn(page, 'page', 'cancelOnPool', 'b')
      expect(cancelled).toMatch(/^io\/aborted @ 0/)
      expect(after).toBe(await callIn(page, 'page', 'digestOfShort'))
      // With shared memory the worker is told, without it is ended and another one comes.
      await eventually(() => started).toBe(kind === 'isolated' ? 1 : 2)
      await workersOf(page).toBe(1)
      await callIn(page, 'page', 'closePool', 'b')
      await workersOf(page).toBe(0)
    })

    it('passes on errors with their code and offset', async () => {
      await callIn(page, 'page', 'openPool', 'c', 2)
      expect(await callIn(page, 'page', 'failOnPool', 'c')).toMatch(/^io\/out-of-range @ 500/)
      await callIn(page, 'page', 'closePool', 'c')
    })

    it.each(['missing', 'throws', 'none'] as const)('says so when a worker cannot start: %s', async (how) => {
      expect(await callIn(page, 'page', 'startBadly', how)).toBe('pool/worker-died @ 96 digest')
      await workersOf(page).toBe(0)
    })

    it('ends its workers when it is closed at work', async () => {
      expect(await callIn(page, 'page', 'closeBusy')).toBe('pool/closed @ 0 digest')
      await workersOf(page).toBe(0)
    })
  })
}
