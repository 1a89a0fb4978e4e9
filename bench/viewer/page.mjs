// A page in Chromium with its clocks: time until something is on the screen, frames while something moves, tasks that take long, memory.
import { existsSync, readFileSync } from 'node:fs'
import chromium from '@sparticuz/chromium'
import { chromium as playwright } from 'playwright-core'

export async function launch() {
  const executablePath = process.env.CHROMIUM_PATH ?? (await chromium.executablePath())
  return playwright.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] })
}

export async function openPage(browser) {
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  await page.addInitScript(() => {
    globalThis.longTasks = []
    new PerformanceObserver((list) => {
      for (const { duration, startTime } of list.getEntries()) globalThis.longTasks.push({ duration, startTime })
    }).observe({ type: 'longtask', buffered: true })
  })
  return page
}

/** From a change of the address to something on the screen, in the page's own clock. */
export const timeTo = (page, hash, sign) =>
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

/** From something that is done in the page to something on the screen. */
export const timeOf = (page, action, sign) =>
  page.evaluate(
    ([run, test]) =>
      new Promise((done) => {
        const start = performance.now()
        new Function(run)()
        const isThere = new Function(`return ${test}`)
        const look = () => (isThere() ? done(performance.now() - start) : requestAnimationFrame(look))
        look()
      }),
    [action, sign],
  )

/** There are colours in the middle of a canvas. */
export const painted = (selector) =>
  `(() => { const c = document.querySelector('${selector}'); if (!c || !c.width) return false;
    const d = c.getContext('2d').getImageData(c.width >> 1, c.height >> 1, 1, 1).data; return d[3] > 0 && (d[0] !== d[1] || d[1] !== d[2]) })()`

/** Milliseconds between frames while `act` runs: the 95th of 100, and the longest. */
export async function framesDuring(page, act) {
  await page.evaluate(() => {
    globalThis.frames_ = []
    globalThis.isCounting = true
    let last = performance.now()
    const step = (now) => {
      globalThis.frames_.push(now - last)
      last = now
      if (globalThis.isCounting) requestAnimationFrame(step)
    }
    requestAnimationFrame(step)
  })
  await act()
  const frames = await page.evaluate(() => {
    globalThis.isCounting = false
    return globalThis.frames_.slice(1)
  })
  frames.sort((a, b) => a - b)
  return { typical: frames[Math.floor(frames.length * 0.95)] ?? 0, longest: frames.at(-1) ?? 0 }
}

export const longestTask = (page) =>
  page.evaluate(() => Math.max(0, ...globalThis.longTasks.map(({ duration }) => duration)))

/**
 * The longest task of a page's main thread while `act` runs, in milliseconds of its own processor time: what other programs take away meanwhile does
 * not count.
 */
export async function taskTimeDuring(browser, act) {
  await browser.startTracing(undefined, { categories: ['disabled-by-default-devtools.timeline'] })
  await act()
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString())
  const threadOf = ({ pid, tid }) => `${pid} ${tid}`
  const isMain = ({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain'
  const mains = new Set(traceEvents.filter(isMain).map(threadOf))
  const tasks = traceEvents.filter((event) => event.name === 'RunTask' && mains.has(threadOf(event)))
  if (tasks.length === 0) throw new Error('the trace has no tasks')
  return tasks.reduce((longest, { tdur = 0 }) => Math.max(longest, tdur / 1000), 0)
}

/** MiB that all processes of the browser have for themselves, as Linux counts it; NaN elsewhere. */
export async function memoryOf(browser) {
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
