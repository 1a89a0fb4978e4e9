import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashOfBytes, hashOfName, NameSet } from '../../src/bytes/name-set.js'

describe('the hash of a name', () => {
  it('is that of its bytes, where they are', () => {
    const name = fc.string({ unit: 'binary-ascii', maxLength: 40 })
    fc.assert(
      fc.property(name, fc.nat(8), (text, before) => {
        const bytes = new TextEncoder().encode(`${'.'.repeat(before)}${text}...`)
        expect(hashOfBytes(bytes, before, before + text.length)).toBe(hashOfName(text))
      }),
    )
  })
})

describe('a set of names', () => {
  it('knows what it was given, however the hashes fall, and whether or not it came into the list', () => {
    const entry = fc.record({ name: fc.string({ maxLength: 3 }), isListed: fc.boolean() })
    const spreads = fc.constantFrom(1, 8, 2 ** 32)
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 600 }), spreads, fc.nat(700), (entries, spread, expected) => {
        const list: string[] = []
        const names = new NameSet((position) => list[position]!, expected)
        const known = new Map<string, number | undefined>()
        for (const { name, isListed } of entries) {
          expect(names.find(name, hashOfName(name) % spread) !== undefined).toBe(known.has(name))
          const found = names.add(name, list.length, hashOfName(name) % spread)
          expect(found !== undefined).toBe(known.has(name))
          if (known.get(name) !== undefined) expect(found).toBe(known.get(name))
          else if (known.has(name)) expect(found).toBeLessThan(0)
          if (found !== undefined) expect(names.find(name, hashOfName(name) % spread)).toBe(found)
          if (found !== undefined) continue
          known.set(name, isListed ? list.length : undefined)
          if (isListed) list.push(name)
          else names.keepLast(name)
        }
      }),
    )
  })

  it('gives a name that did not come into the list no place in it, in the Map either', () => {
    const { names } = counting(1000, () => 7)
    expect(names.add('lost', 1000, 7)).toBeUndefined()
    names.keepLast('lost')
    expect(names.add('next', 1000, 7)).toBeUndefined()
    expect(names.find('next', 7)).toBe(1000)
    expect(names.find('lost', 7)).toBeLessThan(0)
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

  it('compares few names with those that are not there, however their hashes fall', () => {
    const { names, list, asked } = counting(8, () => 7)
    for (let i = 0; i < 10_000; i++) expect(names.find(`other ${i}`, 7)).toBe(undefined)
    expect(asked()).toBeLessThan(2000)
    for (const [i, name] of list.entries()) expect(names.find(name, 7)).toBe(i)
  })

  it('does not go along a row of places more than once', () => {
    const { names, list, asked } = counting(4000, hashOfPlace)
    // The same place as that of the first, and another hash: no name is compared, but all are asked for when a Map is made of them.
    expect(names.find('other', hashOfPlace(2 ** 20))).toBe(undefined)
    expect(asked()).toBe(list.length)
    for (const [i, name] of list.entries()) expect(names.find(name, hashOfPlace(i))).toBe(i)
    expect(asked()).toBe(list.length)
  })
})

/** A set of so many names, and how many of them it has asked for since it has them all. */
function counting(count: number, hashOf: (i: number) => number) {
  const list = Array.from({ length: count }, (_, i) => `name ${i}`)
  let times = 0
  const names = new NameSet((position) => {
    times++
    return list[position]!
  })
  for (const [i, name] of list.entries()) names.add(name, i, hashOf(i))
  times = 0
  return { names, list, asked: () => times }
}

/** The hash of a name that gets the place of this number: what the table does to spread hashes, backwards. */
function hashOfPlace(place: number): number {
  const twice = Math.imul(place ^ (place >>> 16), inverse(0xc2b2ae35))
  const once = Math.imul(twice ^ (twice >>> 13) ^ (twice >>> 26), inverse(0x85ebca6b))
  return once ^ (once >>> 16)
}

/** What undoes a multiplication by an odd number, in 32 bits: every step doubles the bits that are right. */
function inverse(factor: number): number {
  let found = 1
  for (let i = 0; i < 5; i++) found = Math.imul(found, 2 - Math.imul(factor, found))
  return found
}
