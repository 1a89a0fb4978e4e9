// The built page in a real browser, as `tare view` serves it. Whatever goes wrong in a page is an error of the test that used it: a message
// of the console, a violation of the page's policy, a request to another origin.
import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

export interface Viewed {
  /** With the token. */
  readonly address: string
  close(): Promise<void>
}

/** Starts the command and waits for the address that it prints. */
export async function startView(...files: string[]): Promise<Viewed> {
  // Relative to where they are: commands that the page shows do not hold the name of a temporary folder.
  const cwd = dirname(files[0]!)
  const inputs = files.map((file) => relative(cwd, file))
  const args = [join(root, 'dist/bundle/main.js'), 'view', '--no-open', '--quiet', ...inputs]
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let complaint = ''
  child.stderr.on('data', (part) => {
    complaint += part
  })
  const address = await new Promise<string>((found, failed) => {
    createInterface(child.stdout).once('line', found)
    child.once('exit', (code) => failed(new Error(`tare view ended with ${code}: ${complaint}`)))
  })
  return { address, close: () => ended(child) }
}

function ended(child: ChildProcess): Promise<void> {
  const exit = new Promise<void>((done) => child.once('exit', () => done()))
  child.kill('SIGINT')
  return exit
}

export interface OpenPage {
  readonly page: Page
  /** Fails when anything went wrong in the page since it was opened, or since this was asked last. */
  assertClean(): void
  close(): Promise<void>
}

export async function openPage(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  const problems: string[] = []
  // Of a page on disk, that file alone.
  const own = address.startsWith('file:') ? address : `${new URL(address).origin}/`
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`))
  context.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(own) && !/^(data|blob):/.test(url)) problems.push(`request to ${url}`)
  })
  await page.exposeFunction('reportViolation', (text: string) => problems.push(`policy: ${text}`))
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      void (window as unknown as { reportViolation(text: string): void }).reportViolation(
        `${violatedDirective} ${blockedURI}`,
      )
    })
  })
  await page.goto(address)
  return {
    page,
    assertClean: () => expect(problems.splice(0)).toEqual([]),
    close: () => context.close(),
  }
}

/** Shows a screen by its address, and waits until something that it has is there. */
export async function show(page: Page, hash: string, selector: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to
  }, hash)
  await page.waitForSelector(selector, { timeout: 20_000 })
}

/** What axe-core finds, by all of its rules or by some. It is run outside of the page's policy, which allows no script but the page's own. */
export async function accessibilityProblems(page: Page, rules?: readonly string[]): Promise<string[]> {
  const { readFile } = await import('node:fs/promises')
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: await readFile(axePath, 'utf8') })
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression: `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) =>
      id + ': ' + nodes.slice(0, 3).map(({ target, failureSummary }) => target.join(' ') + ' ' + failureSummary).join(' | '))))`,
    awaitPromise: true,
  })
  await session.detach()
  if (exceptionDetails) throw new Error(exceptionDetails.text)
  return JSON.parse(result.value as string) as string[]
}
