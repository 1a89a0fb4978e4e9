// Pictures of the page for the README and the docs, from the real page: `npm run build`, then `node scripts/viewer-screenshots.mjs`.
// With --all DIR every screen is pictured at three widths in both colour schemes, to be looked at.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import chromium from '@sparticuz/chromium'
import { chromium as playwright } from 'playwright-core'
import { convert } from '../dist/node.js'
import { writeDemoModel } from './demo-model.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']

/** Name, address, a sign that it is complete, and what to do before. */
const screens = [
  ['overview', '#/f/0/overview', '.facts'],
  ['tensors', '#/f/0/tensors', '[role=row] .name'],
  ['tensor', '#/f/1/tensor/model.layers.2.mlp.down_proj.weight', 'canvas'],
  ['bytes', '#/f/1/bytes?at=0x18', '.hex .byte.at'],
  ['findings', '#/f/1/findings', '.verdict'],
  ['compare', '#/f/0/compare/model.layers.5.self_attn.v_proj.weight', '.pair .maps canvas'],
  ['lab', '#/f/0/lab/model.layers.2.mlp.down_proj.weight?method=q4_k', '.plot canvas'],
  ['convert', '#/f/0/convert?to=gguf&method=q4_k', '.plan dd'],
]

/** What the README shows. */
const pictured = { tensor: 'light', compare: 'dark', lab: 'light', bytes: 'dark' }

const folder = mkdtempSync(join(tmpdir(), 'tare-pictures-'))
const files = [join(folder, 'demo.safetensors'), join(folder, 'demo-q4_k.gguf')]
await writeDemoModel(files[0])
await convert(files[0], files[1], { quantize: 'q4_k' })
const child = spawn(process.execPath, [join(root, 'dist/bundle/main.js'), 'view', '--no-open', '--quiet', ...files])
const address = await new Promise((found, failed) => {
  createInterface(child.stdout).once('line', found)
  child.once('exit', (code) => failed(new Error(`tare view ended with ${code}`)))
})
const browser = await playwright.launch({
  executablePath: process.env.CHROMIUM_PATH ?? (await chromium.executablePath()),
  args,
})
try {
  const all = process.argv.indexOf('--all')
  if (all >= 0) await pictureAll(process.argv[all + 1])
  else
    for (const [name, scheme] of Object.entries(pictured))
      await picture(name, scheme, 1280, join(root, 'docs/images', `view-${name}.png`))
} finally {
  await browser.close()
  child.kill('SIGINT')
  rmSync(folder, { recursive: true, force: true })
}

async function pictureAll(target) {
  mkdirSync(target, { recursive: true })
  for (const [name] of screens)
    for (const scheme of ['light', 'dark'])
      for (const width of [390, 1280, 1920])
        await picture(name, scheme, width, join(target, `${name}-${width}-${scheme}.png`))
}

async function picture(name, colorScheme, width, path) {
  const [, hash, sign] = screens.find(([id]) => id === name)
  const context = await browser.newContext({
    colorScheme,
    locale: 'en-US',
    viewport: { width, height: width < 500 ? 844 : 800 },
  })
  const page = await context.newPage()
  await page.goto(`${address}${hash}`)
  await page.waitForSelector(sign, { timeout: 30_000 })
  // Tiles become sharp, measurements finish.
  await page.waitForTimeout(2000)
  await page.screenshot({ path })
  await context.close()
}
