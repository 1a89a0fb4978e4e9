// docs/api is made by `npm run docs:api` and lists every public name.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import * as kit from '../../src/kit.js'
import * as node from '../../src/node.js'

const page = (name: string): string => readFileSync(resolve(import.meta.dirname, '../../docs', name), 'utf8')

it('lists every name of tare and tare/node', () => {
  const text = page('api/index.md') + page('api/node.md')
  for (const name of Object.keys(node)) expect(text, name).toMatch(new RegExp(`^### ${name}(\\(\\))?$`, 'm'))
})

it('the page about the kit names what is there', () => {
  const [, table = ''] = page('kit.md').split('| task | names |')
  const names = [...table.matchAll(/`([a-z]\w+)`/g)].map(([, name]) => name!)
  expect(names.length).toBeGreaterThan(50)
  for (const name of names) expect(Object.keys(kit), name).toContain(name)
})
