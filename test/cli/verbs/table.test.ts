// The table of verbs is read at every start, and by people who look for a flag.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { verbs } from '../../../src/cli/verbs/index.js'

const cli = resolve(import.meta.dirname, '../../../src/cli')
const files = readdirSync(join(cli, 'verbs'))

test('each verb has a file of its name, and no file is forgotten', () => {
  const named = verbs.map(({ name }) => `${name}.ts`)
  expect(files.toSorted()).toEqual([...named, 'shared-rows.ts', 'verb.ts'].toSorted())
})

test.each(['../../verbs.ts', ...files])('%s loads nothing but rows and small parsers', (file) => {
  const text = readFileSync(join(cli, 'verbs', file), 'utf8')
  const loaded = [...text.matchAll(/^import (?!type ).* from '(.+)'$/gm)].map(([, name]) => name)
  for (const name of loaded) expect(name).toMatch(/^\.\/[\w-]+\.js$|^\.\/verbs\/[\w-]+\.js$|^\.\.\/parse-values\.js$/)
})
