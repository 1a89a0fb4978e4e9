// The folder works from any static server, at any path, without `tare view`: the page then starts empty.
import { readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize, resolve } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Folder, makeFolder, writePair } from '../models.js'
import { openPage, startView } from '../page.js'

const built = resolve(import.meta.dirname, '../../../dist/viewer')
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

export function placeSuite(browser: () => Browser): void {
  let folder: Folder
  let paths: readonly string[]
  beforeAll(async () => {
    folder = makeFolder()
    paths = await writePair(folder)
  })
  afterAll(() => folder?.remove())

  it('a static server, some folders deep', async () => {
    const server = createServer((request, response) => {
      const path = decodeURIComponent(new URL(request.url!, 'http://x').pathname)
      const file = normalize(join(built, path.replace('/pages/models/', '') || 'index.html'))
      if (
        !path.startsWith('/pages/models/') ||
        !file.startsWith(built) ||
        !statSync(file, { throwIfNoEntry: false })?.isFile()
      )
        response.writeHead(404).end()
      else
        response
          .writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' })
          .end(readFileSync(file))
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const { port } = server.address() as AddressInfo
    const { page, close } = await openPage(browser(), `http://127.0.0.1:${port}/pages/models/`)
    await page.waitForSelector('.drop')
    await page.setInputFiles('input[type=file][multiple]', [...paths])
    await page.waitForSelector('.facts')
    await page.keyboard.press('6')
    await page.waitForSelector('.differences .link')
    await close()
    server.closeAllConnections()
    server.close()
  })

  it('`tare view` ends with the signal that a terminal sends', async () => {
    const viewed = await startView(paths[0]!)
    expect((await fetch(viewed.address)).status).toBe(200)
    await viewed.close()
    await expect(fetch(viewed.address)).rejects.toThrow()
  })
}
