import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countingSource, MemorySource, strictReport } from '../../../src/kit.js'
import { type MessageSpec, message, ProtobufReader } from '../../../src/wire/protobuf/protobuf.js'
import { countVarints, VarintDecoder } from '../../../src/wire/protobuf/varints.js'

const spec = message({ 1: ['number', 'varints'], 2: ['text', 'bytes'], 3: ['inner', 'bytes'], 4: ['real', 'floats'] })

function readerOf(
  bytes: Uint8Array | readonly number[],
  seen: string[] = [],
): { reader: ProtobufReader; size: number } {
  const source = new MemorySource(Uint8Array.from(bytes), 'm')
  const report = strictReport('m', ({ code }) => seen.push(code))
  return { reader: new ProtobufReader(source, report), size: source.size }
}

/** Every field as a short text; nested messages in brackets. */
async function list(bytes: Uint8Array | readonly number[], seen?: string[]): Promise<string[]> {
  const { reader, size } = readerOf(bytes, seen)
  const found: string[] = []
  const walk = async (start: number, end: number): Promise<void> =>
    reader.walk({ start, end }, 'm', spec, async () => {
      const { field, wire, at } = reader
      if (field === 3) {
        found.push(`${at}:[`)
        await walk(reader.start, reader.end)
        found.push(']')
        return true
      }
      found.push(wire === 0 ? `${at}:${field}=${reader.int64}` : `${at}:${field}+${reader.length}`)
      return false
    })
  await walk(0, size)
  return found
}

const codeOf = (bytes: readonly number[]): Promise<unknown> =>
  list(bytes).catch((error: { code: string }) => error.code)

describe('walking', () => {
  it('gives number, place and value of each field', async () => {
    expect(await list([8, 150, 1, 18, 2, 104, 105, 37, 0, 0, 128, 63])).toEqual(['0:1=150', '3:2+2', '7:4+4'])
  })

  it('enters messages and comes back', async () => {
    expect(await list([26, 4, 26, 0, 8, 1, 8, 2])).toEqual(['0:[', '2:[', ']', '4:1=1', ']', '6:1=2'])
  })

  it('takes varints that are longer than needed', async () => {
    expect(await list([0x88, 0x00, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00])).toEqual(['0:1=1'])
  })

  it('reads negative numbers', async () => {
    expect(await list([8, ...Array(9).fill(255), 1])).toEqual(['0:1=-1'])
    expect(await list([8, ...Array(9).fill(128), 1])).toEqual(['0:1=-9223372036854775808'])
  })

  it('skips unknown fields of every wire type, groups too', async () => {
    const fixed64 = [0x79, 1, 2, 3, 4, 5, 6, 7, 8]
    const group = [0x7b, 0x08, 0x01, 0x83, 0x01, 0x84, 0x01, 0x12, 0x01, 0x00, 0x7c]
    expect(await list([...fixed64, ...group, 8, 5])).toEqual([`${fixed64.length + group.length}:1=5`])
  })

  it('skips a known field of a wire type that does not fit, and says so', async () => {
    const seen: string[] = []
    expect(await list([16, 5, 8, 1], seen)).toEqual(['2:1=1'])
    expect(seen).toEqual(['protobuf/mismatch'])
  })

  it.each<[string, readonly number[], string]>([
    ['a tag that is cut', [0x88], 'protobuf/truncated'],
    ['a value that is cut', [8, 0x80], 'protobuf/truncated'],
    ['a length past the end', [18, 3, 1, 2], 'protobuf/truncated'],
    ['a length of 2^63', [18, ...Array(9).fill(128), 1], 'protobuf/truncated'],
    ['a field past the end of its message', [26, 2, 18, 1, 0, 0], 'protobuf/truncated'],
    ['a varint past the end of its message', [26, 2, 8, 0x80, 1], 'protobuf/truncated'],
    ['four bytes that are three', [37, 0, 0, 0], 'protobuf/truncated'],
    ['eleven bytes', [8, ...Array(10).fill(128), 0], 'protobuf/varint'],
    ['65 bits', [8, ...Array(9).fill(255), 2], 'protobuf/varint'],
    ['field 0', [0, 0], 'protobuf/field-number'],
    ['a tag of 33 bits', [0x88, 0x80, 0x80, 0x80, 0x10, 0], 'protobuf/field-number'],
    ['wire type 6', [14], 'protobuf/wire-type'],
    ['wire type 7', [15], 'protobuf/wire-type'],
    ['a group that ends unbegun', [12], 'protobuf/group'],
    ['a group that does not end', [11, 8, 1], 'protobuf/group'],
    ['a group that another ends', [11, 20], 'protobuf/group'],
    ['101 groups', [...Array(101).fill(11), ...Array(101).fill(12)], 'protobuf/depth'],
  ])('refuses %s', async (_, bytes, code) => {
    expect(await codeOf(bytes)).toBe(code)
  })

  it('takes 100 levels of messages and refuses 101', async () => {
    const nested = (levels: number): number[] => {
      let bytes: number[] = []
      for (let i = 1; i < levels; i++) bytes = [26, ...varint(BigInt(bytes.length)), ...bytes]
      return bytes
    }
    expect((await list(nested(100))).length).toBe(2 * 99)
    expect(await codeOf(nested(101))).toBe('protobuf/depth')
  })

  it('steps over payloads without reading them', async () => {
    const size = 1 << 20
    const field = Uint8Array.from([18, ...varint(BigInt(size))])
    const bytes = new Uint8Array(20 * (field.length + size))
    for (let i = 0; i < 20; i++) bytes.set(field, i * (field.length + size))
    const count = { reads: 0, bytes: 0 }
    const reader = new ProtobufReader(countingSource(new MemorySource(bytes), count), strictReport('m'))
    let fields = 0
    await reader.walk({ start: 0, end: bytes.length }, 'm', spec, () => ++fields < 0)
    expect(fields).toBe(20)
    expect(count.bytes).toBeLessThan(20 * 512)
  })

  it('reads closely packed fields in few steps', async () => {
    const bytes = new Uint8Array(2 << 20).map((_, i) => (i % 2 === 0 ? 8 : 1))
    const count = { reads: 0, bytes: 0 }
    const reader = new ProtobufReader(countingSource(new MemorySource(bytes), count), strictReport('m'))
    let sum = 0
    await reader.walk({ start: 0, end: bytes.length }, 'm', spec, () => {
      sum += reader.low
      return false
    })
    expect(sum).toBe(1 << 20)
    expect(count.reads).toBeLessThan(20)
  })
})

