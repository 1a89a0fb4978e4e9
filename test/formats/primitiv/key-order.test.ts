import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeUtf8 } from '../../../src/bytes/index.js'
import { KeyOrder } from '../../../src/formats/primitiv/key-order.js'
import { compareKeys, isPrefix, type Key, shownText } from '../../../src/formats/primitiv/names.js'

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

describe('the order of keys', () => {
  it('is that of the bytes of their names, and equal ones stay as they were', () => {
    const property = fc.property(keys, (list) => {
      const expected = list.map((_, i) => i).sort((a, b) => compareKeys(list[a]!, list[b]!))
      expect([...new KeyOrder(list.length, (i) => list[i]!).order]).toEqual(expected)
    })
    fc.assert(property, { numRuns: 1000 })
  })

  it('shows neighbours that are the same, or of which one goes on where the other ends', () => {
    const property = fc.property(keys, (list) => {
      const found = new KeyOrder(list.length, (i) => list[i]!)
      const expected = [...found.order.subarray(1)].flatMap((second, i) => {
        const first = found.order[i]!
        if (!isPrefix(list[first]!, list[second]!)) return []
        const isSame = list[first]!.names.length === list[second]!.names.length
        return [{ kind: isSame ? 'same' : 'clash', first, second }]
      })
      expect([...found.conflicts()]).toEqual(expected)
    })
    fc.assert(property, { numRuns: 1000 })
  })
})
