import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readNameMap } from '../../src/kit-node.js'
import { useTempDir } from './temp-dir.js'

const at = useTempDir()
const read = (name: string, text: string) => {
  writeFileSync(at(name), text)
  return readNameMap(at(name))
}

describe('a map of names', () => {
  it.each([
    ['map.json', '{"a.b": "c", "__proto__": "d"}'],
    ['map', '{"a.b": "c", "__proto__": "d"}'],
    ['map.yaml', 'a.b: c\n__proto__: d\n'],
    ['map.YML', '{a.b: c, "__proto__": d}'],
  ])('is read from %s', async (name, text) => {
    expect([...(await read(name, text))]).toEqual([
      ['a.b', 'c'],
      ['__proto__', 'd'],
    ])
  })

  it.each([
    ['map.json', '["a"]', 'usage/option', undefined],
    ['map.json', '{"a": 1}', 'usage/option', 'a'],
    ['map.json', '{"a": ""}', 'usage/option', 'a'],
    ['map.json', '{"a": "b", "a": "c"}', 'json/duplicate-key', 'a'],
    ['map.json', '{"a"', 'json/syntax', ''],
    ['map.yaml', 'a: b\na: c\n', 'pack/yaml', undefined],
    ['map.yaml', 'a: [b]\n', 'usage/option', 'a'],
  ])('is refused: %s %s', async (name, text, code, path) => {
    await expect(read(name, text)).rejects.toMatchObject({ code })
    const { finding } = await read(name, text).catch((error) => error)
    expect([finding.file, finding.path]).toEqual([at(name), path])
  })

  it('must be there', async () => {
    await expect(readNameMap(at('no.json'))).rejects.toMatchObject({ code: 'io/not-found' })
  })
})
