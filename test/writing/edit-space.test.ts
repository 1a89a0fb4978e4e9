import fc from 'fast-check'
import { expect, test } from 'vitest'
import { areApart } from '../../src/bytes/index.js'
import { MemorySink, MemorySource, writeLayout } from '../../src/kit.js'
import { EditSpace } from '../../src/writing/edit-space.js'

/** A file in which each byte says what it belongs to: odd numbers stay, even ones are freed, 0 is a gap. */
const regions = fc.array(fc.record({ gap: fc.nat(20), length: fc.nat(40), stays: fc.boolean() }), {
  minLength: 1,
  maxLength: 12,
})

test('pieces lie apart from each other and from what stays, and the rest is zeros', async () => {
  await fc.assert(
    fc.asyncProperty(regions, fc.array(fc.nat(60), { maxLength: 6 }), async (parts, lengths) => {
      const file: number[] = []
      const staying = [{ start: 0, end: 4 }]
      const freed: { start: number; end: number }[] = []
      file.push(1, 1, 1, 1)
      for (const [i, { gap, length, stays }] of parts.entries()) {
        for (let k = 0; k < gap; k++) file.push(0)
        const start = file.length
        for (let k = 0; k < length; k++) file.push(stays ? 1 + 2 * (i + 1) : 2 * (i + 1))
        ;(stays ? staying : freed).push({ start, end: start + length })
      }
      const source = new MemorySource(Uint8Array.from(file), 'm')
      const space = await EditSpace.in(source, { staying, freed, alignment: 4 })
      const pieces = lengths.map((length, i) => {
        const bytes = new Uint8Array(length + 1).fill(200 + i)
        return { path: `${i}`, offset: space.place(bytes.byteLength, freed[i]), bytes }
      })
      const ranges = pieces.map(({ offset, bytes }) => ({ start: offset, end: offset + bytes.byteLength }))
      expect(areApart([...ranges, ...staying])).toBe(true)
      expect(pieces.every(({ offset }) => offset % 4 === 0)).toBe(true)
      const files = new Map<string, Uint8Array>()
      const layout = { files: [{ name: 'm', slots: space.slots(pieces) }] }
      await writeLayout(layout, async (name) => new MemorySink(name, files))
      const result = files.get('m')!
      expect(result.byteLength).toBe(space.end)
      const expected = new Uint8Array(space.end)
      for (const { start, end } of staying) expected.set(file.slice(start, end), start)
      for (const { offset, bytes } of pieces) expected.set(bytes, offset)
      expect(result).toEqual(expected)
    }),
    { numRuns: 200, seed: 7 },
  )
})

test('a gap that holds something is nobody’s to take', async () => {
  const source = new MemorySource(Uint8Array.of(1, 1, 9, 9, 9, 9, 9, 9, 1, 1), 'm')
  const staying = [
    { start: 0, end: 2 },
    { start: 8, end: 10 },
  ]
  const space = await EditSpace.in(source, { staying, freed: [], alignment: 1 })
  expect(space.place(3)).toBe(10)
  const files = new Map<string, Uint8Array>()
  const slots = space.slots([{ path: '', offset: 10, bytes: Uint8Array.of(7, 7, 7) }])
  await writeLayout({ files: [{ name: 'm', slots }] }, async (name) => new MemorySink(name, files))
  expect([...files.get('m')!]).toEqual([1, 1, 9, 9, 9, 9, 9, 9, 1, 1, 7, 7, 7])
})

test('much unused space is wasteful, a little is not', async () => {
  const wastefulness = async (freed: number): Promise<boolean> => {
    const source = new MemorySource(new Uint8Array(freed + 20).fill(1), 'm')
    const staying = [
      { start: 0, end: 10 },
      { start: freed + 10, end: freed + 20 },
    ]
    const space = await EditSpace.in(source, { staying, freed: [{ start: 10, end: freed + 10 }], alignment: 1 })
    return space.isWasteful
  }
  expect(await Promise.all([wastefulness(60_000), wastefulness(70_000)])).toEqual([false, true])
})
