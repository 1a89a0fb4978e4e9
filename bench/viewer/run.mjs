// How fast the page is, in a real Chromium, on a model of 4 GB and on one of a million tensors: `npm run build`, then
// `node bench/viewer/run.mjs [--gib 4] [--runs 3] [--only large,million,tasks] [--files DIR]`. Each figure is the median of a few runs; the goals stand
// beside them. DIR keeps the files for the next time.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { writeLarge, writeMillion, writeQuantized } from './models.mjs'
import {
  framesDuring,
  launch,
  longestTask,
  memoryOf,
  openPage,
  painted,
  taskTimeDuring,
  timeOf,
  timeTo,
} from './page.mjs'

const root = resolve(import.meta.dirname, '../..')
const option = (name, otherwise) => {
  const at = process.argv.indexOf(name)
  return at >= 0 ? process.argv[at + 1] : otherwise
}
const gib = Number(option('--gib', '4'))
const runs = Number(option('--runs', '3'))
const only = option('--only', 'large,million,tasks').split(',')
const kept = option('--files')
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

const goals = {
  overview: ['page loaded and model open, ms', undefined],
  dropped: ['file chosen to overview, ms', 300],
  table: ['table of tensors, ms', 200],
  picture: ['tensor 8192 × 8192, first picture, ms', 150],
  sharp: ['tensor at a pixel for each value, all tiles sharp, ms', 400],
  tile: ['a tile of 256 × 256 from the file, ms', 15],
  cachedTile: ['a tile of 256 × 256 that was there before, ms', 3],
  whole: ['overview of all values of 8192 × 8192 in q4_k, ms', 500],
  recolour: ['other colours, ms', 50],
  bytes: ['bytes at nine tenths of the file, ms', 150],
  method: ['lab: another method, 512 × 512, ms', 150],
  pan: ['moving the map: 95 of 100 frames within, ms', 17],
  panLongest: ['moving the map: longest frame, ms', 50],
  zoom: ['zooming the map: 95 of 100 frames within, ms', 17],
  zoomLongest: ['zooming the map: longest frame, ms', 50],
  longest: ['longest task of the page, ms', 50],
  ownTime: ['longest task of the page, ms of its processor time', 50],
  memory: ['memory over an empty page, MiB', 300],
  rows: ['a million tensors: first rows, ms', 200],
  filter: ['a million tensors: filter, ms', 150],
  byName: ['a million tensors: sort by name, ms', 700],
  bySize: ['a million tensors: sort by size, ms', 700],
  scroll: ['a million tensors: 95 of 100 frames within, ms', 17],
  scrollLongest: ['a million tensors: longest frame, ms', 50],
}

/**
 * Everything is done on the dropped file, the second model of the page. Of files that come from a server, the tools that drive the browser keep up to
 * 200 MB of answers inside of its processes, which would count as memory of the page.
 */
async function measureLarge(browser, address) {
  const page = await openPage(browser)
  const before = await memoryOf(browser)
  const begin = performance.now()
  await page.goto(address)
  await page.waitForSelector('.facts')
  const overview = performance.now() - begin
  await timeTo(page, '#/', "document.querySelector('.drop')")
  const given = performance.now()
  await page.setInputFiles('input[type=file][multiple]', large)
  await page.waitForSelector('.facts')
  const dropped = performance.now() - given
  const table = await timeTo(page, '#/f/1/tensors', "document.querySelector('[role=row] .name')")
  const picture = await timeTo(page, '#/f/1/tensor/layers.1.weight', painted('.map canvas'))
  await timeOf(page, '', sharp)
  const recolour = await timeOf(
    page,
    `globalThis.wasColor = document.querySelector('.color-bar .labels').textContent; document.dispatchEvent(new KeyboardEvent('keydown', { key: 's', bubbles: true }))`,
    "document.querySelector('.color-bar .labels').textContent !== globalThis.wasColor",
  )
  const tiles = await tileTimes(page)
  const [pan, zoom] = [await panned(page), await zoomed(page)]
  const bytes = await timeTo(
    page,
    `#/f/1/bytes?at=${Math.round(gib * 2 ** 30 * 0.9)}`,
    "document.querySelector('.hex .byte.at')?.textContent !== '··' && document.querySelector('.hex .byte.at')",
  )
  const bitsAre = (bits) => `document.querySelector('.figures')?.textContent.includes('${bits}')`
  await timeTo(page, '#/f/1/lab/layers.1.weight?method=q8_0', bitsAre('8.50'))
  await page.waitForSelector('.plot canvas', { timeout: 120_000 })
  const method = await timeTo(page, '#/f/1/lab/layers.1.weight?method=q4_k', bitsAre('4.50'))
  const longest = await longestTask(page)
  const memory = (await memoryOf(browser)) - before
  const whole = await quantizedOverview(page)
  await page.context().close()
  return {
    ...{ overview, dropped, table, picture, recolour, bytes, method, longest, memory, whole, ...tiles },
    ...{ pan: pan.typical, panLongest: pan.longest, zoom: zoom.typical, zoomLongest: zoom.longest },
  }
}

const sharp = "document.querySelector('.map canvas')?.dataset.sharp === 'true'"

