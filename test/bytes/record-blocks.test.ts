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
