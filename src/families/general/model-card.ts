// README.md of a published model begins with YAML between two lines of dashes: licence, languages, what it is based on.
import { parse, type Tags } from 'yaml'
import { isObject } from '../facts.js'
import type { Config } from '../family.js'

/** What the card says; nothing where it has no such head, or none that can be read. */
export function parseModelCard(text: string): Config {
  const [first, ...lines] = text.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/)
  if (first !== '---') return {}
  const end = lines.indexOf('---')
  const head = `${(end < 0 ? lines : lines.slice(0, end)).join('\n')}\n`
  // YAML takes the code of Norwegian for false, and tabs for an error.
  const readable = head.replaceAll('- no\n', '- "no"\n').replaceAll('\t', '  ')
  try {
    // Of settings that are there twice, the last counts.
    const value: unknown = parse(readable, {
      version: '1.1',
      maxAliasCount: 100,
      uniqueKeys: false,
      logLevel: 'error',
      customTags: asInPython,
    })
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** Python's library takes fewer words for truth values and numbers than YAML 1.1: `y` and `1e5` are texts. */
const asInPython = (tags: Tags): Tags =>
  tags.map((tag) => {
    if (typeof tag !== 'object' || tag.collection !== undefined || !tag.test) return tag
    const { test } = tag
    if (test.test('y') || test.test('n')) return { ...tag, test: new RegExp(`^(?![yYnN]$)${test.source}`) }
    return test.test('1e5') ? { ...tag, test: new RegExp(`^(?=[^eE]*\\.[^eE]*[eE][-+])${test.source}`) } : tag
  })
