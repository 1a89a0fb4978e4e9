// Pages of one browser, on servers with and without isolation, and calls into them.
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { fixturesRoot } from '../support/fixtures.js'
import { makeBundles } from './bundle.js'
import { packFiles } from './given-files.js'
import type * as pageApi from './page/index.js'
import type * as kernelTests from './page/kernel-tests.js'
import { type PageServer, serve } from './server.js'

interface Modules {
  readonly page: typeof pageApi
  readonly 'kernel-tests': typeof kernelTests
}

type Call = (...values: never[]) => unknown

export interface Site {
  readonly plain: PageServer
  readonly isolated: PageServer
  /** What is served: `library`, `page`, `files`. */
  readonly folder: string
  /** What the modules of the library import. */
  readonly imports: readonly string[]
  /** A new page that has loaded the fixtures. A strict one may run no WebAssembly. */
  open(kind: 'plain' | 'isolated' | 'strict'): Promise<Page>
  close(): Promise<void>
}

export async function openSite(browser: Browser): Promise<Site> {
  const { folder, imports, remove } = await makeBundles()
  const roots = {
    library: join(folder, 'library'),
    page: join(folder, 'page'),
    fixtures: fixturesRoot,
    files: join(folder, 'files'),
  }
  const places = packFiles(join(folder, 'page', 'files.pack'))
  const [plain, isolated] = await Promise.all([serve(roots, false), serve(roots, true)])
  return {
    plain,
    isolated,
    folder,
    imports,
    async open(kind) {
      const page = await browser.newPage()
      const { origin } = kind === 'isolated' ? isolated : plain
      await page.goto(`${origin}/${kind === 'strict' ? 'strict' : ''}`)
      await callIn(page, 'page', 'loadPack', '/page/files.pack', places)
      return page
    },
    async close() {
      await Promise.all([plain.close(), isolated.close()])
      remove()
    },
  }
}

/** What suites run with, once it is there. */
export interface Use {
  site(): Site
  /** A page without isolation. */
  page(): Page
}

/** Calls a function of a module in the page. */
export function callIn<M extends keyof Modules, N extends keyof Modules[M]>(
  page: Page,
  module: M,
  name: N,
  ...values: Modules[M][N] extends Call ? Parameters<Modules[M][N]> : never
): Promise<Modules[M][N] extends Call ? Awaited<ReturnType<Modules[M][N]>> : never> {
  // As text: the test runner would rewrite the import of a function.
  const given = values.map((value) => JSON.stringify(value)).join(', ')
  return page.evaluate(`import('/page/${module}.js').then((loaded) => loaded.${String(name)}(${given}))`)
}