/** Another tensor at a pixel for each value, then another place of it, then back: the view is full of tiles each time. */
async function tileTimes(page) {
  const at = (x) => `#/f/1/tensor/layers.2.weight?x=${x}&y=4096&z=0`
  const time = (x) =>
    timeTo(page, at(x), `${sharp} && document.querySelector('.map canvas').dataset.place === '${x},4096,0'`)
  const all = await time(2048)
  const { width, height } = await page.locator('.map canvas').boundingBox()
  const count = Math.ceil(width / 256) * Math.ceil(height / 256)
  const fresh = await time(5120)
  const again = await time(2048)
  return { sharp: all, tile: fresh / count, cachedTile: again / count }
}

/** With the reading of all of it, while a first look is on the screen already. */
async function quantizedOverview(page) {
  await timeTo(page, '#/', "document.querySelector('.drop')")
  await page.setInputFiles('input[type=file][multiple]', quantized)
  await page.waitForSelector('.facts')
  return timeTo(page, '#/f/2/tensor/layer.weight', sharp)
}

/** A drag around the middle, at a zoom that needs tiles. */
async function panned(page) {
  await page.keyboard.press('0')
  await page.waitForTimeout(300)
  await page.mouse.move(500, 400)
  await page.mouse.down()
  const frames = await framesDuring(page, async () => {
    for (let i = 0; i < 90; i++) await page.mouse.move(500 + 200 * Math.sin(i / 12), 400 + 150 * Math.cos(i / 9))
  })
  await page.mouse.up()
  return frames
}

async function zoomed(page) {
  return framesDuring(page, async () => {
    for (let i = 0; i < 60; i++) {
      await page.mouse.wheel(0, i % 30 < 15 ? 60 : -60)
      await page.waitForTimeout(8)
    }
  })
}

async function measureMillion(browser, address) {
  const page = await openPage(browser)
  page.setDefaultTimeout(120_000)
  await page.goto(address)
  await page.waitForSelector('.facts')
  const first = (name) => `document.querySelector('.rows .row .name')?.title.startsWith('${name}')`
  const rows = await timeTo(page, '#/f/0/tensors', first('layers.0.experts'))
  const click = (column) =>
    `[...document.querySelectorAll('[role=columnheader] button')].find((b) => b.textContent.includes('${column}')).click()`
  const byName = await timeOf(
    page,
    click('Name'),
    `document.querySelector('[aria-sort]')?.textContent.includes('Name') && ${first('layers.0.experts.0.bias')}`,
  )
  const bySize = await timeOf(
    page,
    click('Size'),
    `document.querySelector('[aria-sort]')?.textContent.includes('Size') && ${first('layers.0.experts.0.gate')}`,
  )
  const scroll = await framesDuring(page, async () => {
    await page.mouse.move(600, 500)
    for (let i = 0; i < 60; i++) {
      await page.mouse.wheel(0, 400)
      await page.waitForTimeout(8)
    }
  })
  const filter = await timeOf(
    page,
    `const input = document.querySelector('.filter'); input.value = 'experts.77. up'; input.dispatchEvent(new Event('input', { bubbles: true }))`,
    first('layers.0.experts.77.up'),
  )
  const longest = await longestTask(page)
  await page.context().close()
  return { rows, filter, byName, bySize, scroll: scroll.typical, scrollLongest: scroll.longest, longest }
}

async function serve(...files) {
  const child = spawn(process.execPath, [join(root, 'dist/bundle/main.js'), 'view', '--no-open', '--quiet', ...files])
  const address = await new Promise((found) => createInterface(child.stdout).once('line', found))
  return { address, stop: () => child.kill('SIGINT') }
}

const folder = kept ?? mkdtempSync(join(tmpdir(), 'tare-bench-'))
const [large, million, quantized] = [`large-${gib}.safetensors`, 'million.safetensors', 'quantized.gguf'].map((name) =>
  join(folder, name),
)
const servers = []
try {
  mkdirSync(folder, { recursive: true })
  if (!existsSync(large)) writeLarge(large, gib)
  if (!existsSync(million)) writeMillion(million)
  if (!existsSync(quantized)) writeQuantized(quantized)
  const [first, second] = await Promise.all([serve(large), serve(million)])
  servers.push(first, second)
  const browser = await launch()
  const found = []
  const both = (one, other) => ({ ...other, ...one, longest: Math.max(one?.longest ?? 0, other?.longest ?? 0) })
  if (only.includes('large') || only.includes('million'))
    for (let i = 0; i < runs; i++)
      found.push(
        both(
          only.includes('large') ? await measureLarge(browser, first.address) : undefined,
          only.includes('million') ? await measureMillion(browser, second.address) : undefined,
        ),
      )
  // In a run of their own, since tracing takes time and memory.
  if (only.includes('tasks')) {
    const ownTimes = [
      await taskTimeDuring(browser, () => measureLarge(browser, first.address)),
      await taskTimeDuring(browser, () => measureMillion(browser, second.address)),
    ]
    found.push({ ownTime: Math.max(...ownTimes) })
  }
  await browser.close()
  console.log(`A model of ${gib} GiB and one of a million tensors, median of ${runs} runs:\n`)
  for (const [key, [title, goal]] of Object.entries(goals)) {
    const values = found.flatMap((each) => (each[key] === undefined ? [] : [each[key]]))
    if (values.length === 0) continue
    const all = values.length > 1 ? `   (${values.map((value) => value.toFixed(0)).join(', ')})` : ''
    const stated = goal === undefined ? '' : `   goal ${goal}`
    console.log(`${title.padEnd(56)} ${median(values).toFixed(0).padStart(6)}${stated}${all}`)
  }
} finally {
  for (const { stop } of servers) stop()
  if (!kept) rmSync(folder, { recursive: true, force: true })
}
