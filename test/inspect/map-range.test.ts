// A range of a map is what the whole map has there.
import { describe, expect, it } from 'vitest'
import { formats, MemorySource, mapSource } from '../../src/kit.js'
import { fixtureSource, isAccepted, presentCases } from '../support/fixtures.js'

describe('the map of a range', () => {
  it.each(formats.map(({ id }) => id))('%s: the rows that touch it', async (id) => {
    let compared = 0
    for (const { file } of presentCases(id).filter(isAccepted).slice(0, 6)) {
      const whole = await mapSource(fixtureSource(id, file))
      const main = whole.files[0]!
      if (main.overlaps.length > 0) continue
      for (const range of rangesOf(main.size)) {
        const part = await mapSource(fixtureSource(id, file), { range })
        const wanted = main.extents.filter((row) => row.offset < range[1] && row.offset + row.length > range[0])
        expect(part.files[0]!.extents, `${file} ${range}`).toEqual(wanted)
        compared++
      }
    }
    expect(compared).toBeGreaterThan(0)
  })

  it('is a gap where nothing is known', async () => {
    const source = new MemorySource(new Uint8Array(100), 'zeros.bin')
    const { files, findings } = await mapSource(source, { range: [10, 20] })
    expect(findings.length).toBeGreaterThan(0)
    expect(files[0]!.extents).toEqual([{ offset: 0, length: 100, path: '', kind: 'gap' }])
  })

  it('refuses a range that ends before it starts', async () => {
    const source = new MemorySource(new Uint8Array(100), 'zeros.bin')
    await expect(mapSource(source, { range: [20, 10] })).rejects.toMatchObject({ code: 'usage/option' })
  })
})

const rangesOf = (size: number): [number, number][] => [
  [0, 1],
  [0, size],
  [Math.floor(size / 3), Math.floor(size / 2)],
  [Math.floor(size / 2), Math.floor(size / 2) + 1],
  [Math.max(0, size - 2), size],
]
