import fc from 'fast-check'
import { expect, it } from 'vitest'
import { numberRoom, RecordReader, RecordWriter, textRoom } from '../../src/bytes/record-blocks.js'

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ maxLength: 40 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
  fc.integer({ min: 1, max: 3 }).map((times) => 'long'.repeat(1500 * times)),
)

it('every record is read as it was written, from any place', () => {
  const record = fc.tuple(fc.maxSafeNat(), text)
  fc.assert(
    fc.property(fc.array(record, { maxLength: 60 }), (records) => {
      const writer = new RecordWriter()
      const places = records.map(([number, name], i) => {
        const place = writer.begin(1 + numberRoom + textRoom(name))
        writer.byte(i)
        writer.number(number)
        writer.text(name)
        return place
      })
      const reader = new RecordReader(writer)
      for (const i of [...records.keys()].reverse()) {
        reader.moveTo(places[i]!)
        expect([reader.byte(), reader.number(), reader.text()]).toEqual([i, ...records[i]!])
      }
    }),
  )
})

it('texts are right in whatever order they are read, while others are still written', () => {
  const step = fc.oneof(
    fc.record({ write: fc.oneof(fc.string({ maxLength: 60 }), fc.string({ unit: 'binary', maxLength: 200 })) }),
    fc.record({ from: fc.nat(), count: fc.integer({ min: 1, max: 12 }) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const writer = new RecordWriter()
      const reader = new RecordReader(writer)
      const names: string[] = []
      const places: number[] = []
      for (const each of steps) {
        if ('write' in each) {
          places.push(writer.begin(textRoom(each.write)))
          names.push(each.write)
          writer.text(each.write)
          continue
        }
        const first = names.length === 0 ? 0 : each.from % names.length
        for (let i = first; i < Math.min(first + each.count, names.length); i++) {
          reader.moveTo(places[i]!)
          expect(reader.text()).toBe(names[i])
        }
      }
    }),
    { numRuns: 300 },
  )
})

it('many texts are read one after another as they are', () => {
  const writer = new RecordWriter()
  const reader = new RecordReader(writer)
  const nameOf = (i: number): string => (i % 97 === 0 ? `n${'é'.repeat(i % 40_000)}` : `layers.${i}.weight`)
  const places = Array.from({ length: 20_000 }, (_, i) => {
    const place = writer.begin(numberRoom + textRoom(nameOf(i)))
    writer.number(i)
    writer.text(nameOf(i))
    return place
  })
  for (const [i, place] of places.entries()) {
    reader.moveTo(place)
    if (reader.number() !== i || reader.text() !== nameOf(i)) throw new Error(`record ${i} is another`)
  }
})

it('a text that is there as bytes is the same record', () => {
  const writer = new RecordWriter()
  const place = writer.begin(100)
  writer.bytes(new TextEncoder().encode('a name'), 2, 6)
  writer.number(7)
  const reader = new RecordReader(writer)
  reader.moveTo(place)
  expect([reader.text(), reader.number()]).toEqual(['name', 7])
})

it('a record longer than a block has one of its own', () => {
  const writer = new RecordWriter()
  const names = ['a', 'é'.repeat(3 << 20), 'b']
  const places = names.map((name) => {
    const place = writer.begin(textRoom(name))
    writer.text(name)
    return place
  })
  const reader = new RecordReader(writer)
  for (const [i, name] of names.entries()) {
    reader.moveTo(places[i]!)
    expect(reader.text() === name).toBe(true)
  }
})
