// The browser that tests run in: one that CHROMIUM_PATH names, or the one that comes inside a development package, for Linux on x64.
import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'

export interface Launched {
  readonly browser?: Browser
  /** Why there is none. */
  readonly reason?: string
}

/**
 * The package's own arguments are not used: they switch the same-origin policy off and give every page shared memory, and a page would
 * then be allowed more than users' pages are.
 */
const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']

export async function launchBrowser(): Promise<Launched> {
  try {
    const executablePath = process.env.CHROMIUM_PATH ?? (await packagedBrowser())
    return { browser: await playwright.launch({ executablePath, args, headless: true }) }
  } catch (error) {
    return { reason: (error instanceof Error ? error.message : String(error)).split('\n')[0]! }
  }
}

async function packagedBrowser(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`no browser for ${process.platform} on ${process.arch}; CHROMIUM_PATH can name one`)
  }
  return chromium.executablePath()
}
