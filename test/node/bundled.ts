import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'rolldown'
import { afterAll, beforeAll } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/**
 * Bundles some sources for child processes; types are not checked, which is most of what compiling takes. The function gives the address
 * of a bundle by the name that it was requested.
 */
export function useBundled(entries: Readonly<Record<string, string>>): (name: string) => string {
  let directory = ''
  beforeAll(async () => {
    const cache = join(root, 'node_modules/.cache')
    mkdirSync(cache, { recursive: true })
    directory = mkdtempSync(join(cache, 'tare-test-'))
    await build({
      input: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(root, path)])),
      platform: 'node',
      resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
      output: { dir: directory, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
      logLevel: 'silent',
    })
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  return (name) => pathToFileURL(join(directory, `${name}.mjs`)).href
}
