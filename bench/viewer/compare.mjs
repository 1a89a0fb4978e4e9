// The same files in this page and in Netron's, in the same Chromium: time from the choice of a file to its first screen, and memory then.
// `node bench/viewer/compare.mjs --netron DIR FILE…`, where DIR is a checkout of lutzroeder/netron; its page is served as it is.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, extname, join, resolve } from 'node:path'
import { launch, memoryOf } from './page.mjs'

const runs = 3
const patience = 60_000
const types = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
}

async function serveFolder(root) {
  const server = createServer(({ url }, response) => {
    const path = new URL(url, 'http://x').pathname
    const file = join(root, path === '/' ? 'index.html' : path)
    if (!existsSync(file) || !statSync(file).isFile()) response.writeHead(404).end()
    else
      response
        .writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' })
        .end(readFileSync(file))
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  return { address: `http://127.0.0.1:${server.address().port}/`, server }
}

const viewers = {
  tare: { start: '.drop', input: 'input[type=file][multiple]', done: '.facts, .failed', bad: '.failed h1' },
  netron: {
    start: '#open-file-button, .welcome',
    input: 'input[type=file]',
    done: 'body.default, body.alert, body.notification',
    bad: '#message-text',
  },
}

async function measure({ start, input, done, bad }, address, file) {
  const browser = await launch()
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    // Netron asks for consent first; this says that it was given.
    await context.addCookies([{ name: 'consent', value: '1', url: address }])
    const page = await context.newPage()
    const before = await memoryOf(browser)
    await page.goto(address)
    await page.waitForSelector(start)
    await page.waitForTimeout(500)
    const begin = performance.now()
    await page.setInputFiles(input, file)
    await page.waitForSelector(done, { timeout: patience })
    const time = performance.now() - begin
    const problem = (await page.locator(bad).count()) > 0 ? await page.locator(bad).first().textContent() : ''
    return { time, memory: (await memoryOf(browser)) - before, problem: problem?.trim() ?? '' }
  } catch (error) {
    return { time: Number.NaN, memory: Number.NaN, problem: String(error.message).split('\n')[0] }
  } finally {
    await browser.close()
  }
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const at = process.argv.indexOf('--netron')
if (at < 0) {
  console.error('usage: node bench/viewer/compare.mjs --netron DIR FILE…')
  process.exit(2)
}
const folders = {
  tare: resolve(import.meta.dirname, '../../dist/viewer'),
  netron: join(process.argv[at + 1], 'source'),
}
for (const file of process.argv.slice(at + 2))
  for (const [name, viewer] of Object.entries(viewers)) {
    const { address, server } = await serveFolder(folders[name])
    const found = []
    for (let i = 0; i < runs; i++) found.push(await measure(viewer, address, file))
    server.close()
    const figures = `${median(found.map(({ time }) => time)).toFixed(0)} ms ${median(found.map(({ memory }) => memory)).toFixed(0)} MiB`
    console.log(`${basename(file)} ${name}: ${figures} ${found[0].problem}`)
  }
