// What single screens show that no other test looks at: codes, planes side by side, errors in the treemap, and a directory that becomes a GGUF file.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { convert, modelOf } from '../../../src/node.js'
import { writeTinyModel } from '../../families/tiny-model.js'
import { type Folder, makeFolder, waves, writePair } from '../models.js'
import { accessibilityProblems, type OpenPage, openPage, show, startView, type Viewed } from '../page.js'

export function featureSuite(browser: () => Browser): void {
  let folder: Folder
  let viewed: Viewed
  let opened: OpenPage
  beforeAll(async () => {
    folder = makeFolder()
    const experts = folder.at('experts.safetensors')
    const data = waves(6 * 64 * 96, 1)
    data.fill(0, 2 * 64 * 96, 3 * 64 * 96)
    await convert(await modelOf({ tensors: { experts: { shape: [6, 64, 96], data } } }), experts)
    viewed = await startView(...(await writePair(folder)), experts)
    opened = await openPage(browser(), viewed.address, { acceptDownloads: true })
    await opened.page.waitForSelector('.facts')
  })
  afterAll(async () => {
    await opened?.close()
    await viewed?.close()
    folder?.remove()
  })

  it('codes of a quantized tensor are counted, and levels are marked', async () => {
    const { page } = opened
    await show(page, '#/f/1/tensor/layers.1.mlp.weight', '.codes rect')
    expect(await page.locator('.codes rect').count()).toBe(16)
    expect(await page.locator('.levels').innerText()).toMatch(/16 levels of a typical block/)
    await page.locator('.map canvas').focus()
    await page.keyboard.press('ArrowRight')
    await page.waitForFunction(() => document.querySelector('.levels')?.textContent?.includes('under the cursor'))
    await show(page, '#/f/0/tensor/layers.1.mlp.weight', '.statistics')
    expect(await page.locator('.codes').count()).toBe(0)
    opened.assertClean()
  })

  it('histograms are drawn where the system has no locale', async () => {
    const other = await openPage(browser(), viewed.address)
    await other.page.addInitScript(() =>
      Object.defineProperty(navigator, 'language', { value: 'en-US@posix', configurable: true }),
    )
    await other.page.reload()
    await other.page.waitForSelector('.facts')
    await show(other.page, '#/f/0/tensor/layers.1.mlp.weight', '.histogram canvas')
    other.assertClean()
    await other.close()
  })

  it('planes of a tensor stand side by side, by a key and by a link', async () => {
    const { page } = opened
    await show(page, '#/f/2/tensor/experts', '.statistics')
    await page.keyboard.press('e')
    await page.waitForSelector('.multiples canvas')
    expect(await page.locator('.multiples button').count()).toBe(6)
    await page.waitForFunction(() => !document.querySelector('.multiples')?.textContent?.includes('…'))
    const captions = await page.locator('.multiples .caption').allInnerTexts()
    expect(captions[2]).toMatch(/rms 0$/)
    expect(captions[3]).not.toMatch(/rms 0$/)
    expect(await accessibilityProblems(page)).toEqual([])
    await page.locator('.multiples button').nth(4).click()
    await page.waitForSelector('.map canvas')
    expect(page.url()).toContain('at=4')
    opened.assertClean()
  })

  it('the treemap shows the error against another model', async () => {
    const { page } = opened
    await show(page, '#/f/0/overview?against=1', '.error-legend')
    await page.waitForFunction(() =>
      /worst -?[\d.]+ dB/.test(document.querySelector('.error-legend')?.textContent ?? ''),
    )
    const labels = await page.locator('.boxes button').evaluateAll((all) => all.map((each) => each.ariaLabel ?? ''))
    expect(labels.filter((label) => /mlp\.weight.* dB$/.test(label))).toHaveLength(3)
    expect(await accessibilityProblems(page)).toEqual([])
    opened.assertClean()
  })

  it('a directory that is dropped opens with its shards, and converts to the GGUF of the command', async () => {
    const { page } = opened
    const directory = await tinyDirectory(folder)
    await dropOnPage(page, directory)
    await page.waitForFunction(() => document.querySelector('.facts .lead')?.textContent?.includes('llama'))
    const at = Number(/#\/f\/(\d+)/.exec(page.url())![1])
    await show(page, `#/f/${at}/convert?to=gguf`, '.plan dd')
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=Download (')])
    expect(readFileSync(await download.path()).equals(await ggufOf(folder))).toBe(true)
    expect(await page.locator('select.models option:checked').innerText()).toBe('tiny-llama')
    opened.assertClean()
  })

  it('a directory that the command names has its configuration, too', async () => {
    const served = await startView(await tinyDirectory(folder))
    const other = await openPage(browser(), served.address)
    await other.page.waitForSelector('.facts')
    expect(await other.page.locator('.facts .lead').innerText()).toContain('llama')
    await show(other.page, '#/f/0/convert?to=gguf', '.plan dd')
    const [download] = await Promise.all([other.page.waitForEvent('download'), other.page.click('text=Download (')])
    expect(readFileSync(await download.path()).equals(await ggufOf(folder))).toBe(true)
    other.assertClean()
    await other.close()
    await served.close()
  })
}

async function tinyDirectory(folder: Folder): Promise<string> {
  const directory = folder.at('tiny-llama')
  mkdirSync(join(directory, 'additional_chat_templates'), { recursive: true })
  const files = {
    'tokenizer_config.json': '{"add_bos_token":true}',
    'chat_template.jinja': '{{ messages }}',
    'additional_chat_templates/tool-use.jinja': 'tools',
  }
  return writeTinyModel(directory, { files })
}

/** As the command makes it of the directory, with both of its chat templates. */
async function ggufOf(folder: Folder): Promise<Buffer> {
  const wanted = folder.at('wanted.gguf')
  await convert(folder.at('tiny-llama'), wanted)
  const bytes = readFileSync(wanted)
  expect(bytes.includes('tokenizer.chat_template.tool_use')).toBe(true)
  return bytes
}

/** As a hand does it, with a folder of the disk. */
async function dropOnPage(page: Page, path: string): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const data = { items: [], files: [path], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, x: 400, y: 400, data })
  await session.detach()
}
