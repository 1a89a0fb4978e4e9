// The page uses the package as any other page would: by its public entries.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../viewer/src')
const allowed = /^(\.|tare$|tare\/kit$|tare\/web-worker$|tare\/tokenize$|preact|@preact\/signals$|uplot)/

it('imports nothing of the library but its entries', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))
  expect(files.length).toBeGreaterThan(40)
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8')
    for (const [, name] of text.matchAll(/(?:from|import|import\()\s*'([^']+)'/g)) {
      expect(name, file).toMatch(allowed)
      expect(name, file).not.toMatch(/\.\.\/src\/|^\.+\/.*dist\//)
    }
  }
})
