// The command that each screen shows, as `Y` copies it, runs in a shell: with a name that has to be quoted.
import { execFile } from 'node:child_process'
import { chmodSync, renameSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Folder, makeFolder, writePair } from '../models.js'
import { type OpenPage, openPage, show, startView, type Viewed } from '../page.js'

const main = resolve(import.meta.dirname, '../../../dist/bundle/main.js')
const run = promisify(execFile)

/** Exit codes that are an answer: differences were found, or damage. */
const answers: Readonly<Record<string, readonly number[]>> = { diff: [1], verify: [1] }

export function commandSuite(browser: () => Browser): void {
  let folder: Folder
  let viewed: Viewed
  let opened: OpenPage
  beforeAll(async () => {
    folder = makeFolder()
    const [first, second] = await writePair(folder)
    const odd = folder.at("it's $HOME `1`.safetensors")
    renameSync(first, odd)
    const shim = folder.at('tare')
    writeFileSync(shim, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
    chmodSync(shim, 0o755)
    viewed = await startView(odd, second)
    opened = await openPage(browser(), viewed.address, { permissions: ['clipboard-read', 'clipboard-write'] })
    await opened.page.waitForSelector('.facts')
  })
  afterAll(async () => {
    await opened?.close()
    await viewed?.close()
    folder?.remove()
  })

  it.each([
    ['1', 'overview', 'inspect'],
    ['2', 'tensors', 'inspect'],
    ['3', 'tensor', 'picture'],
    ['4', 'bytes', 'map'],
    ['5', 'findings', 'verify'],
    ['6', 'compare', 'diff'],
    ['7', 'lab', 'picture'],
    ['8', 'convert', 'convert'],
  ])('%s: %s', async (key, _, verb) => {
    const { page, assertClean } = opened
    await page.keyboard.press(key)
    await page.waitForSelector('main .command')
    await page.keyboard.press('Y')
    await page.waitForSelector('.notice')
    const line = await page.evaluate(() => navigator.clipboard.readText())
    expect(line).toMatch(new RegExp(`^tare ${verb} `))
    const env = { ...process.env, PATH: `${folder.at('.')}:${process.env.PATH}` }
    const { code = 0, stderr } = await run('sh', ['-c', line], { cwd: folder.at('.'), env }).then(
      ({ stderr: text }) => ({ code: 0, stderr: text }),
      (error: { code: number; stderr: string }) => error,
    )
    expect([0, ...(answers[verb] ?? [])], `${line}: ${stderr}`).toContain(code)
    assertClean()
  })

  it('the file that a conversion writes is not its input', async () => {
    const { page } = opened
    const last = page.locator('.convert > section .command code').first()
    const lineOf = async (query: string): Promise<string> => {
      await show(page, `#/f/1/convert?${query}`, '.plan dd')
      return last.innerText()
    }
    expect(await lineOf('to=gguf')).toBe('tare convert b.gguf -o b-converted.gguf --to gguf')
    const again = await lineOf('to=gguf&method=q8_0')
    expect(again).toBe('tare convert b.gguf -o b-q8_0.gguf --to gguf --quantize q8_0 --requantize')
    await show(page, '#/f/0/convert?to=gguf&method=q8_0', '.plan dd')
    expect(await last.innerText()).not.toContain('--requantize')
  })
}
