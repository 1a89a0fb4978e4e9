import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashOfName, NameSet } from '../../src/bytes/name-set.js'

describe('a set of names', () => {
  it('knows what it was given, however the hashes fall, and whether or not it came into the list', () => {
    const entry = fc.record({ name: fc.string({ maxLength: 3 }), isListed: fc.boolean() })
    const spreads = fc.constantFrom(1, 8, 2 ** 32)
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 600 }), spreads, (entries, spread) => {
        const list: string[] = []
        const names = new NameSet((position) => list[position]!)
        const known = new Map<string, number | undefined>()
        for (const { name, isListed } of entries) {
          expect(names.find(name, hashOfName(name) % spread) !== undefined).toBe(known.has(name))
          const found = names.add(name, list.length, hashOfName(name) % spread)
          expect(found !== undefined).toBe(known.has(name))
          if (known.get(name) !== undefined) expect(found).toBe(known.get(name))
          if (found !== undefined) expect(names.find(name, hashOfName(name) % spread)).toBe(found)
          if (found !== undefined) continue
          known.set(name, isListed ? list.length : undefined)
          if (isListed) list.push(name)
          else names.keepLast(name)
        }
      }),
    )
  })

  it('makes a long name only a few times for short ones that have its hash', () => {
    const list = ['x'.repeat(100_000), 'short', 'other']
    let made = 0
    const names = new NameSet((position) => {
      made += list[position]!.length
      return list[position]!
    })
    for (const [position, name] of list.slice(0, 2).entries()) names.add(name, position, 1)
    for (let i = 0; i < 1000; i++) {
      expect(names.add('short', 2, 1)).toBe(1)
      expect(names.find('other', 1)).toBeUndefined()
    }
    expect(names.add('other', 2, 1)).toBeUndefined()
    expect(names.find('other', 1)).toBe(2)
    expect(made).toBeLessThan(500_000)
  })
})
