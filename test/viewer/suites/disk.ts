// The built folder, opened from disk without any server: one file that asks for nothing.
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Folder, makeFolder, writePair } from '../models.js'
import { openPage, show } from '../page.js'

const page = (name: string, hash = ''): string =>
  pathToFileURL(resolve(import.meta.dirname, '../../../dist/viewer', name)).href + hash

export function diskSuite(browser: () => Browser): void {
  let folder: Folder
  let files: readonly [string, string]
  beforeAll(async () => {
    folder = makeFolder()
    files = await writePair(folder)
  })
  afterAll(() => folder.remove())

  test('the page leads to the one that needs no server', async () => {
    const context = await browser().newContext()
    const opened = await context.newPage()
    await opened.goto(page('index.html', '#/f/0/tensors'))
    await opened.waitForURL(page('offline.html', '#/f/0/tensors'))
    await opened.waitForSelector('.drop')
    await context.close()
  })

  test('opens, draws, compares, quantizes and plans a conversion under a policy without requests', async () => {
    const context = await openPage(browser(), page('offline.html'))
    const { page: opened } = context
    const policy = await opened.getAttribute('meta[http-equiv=Content-Security-Policy]', 'content')
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'sha256-[^ ]+' 'wasm-unsafe-eval'; style-src 'sha256-[^ ]+';/,
    )
    expect(policy).toContain('connect-src data:;')
    await opened.setInputFiles('input[type=file][multiple]', [...files])
    await opened.waitForSelector('.facts')
    await show(opened, '#/f/0/tensors', '[role=row] .name')
    await show(opened, '#/f/1/tensor/layers.0.mlp.weight', '.statistics')
    expect(await opened.locator('.statistics').textContent()).toContain('values')
    await show(opened, '#/f/1/bytes?at=0x18', '.hex .byte.at')
    await show(opened, '#/f/0/compare/layers.0.mlp.weight', '.pair .frame canvas')
    await show(opened, '#/f/0/lab/layers.0.mlp.weight?method=q4_k', '.figures')
    await show(opened, '#/f/0/convert?to=gguf&method=q4_k', '.plan dd')
    context.assertClean()
    await context.close()
  })

  test('a request and a script that are not its own are refused', async () => {
    const context = await browser().newContext()
    const opened = await context.newPage()
    await opened.goto(page('offline.html'))
    await opened.waitForSelector('.drop')
    const refused = await opened.evaluate(async (address) => {
      const violations: string[] = []
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) =>
        violations.push(effectiveDirective),
      )
      await fetch(address).catch(() => {})
      const script = document.createElement('script')
      try {
        script.textContent = 'globalThis.intruded = true'
      } catch {
        violations.push('trusted-types')
      }
      await new Promise((done) => setTimeout(done, 50))
      return [...violations, 'intruded' in globalThis]
    }, 'http://127.0.0.1:9/')
    expect(refused).toEqual(expect.arrayContaining(['connect-src', 'trusted-types', false]))
    await context.close()
  })
}
