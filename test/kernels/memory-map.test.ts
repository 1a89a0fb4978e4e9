import { describe, expect, it } from 'vitest'
import { kernelRoom } from '../../src/bytes/window.js'
import { digestsMap, ggmlMap, latticeMap, mcfMap, numbersMap } from '../../src/kernels/memory-map.js'
import { tileSize } from '../../src/kernels/numbers/module.js'

const addresses = (map: Readonly<Record<string, number>>): number[] =>
  Object.entries(map).flatMap(([name, address]) => (name === 'pages' ? [] : [address]))

describe('the memory map', () => {
  it.each(Object.entries({ numbersMap, ggmlMap, latticeMap, mcfMap, digestsMap }))(
    '%s names no address twice',
    (_, map) => {
      const all = addresses(map)
      expect(new Set(all).size).toBe(all.length)
    },
  )

  it('keeps kernels that share the arena apart, and below its windows', () => {
    expect(Math.max(...addresses(numbersMap))).toBe(numbersMap.secondTile)
    expect(numbersMap.secondTile + tileSize).toBeLessThanOrEqual(Math.min(...addresses(ggmlMap)))
    expect(Math.max(...addresses(ggmlMap)) + 96).toBeLessThanOrEqual(kernelRoom)
  })

  it.each([mcfMap, digestsMap])('stays within the memory of the module', (map) => {
    expect(Math.max(...addresses(map))).toBeLessThan(map.pages * 65_536)
  })
})
