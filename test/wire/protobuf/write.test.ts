import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  joinRopes,
  protoBytes,
  protoFloat,
  protoInt,
  protoMessage,
  protoPacked,
  protoText,
  type Rope,
} from '../../../src/wire/protobuf/write.js'

const bytesOf = (rope: Rope): Uint8Array => new Uint8Array(Buffer.concat(rope.pieces as readonly Uint8Array[]))
const hex = (rope: Rope): string => Buffer.from(bytesOf(rope)).toString('hex')

/** The value of a varint and where it ends. */
function readVarint(bytes: Uint8Array, at: number): [bigint, number] {
  let value = 0n
  for (let i = at; ; i++) {
    value += BigInt(bytes[i]! % 128) * 128n ** BigInt(i - at)
    if (bytes[i]! < 128) return [value, i + 1]
  }
}

describe('fields', () => {
  it.each<[string, Rope, string]>([
    ['0', protoInt(1, 0), '0800'],
    ['150', protoInt(1, 150), '089601'],
    ['-1', protoInt(3, -1), '18ffffffffffffffffff01'],
    ['a field above 15', protoInt(20, 7), 'a00107'],
    ['text', protoText(2, 'testing'), '120774657374696e67'],
    ['a float', protoFloat(2, 1.5), '150000c03f'],
    ['packed integers', protoPacked(4, [3, 270, 86942]), '2206038e029ea705'],
    ['a message', protoMessage(3, [protoInt(1, 150)]), '1a03089601'],
    ['nothing in a message', protoMessage(3, []), '1a00'],
  ])('%s', (_, rope, wanted) => {
    expect(hex(rope)).toBe(wanted)
    expect(rope.byteLength).toBe(wanted.length / 2)
  })

  it('integers of every size come back', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        fc.integer({ min: 1, max: 2 ** 29 - 1 }),
        (value, field) => {
          const bytes = bytesOf(protoInt(field, value))
          const [tag, next] = readVarint(bytes, 0)
          const [found, end] = readVarint(bytes, next)
          expect([tag, BigInt.asIntN(64, found), end]).toEqual([BigInt(field) * 8n, value, bytes.byteLength])
        },
      ),
    )
  })
})

it('ropes keep what is not there yet, and count it', () => {
  const later = { byteLength: 300 }
  const rope = protoMessage<typeof later>(1, [protoInt(1, 1), protoBytes(9, later), protoInt(2, 2)])
  expect(rope.pieces).toHaveLength(3)
  expect(rope.pieces[1]).toBe(later)
  expect(hex({ byteLength: 0, pieces: [rope.pieces[0] as never] })).toBe('0ab302' + '0801' + '4aac02')
  expect(rope.byteLength).toBe(3 + 2 + 3 + 300 + 2)
})

it('neighbouring bytes become one piece', () => {
  expect(joinRopes([protoInt(1, 1), protoInt(2, 2), protoText(3, 'x')]).pieces).toHaveLength(1)
  expect(joinRopes([])).toEqual({ byteLength: 0, pieces: [] })
})
