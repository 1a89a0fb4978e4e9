// How fast the page is, in a real Chromium, on a model of 4 GB: `npm run build`, then `node bench/viewer/run.mjs [--gib 4]`. Each figure is the
// median of a few runs; the goals stand beside them.
import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import chromium from '@sparticuz/chromium'
import { chromium as playwright } from 'playwright-core'

const root = resolve(import.meta.dirname, '../..')
const at = process.argv.indexOf('--gib')
const gib = at >= 0 ? Number(process.argv[at + 1]) : 4
const runs = 3
const [rows, columns] = [8192, 8192]

/** Matrices of f16 with the same 64 MiB of made-up weights again and again. */
function writeModel(path) {
  const bytes = rows * columns * 2
  const count = Math.max(1, Math.round((gib * 2 ** 30) / bytes))
  const entries = Array.from({ length: count }, (_, i) => [
    `layers.${i}.weight`,
    { dtype: 'F16', shape: [rows, columns], data_offsets: [i * bytes, (i + 1) * bytes] },
  ])
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.byteLength))
  const weights = new Uint16Array(2 ** 25)
  let state = 1
  for (let i = 0; i < weights.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    // Halves between 2^-9 and 2^-5, of either sign.
    weights[i] = ((state >>> 31) << 15) | ((6 + ((state >>> 28) & 3)) << 10) | ((state >>> 12) & 1023)
  }
  const file = openSync(path, 'w')
  writeSync(file, length)
  writeSync(file, header)
  for (let done = 0; done < count * bytes; done += weights.byteLength) writeSync(file, weights)
  closeSync(file)
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

/** From a change of the address to something on the screen, in the page's own clock. */
const timeTo = (page, hash, sign) =>
  page.evaluate(
    ([to, test]) =>
      new Promise((done) => {
        const start = performance.now()
        location.hash = to
        const isThere = new Function(`return ${test}`)
        const look = () => (isThere() ? done(performance.now() - start) : requestAnimationFrame(look))
        look()
      }),
    [hash, sign],
  )

const painted = (selector) =>
  `(() => { const c = document.querySelector('${selector}'); if (!c || !c.width) return false;
    const d = c.getContext('2d').getImageData(c.width >> 1, c.height >> 1, 1, 1).data; return d[3] > 0 && (d[0] !== d[1] || d[1] !== d[2]) })()`

async function measure(browser, address) {
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  const before = await memoryOf(browser)
  await page.addInitScript(() => {
    globalThis.longTasks = []
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) globalThis.longTasks.push(duration)
    }).observe({ type: 'longtask', buffered: true })
  })
  const begin = performance.now()
  await page.goto(address)
  await page.waitForSelector('.facts')
  const overview = performance.now() - begin
  await timeTo(page, '#/', "document.querySelector('.drop')")
  const given = performance.now()
  await page.setInputFiles('input[type=file][multiple]', path)
  await page.waitForSelector('.facts')
  const dropped = performance.now() - given
  const table = await timeTo(page, '#/f/0/tensors', "document.querySelector('[role=row] .name')")
  const picture = await timeTo(page, '#/f/0/tensor/layers.1.weight', painted('.tensor canvas, main canvas'))
  const bytes = await timeTo(
    page,
    `#/f/0/bytes?at=${Math.round(gib * 2 ** 30 * 0.9)}`,
    "document.querySelector('.hex .byte.at')?.textContent !== '··' && document.querySelector('.hex .byte.at')",
  )
  await timeTo(
    page,
    '#/f/0/lab/layers.1.weight?method=q8_0',
    "document.querySelector('.figures')?.textContent.includes('8.50')",
  )
  const method = await timeTo(
    page,
    '#/f/0/lab/layers.1.weight?method=q4_k',
    "document.querySelector('.figures')?.textContent.includes('4.50')",
  )
  const longest = await page.evaluate(() => Math.max(0, ...globalThis.longTasks))
  const memory = (await memoryOf(browser)) - before
  await context.close()
  return { overview, dropped, table, picture, bytes, method, longest, memory }
}

/** MiB that all processes of the browser have for themselves, as Linux counts it; NaN elsewhere. */
async function memoryOf(browser) {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  let kib = 0
  for (const { id } of processInfo) {
    const file = `/proc/${id}/smaps_rollup`
    kib += existsSync(file) ? Number(/^Pss: +(\d+)/m.exec(readFileSync(file, 'utf8'))?.[1] ?? 0) : Number.NaN
  }
  return kib / 1024
}

const goals = {
  overview: ['page loaded and model open, ms', undefined],
  dropped: ['file chosen to overview, ms', 300],
  table: ['table of tensors, ms', 200],
  picture: ['tensor 8192 × 8192, first picture, ms', 150],
  bytes: ['bytes at nine tenths of the file, ms', 150],
  method: ['lab: another method, 256 × 256, ms', 150],
  longest: ['longest task of the page, ms', 50],
  memory: ['memory over an empty page, MiB', 300],
}

const folder = mkdtempSync(join(tmpdir(), 'tare-bench-'))
const path = join(folder, 'model.safetensors')
writeModel(path)
const child = spawn(process.execPath, [join(root, 'dist/bundle/main.js'), 'view', '--no-open', '--quiet', path])
try {
  const address = await new Promise((found) => createInterface(child.stdout).once('line', found))
  const executablePath = process.env.CHROMIUM_PATH ?? (await chromium.executablePath())
  const browser = await playwright.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
  const found = []
  for (let i = 0; i < runs; i++) found.push(await measure(browser, address))
  await browser.close()
  console.log(`A model of ${gib} GiB, median of ${runs} runs:\n`)
  for (const [key, [title, goal]] of Object.entries(goals)) {
    const value = median(found.map((each) => each[key]))
    console.log(`${title.padEnd(44)} ${value.toFixed(0).padStart(6)}${goal === undefined ? '' : `   goal ${goal}`}`)
  }
} finally {
  child.kill('SIGINT')
  rmSync(folder, { recursive: true, force: true })
}
