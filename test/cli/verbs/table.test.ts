// The table of verbs is read at every start, and by people who look for a flag.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { verbs } from '../../../src/cli/verbs/index.js'

const cli = resolve(import.meta.dirname, '../../../src/cli')
const flags = readdirSync(join(cli, 'flags')).map((file) => join('flags', file))

test('each verb has a folder of its name, and no folder is forgotten', () => {
  const named = verbs.map(({ name }) => name)
  expect(readdirSync(join(cli, 'verbs')).toSorted()).toEqual([...named, 'index.ts', 'verb.ts'].toSorted())
})

test('each verb loads the action of its own folder', async () => {
  for (const { name, load } of verbs) expect((await load()).default.name).toBe(name)
})

const declarations = verbs.map(({ name }) => join('verbs', name, 'index.ts'))

test.each(['verbs/index.ts', 'verbs/verb.ts', ...declarations, ...flags])(
  '%s loads nothing but flags and small parsers',
  (file) => {
    const text = readFileSync(join(cli, file), 'utf8')
    const loaded = [...text.matchAll(/^(?:import|export) (?!type )[^'"=;]*?from '(.+)'$/gm)].map(([, name]) =>
      join(file, '..', name!),
    )
    for (const name of loaded) expect(name).toMatch(/^flags\/|^verbs\/(\w+\/index|verb)\.js$|^status\.js$/)
  },
)
