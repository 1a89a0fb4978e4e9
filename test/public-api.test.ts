// The public names, pinned: adding one is a decision, taking one away is a breaking change.
import { expect, it } from 'vitest'
import * as browser from '../src/index.js'
import * as kit from '../src/kit.js'
import * as node from '../src/node.js'

it('tare exports these names', () => {
  expect(Object.keys(browser).sort()).toMatchSnapshot()
})

it('tare/kit exports these names', () => {
  expect(Object.keys(kit).sort()).toMatchSnapshot()
})

it('tare/node exports these names on top', () => {
  const names = new Set(Object.keys(browser))
  expect(
    Object.keys(node)
      .filter((name) => !names.has(name))
      .sort(),
  ).toMatchSnapshot()
})
