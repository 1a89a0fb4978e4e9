import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { callIn, type Use } from '../site.js'

export function bundleSuite({ site, page }: Use): void {
  it('has nothing of Node', () => {
    const folder = join(site().folder, 'library')
    const files = readdirSync(folder)
    expect(files).toEqual(expect.arrayContaining(['tare.js', 'web-worker.js']))
    // Everything that is imported is part of it.
    expect(site().imports.filter((name) => !files.includes(name))).toEqual([])
    for (const name of files.filter((each) => each.endsWith('.js')))
      expect(readFileSync(join(folder, name), 'utf8'), name).not.toMatch(/["'`]node:/)
  })

  it('runs where there is neither process nor Buffer', async () => {
    expect(await callIn(page(), 'page', 'environment')).toEqual({
      isIsolated: false,
      canShare: false,
      hasNode: false,
    })
    const names = await page().evaluate(`import('/library/tare.js').then((tare) => Object.keys(tare).sort())`)
    expect(names).toEqual(Object.keys(await import('../../../src/index.js')).sort())
  })
}
