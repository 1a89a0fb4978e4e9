// A file can be wrong in several ways; what is said first is what the reference readers stumble over first.
import { describe, expect, it } from 'vitest'
import { MemorySource, openModel } from '../../../src/kit.js'
import { aeroBytes, entry, index, weights } from './build.js'

type Damage = (view: DataView) => void

const big = 2n ** 40n
/** In the order in which the reference looks. */
const steps: readonly (readonly [code: string, damage: Damage])[] = [
  ['header-magic', (view) => view.setUint8(0, 0)],
  ['header-version', (view) => view.setUint16(6, 2, true)],
  ['header-size', (view) => view.setUint32(8, 97, true)],
  ['header-flags', (view) => view.setBigUint64(44, 1n, true)],
  ['toc-bounds', (view) => view.setBigUint64(12, 2n ** 64n - 1n, true)],
  ['toc-length', (view) => view.setBigUint64(20, 15n, true)],
  ['toc-count-cap', (view) => view.setUint32(96, 1_000_001, true)],
  ['toc-count-vs-length', (view) => view.setUint32(96, 3, true)],
  ['strtab-bounds', (view) => view.setBigUint64(28, big, true)],
  ['chunk-bounds', (view) => view.setBigUint64(112 + 8, 2n ** 64n - 1n, true)],
  ['chunk-name-bounds', (view) => view.setUint32(112 + 36, 0xffff_ffff, true)],
]

describe('of two faults the first one is named', () => {
  const pairs = steps.flatMap(([first, one], i) =>
    steps
      .slice(i + 1)
      // These two are the same number.
      .filter(([second]) => !(first === 'toc-count-cap' && second === 'toc-count-vs-length'))
      .map(([second, other]) => [first, second, one, other] as const),
  )
  it.each(pairs)('%s before %s', async (first, _, one, other) => {
    const bytes = await aeroBytes([index(entry('a')), weights()])
    const view = new DataView(bytes.buffer)
    other(view)
    one(view)
    await expect(openModel(new MemorySource(bytes, 'x.aero'), { from: 'aero' })).rejects.toMatchObject({
      code: `aero/${first}`,
    })
  })
})
