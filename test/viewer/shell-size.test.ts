// What has to come before anything is seen: the page's own script and style, and what they cannot start without. Screens, formats and workers come
// when they are needed.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'

const folder = join(import.meta.dirname, '../../dist/viewer')
const read = (name: string): string => readFileSync(join(folder, name), 'utf8')

it('is small', () => {
  const page = read('index.html')
  const files = new Set([...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name]) => name!))
  for (const file of files)
    for (const [, name] of read(file).matchAll(/\b(?:import|from)\s*["']\.\/([^"']+\.js)["']/g))
      files.add(`assets/${name}`)
  const sizes = [...files].map((name) => gzipSync(read(name)).byteLength)
  expect(files.size).toBeGreaterThanOrEqual(2)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(60_000)
})

it('states a policy that lets nothing else run', () => {
  const policy = /http-equiv="Content-Security-Policy"\s+content="([^"]+)"/.exec(read('index.html'))?.[1] ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("require-trusted-types-for 'script'")
  expect(policy).not.toMatch(/unsafe-inline|'unsafe-eval'|\*/)
  expect(read('index.html')).not.toMatch(/<script>|style="/)
})
