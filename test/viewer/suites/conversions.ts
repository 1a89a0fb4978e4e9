// Two models side by side, the lab, and files that the page makes: the same as the library finds and makes in Node.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { diff, openModel, readTensor } from '../../../src/node.js'
import { type Folder, makeFolder, writePair } from '../models.js'
import { type OpenPage, openPage, show, startView, type Viewed } from '../page.js'

const main = resolve(import.meta.dirname, '../../../dist/bundle/main.js')

export function conversionSuite(browser: () => Browser): void {
  let folder: Folder
  let viewed: Viewed
  let opened: OpenPage
  let [a, b] = ['', '']
  beforeAll(async () => {
    folder = makeFolder()
    ;[a, b] = await writePair(folder)
    viewed = await startView(a, b)
    opened = await openPage(browser(), viewed.address, { acceptDownloads: true })
    await opened.page.waitForSelector('.facts')
  })
  afterAll(async () => {
    await opened?.close()
    await viewed?.close()
    folder?.remove()
  })

  it('lists what differs as `tare diff` does, the worst first', async () => {
    const { page } = opened
    await show(page, '#/f/0/compare', '.differences .link')
    const found = await diff(a, b)
    const names = await page.locator('.differences').first().locator('tbody th .name').allInnerTexts()
    expect(names).toEqual(found.tensors.map(({ name }) => name))
    const snr = await page.locator('.differences tbody tr').first().locator('td').nth(3).innerText()
    expect(snr).toBe(`${found.tensors[0]!.values!.snr!.toFixed(1)} dB`)
  })

  it('shows both sides of a tensor with one cursor, and blinks', async () => {
    const { page } = opened
    await show(page, '#/f/0/compare', '.differences .link')
    await page.locator('.differences .link').first().click()
    await page.waitForSelector('.pair .frame canvas')
    expect(await page.locator('.pair .frame canvas').count()).toBe(3)
    await page.locator('.pair .frame canvas').first().focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowDown')
    const labels = await page
      .locator('.pair .frame canvas')
      .evaluateAll((all) => all.map((each) => each.getAttribute('aria-label')))
    // Counted in the tensor, not in the part of it.
    const [, row, column] = /^Rows (\d+)–.* columns (\d+)–/.exec(await page.locator('.pair .part p').innerText())!
    const at = `row ${Number(row) + 1}, column ${Number(column) + 1}: `
    for (const label of labels) expect(label).toContain(at)
    await page.keyboard.press('b')
    await page.waitForFunction(() => document.querySelectorAll('.pair .frame canvas').length === 2)
    await page.keyboard.press('b')
    opened.assertClean()
  })

  it('quantizes a part of a tensor as the library does', async () => {
    const { page } = opened
    await show(page, '#/f/0/lab/layers.0.attn.weight?method=q4_k', '.lab .figures')
    const figures = await figuresOf(page)
    expect(figures['Bits per weight']).toBe('4.50')
    // The crop is the whole tensor, so the error is that of the quantized file.
    const found = await diff(a, b, { tensors: ['layers.0.attn.weight'] })
    expect(figures.SNR).toBe(`${found.tensors[0]!.values!.snr!.toFixed(1)} dB`)
    await show(page, '#/f/0/lab/layers.0.attn.weight?method=q8_0', '.lab .figures')
    await page.waitForFunction(() => document.querySelector('.lab .figures')?.textContent?.includes('8.50'))
    opened.assertClean()
  })

  it('spends a budget, and says how to type it', async () => {
    const { page } = opened
    await show(page, '#/f/0/lab', '.budget .primary')
    await page.click('.budget .primary')
    await page.waitForSelector('.budget .slider')
    const command = await page.locator('.budget .command code').innerText()
    expect(command).toMatch(/^tare quantize a\.safetensors -o model\.gguf --method q\d_/)
    await page
      .locator('.budget [type=range]')
      .fill(await page.locator('.budget [type=range]').getAttribute('min').then(String))
    await page.waitForFunction(
      (before) => document.querySelector('.budget .command code')?.textContent !== before,
      command,
    )
    opened.assertClean()
  })

  it.each([
    ['to=gguf&method=q4_k', 'a-q4_k.gguf'],
    ['to=gguf', 'a.gguf'],
    // It stores the range of the values, and what the model is called.
    ['to=mcf&method=k4', 'a-k4.mcf'],
  ])('converts to the same bytes as the command that it shows: %s', async (query, output) => {
    const { page } = opened
    await show(page, `#/f/0/convert?${query}`, `.convert .command:has-text('-o ${output} ')`)
    const line = await page.locator('.convert > section .command code').first().innerText()
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=Download (')])
    execFileSync(process.execPath, [main, ...line.split(' ').slice(1)], { cwd: folder.at('.'), stdio: 'ignore' })
    expect(readFileSync(await download.path()).equals(readFileSync(folder.at(output)))).toBe(true)
    opened.assertClean()
  })

  it('gives out a quantized tensor bit for bit as `extract` does', async () => {
    const { page } = opened
    await show(page, '#/f/1/convert', '.extras')
    await page.locator('.extras input').fill('layers.1.mlp.weight')
    await page.waitForFunction(() => document.querySelector('#tensor-names option'))
    await page.keyboard.press('Tab')
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=Download as .npy')])
    const npy = readFileSync(await download.path())
    const model = await openModel(b)
    const { data } = await readTensor(model, 'layers.1.mlp.weight', { as: 'f32' })
    await model.close()
    expect(
      npy.subarray(npy.byteLength - data.byteLength).equals(Buffer.from(data.buffer, data.byteOffset, data.byteLength)),
    ).toBe(true)
    opened.assertClean()
  })
}

async function figuresOf(page: Page): Promise<Record<string, string>> {
  const rows = await page
    .locator('.lab .figures div')
    .evaluateAll((all) =>
      all.map((each) => [each.querySelector('dt')!.innerText, each.querySelector('dd')!.innerText] as const),
    )
  return Object.fromEntries(rows)
}
