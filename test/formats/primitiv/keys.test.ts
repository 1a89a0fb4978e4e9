import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareBytes, encodeUtf8 } from '../../../src/bytes/index.js'
import { isBehind, type Key, shownText, sortKeys, sortText } from '../../../src/formats/primitiv/keys.js'

/** Names that begin alike, with what sorts around their ends; bytes that are no UTF-8 among them. */
const unit = fc.constantFrom('a', 'b', '.', '-', '\0', '\x01', 'é', '\uffff', '😀')
const bytes = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit, maxLength: 3 }).map(encodeUtf8) },
  fc.uint8Array({ maxLength: 2 }),
)
const isText = (name: Uint8Array): boolean => shownText(name) === new TextDecoder().decode(name)
const keyOf = (raw: readonly Uint8Array[]): Key => ({
  names: raw.map(shownText),
  ...(!raw.every(isText) && { raw }),
})
const keys = fc.array(fc.array(bytes, { maxLength: 3 }).map(keyOf), { maxLength: 12 })

const bytesOf = ({ names, raw }: Key): readonly Uint8Array[] => raw ?? names.map(encodeUtf8)

function compareKeys(a: Key, b: Key): number {
  const [x, y] = [bytesOf(a), bytesOf(b)]
  const order = x.map((name, i) => (i < y.length ? compareBytes(name, y[i]!) : 0)).find((each) => each !== 0)
  return order ?? x.length - y.length
}

/** Whether the names of `a` are the first names of `b`, or all of them. */
const isPrefix = (a: Key, b: Key): boolean =>
  a.names.length <= b.names.length && bytesOf(a).every((name, i) => compareBytes(name, bytesOf(b)[i]!) === 0)

describe('the order of keys', () => {
  it('is that of the bytes of their names, and equal ones stay as they were', () => {
    const property = fc.property(keys, (list) => {
      const expected = list.map((_, i) => i).sort((a, b) => compareKeys(list[a]!, list[b]!))
      expect(sortKeys(list.map(sortText)).order).toEqual(expected)
    })
    fc.assert(property, { numRuns: 1000 })
  })

  it('shows neighbours that are the same, or of which one goes on where the other ends', () => {
    const property = fc.property(keys, (list) => {
      const found = sortKeys(list.map(sortText))
      const expected = found.order.slice(1).flatMap((second, i) => {
        const first = found.order[i]!
        if (!isPrefix(list[first]!, list[second]!)) return []
        const isSame = list[first]!.names.length === list[second]!.names.length
        return [{ kind: isSame ? 'same' : 'clash', first, second }]
      })
      expect(found.conflicts).toEqual(expected)
    })
    fc.assert(property, { numRuns: 1000 })
  })

  it('tells a list that is sorted and without conflicts from neighbour to neighbour', () => {
    const property = fc.property(keys, (list) => {
      const isSorted = list.every((key, i) => i === 0 || isBehind(key, list[i - 1]!))
      if (!isSorted) return
      expect(sortKeys(list.map(sortText))).toEqual({ order: list.map((_, i) => i), conflicts: [] })
    })
    fc.assert(property, { numRuns: 2000 })
    expect(isBehind({ names: ['a', 'b'] }, { names: ['a', 'a', 'c'] })).toBe(true)
  })
})
