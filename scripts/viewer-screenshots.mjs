// Pictures of the page for the README and the docs, from the real page: `npm run build`, then `node scripts/viewer-screenshots.mjs`.
// With --all DIR every screen is pictured at three widths in both colour schemes, to be looked at.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import chromium from '@sparticuz/chromium'
import { chromium as playwright } from 'playwright-core'
import { convert } from '../dist/node.js'
import { writeDemoModel, writeExperts } from './demo-model.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']

const tensor = 'model.layers.2.mlp.down_proj.weight'

/** Name, address, a sign that it is complete. */
const screens = [
  ['drop', '#/', '.drop'],
  ['overview', '#/f/0/overview', '.facts'],
  ['overview-error', '#/f/0/overview?against=1', '.error-legend'],
  ['tensors', '#/f/0/tensors', '[role=row] .name'],
  ['tensors-tree', '#/f/1/tensors?tree=1&q=layers.0', '[role=row] .name'],
  ['tensor', `#/f/1/tensor/${tensor}`, '.codes rect'],
  ['tensor-numbers', `#/f/1/tensor/${tensor}?x=58&y=120&z=5`, 'canvas'],
  ['tensor-codes', `#/f/1/tensor/${tensor}?layer=codes&z=2&x=300&y=200`, 'canvas'],
  ['experts', '#/f/2/tensor/model.layers.0.mlp.experts.down_proj?all=0', '.multiples canvas'],
  ['bytes', '#/f/1/bytes?at=0x18', '.hex .byte.at'],
  ['findings', '#/f/3/findings', '.findings-screen'],
  ['compare', '#/f/0/compare/model.layers.5.self_attn.v_proj.weight', '.pair .frame canvas'],
  ['lab', `#/f/0/lab/${tensor}?method=q4_k`, '.plot canvas'],
  ['convert', '#/f/0/convert?to=gguf&method=q4_k', '.plan dd'],
]

/** What the README shows. */
const pictured = { tensor: 'light', compare: 'dark', lab: 'light', bytes: 'dark' }

const folder = mkdtempSync(join(tmpdir(), 'tare-pictures-'))
const files = ['demo.safetensors', 'demo-q4_k.gguf', 'experts.safetensors', 'cut.gguf'].map((name) =>
  join(folder, name),
)
await writeDemoModel(files[0])
await convert(files[0], files[1], { quantize: 'q4_k' })
await writeExperts(files[2])
writeFileSync(files[3], readFileSync(files[1]).subarray(0, 5_000_000))
const child = spawn(
  process.execPath,
  [join(root, 'dist/bundle/main.js'), 'view', '--no-open', '--quiet', ...files.map((file) => basename(file))],
  { cwd: folder },
)
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

/** To be looked at: --all DIR [--widths 390,1280] [--only tensor,bytes]. */
async function pictureAll(target) {
  mkdirSync(target, { recursive: true })
  const listOf = (flag) => process.argv[process.argv.indexOf(flag) + 1 || process.argv.length]?.split(',')
  const only = listOf('--only')
  for (const width of (listOf('--widths') ?? ['390', '820', '1280', '1920', '2560']).map(Number))
    for (const scheme of listOf('--schemes') ?? ['light', 'dark']) {
      const page = await openPage(scheme, width)
      for (const [name, hash, sign] of screens) {
        if (only && !only.includes(name)) continue
        await show(page, hash, sign)
        await page.screenshot({ path: join(target, `${name}-${width}-${scheme}.png`) })
      }
      await page.context().close()
    }
}

async function picture(name, colorScheme, width, path) {
  const [, hash, sign] = screens.find(([id]) => id === name)
  const page = await openPage(colorScheme, width)
  await show(page, hash, sign)
  // A value that is pointed at says what it is made of.
  if (name === 'tensor') {
    await page.mouse.move(420, 500)
    await page.waitForTimeout(500)
  }
  await page.screenshot({ path })
  await page.context().close()
}

async function openPage(colorScheme, width) {
  const viewport = { width, height: width < 500 ? 844 : width > 2000 ? 1440 : width > 1500 ? 1080 : 800 }
  const page = await (await browser.newContext({ colorScheme, locale: 'en-US', viewport })).newPage()
  await page.goto(address)
  await page.waitForSelector('.facts')
  return page
}

async function show(page, hash, sign) {
  await page.evaluate((to) => {
    location.hash = to
  }, hash)
  await page.waitForSelector(sign, { timeout: 30_000 })
  // Tiles become sharp, measurements finish.
  await page.waitForTimeout(1500)
}