describe('varints', () => {
  const numbers = fc.array(fc.oneof(fc.bigInt(0n, 300n), fc.bigInt(0n, 2n ** 64n - 1n)), { maxLength: 200 })

  it('are counted and decoded from pieces of any size', () => {
    fc.assert(
      fc.property(numbers, fc.integer({ min: 1, max: 13 }), (values, step) => {
        const bytes = Uint8Array.from(values.flatMap(varint))
        expect(countVarints(bytes)).toBe(values.length)
        const decoder = new VarintDecoder(8)
        const decoded: bigint[] = []
        const view = new DataView(new ArrayBuffer(step * 8))
        for (let at = 0; at < bytes.length; at += step) {
          const made = decoder.decode(bytes.subarray(at, at + step), view)!
          for (let i = 0; i < made; i += 8) decoded.push(view.getBigUint64(i, true))
        }
        expect(decoder.isBetween).toBe(true)
        expect(decoded).toEqual(values)
      }),
    )
  })

  it('end with the end of a number', () => {
    expect(countVarints(Uint8Array.of(1, 0x80))).toBeUndefined()
    expect(countVarints(Uint8Array.of(...Array(10).fill(0x80), 0))).toBeUndefined()
    const decoder = new VarintDecoder(1)
    expect(decoder.decode(Uint8Array.of(0x80), new DataView(new ArrayBuffer(8)))).toBe(0)
    expect(decoder.isBetween).toBe(false)
  })

  it.each<[string, bigint, boolean]>([
    ['the lowest', -128n, true],
    ['the highest', 127n, true],
    ['one below', -129n, false],
    ['one above', 128n, false],
    ['minus one in five bytes', 2n ** 32n - 1n, true],
    ['the low bits of minus one under others', 2n ** 40n + 2n ** 32n - 1n, false],
    ['a positive number under the high bits of a negative one', 2n ** 64n - 2n ** 32n + 5n, false],
  ])('of an i8: %s', (_, value, isInside) => {
    const decoder = new VarintDecoder(1, [-128, 127])
    decoder.decode(Uint8Array.from(varint(BigInt.asUintN(64, value))), new DataView(new ArrayBuffer(10)))
    expect(decoder.outOfRange).toEqual(isInside ? undefined : { position: 0, value: BigInt.asIntN(64, value) })
  })

  it('of a u32 may use all 32 bits', () => {
    const decoder = new VarintDecoder(4, [0, 2 ** 32 - 1])
    const bytes = [2n ** 32n - 1n, 2n ** 32n].flatMap(varint)
    decoder.decode(Uint8Array.from(bytes), new DataView(new ArrayBuffer(40)))
    expect(decoder.outOfRange).toEqual({ position: 1, value: 2n ** 32n })
  })
})

it('messages know their fields by number', () => {
  const empty: MessageSpec = message({})
  expect([empty.size, spec.get(3)]).toEqual([0, { name: 'inner', kind: 'bytes' }])
})

function varint(value: bigint): number[] {
  return value < 128n ? [Number(value)] : [Number(value % 128n) + 128, ...varint(value / 128n)]
}
