import { Decoder, Encoder, ExtData } from '@msgpack/msgpack'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Shortage } from '../../../src/bytes/index.js'
import { strictReport, TareError } from '../../../src/errors/index.js'
import {
  decodeMsgpack,
  encodeMsgpack,
  type MsgpackNode,
  MsgpackReader,
  MsgpackWriter,
} from '../../../src/wire/msgpack/index.js'

const report = strictReport('test')
const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))

function failureOf(work: () => unknown): { code: string; offset: number | undefined; path: string | undefined } {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(TareError)
    const { code, offset, path } = (error as TareError).finding
    return { code, offset, path }
  }
  throw new Error('it did not fail')
}

const codeOf = (text: string, options = {}): string => failureOf(() => decodeMsgpack(hex(text), report, options)).code

const text = fc.string({ unit: 'binary' })
const leaf = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.maxSafeInteger(),
  fc.integer({ min: -40, max: 300 }),
  fc.double({ noNaN: true }),
  fc.bigInt({ min: -(1n << 63n), max: (1n << 64n) - 1n }).map(shrunk),
  text,
  fc.uint8Array({ maxLength: 300 }),
)
const { tree } = fc.letrec<{ tree: MsgpackNode }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.array(tie('tree'), { maxLength: 20 }),
    fc.array(fc.tuple(text, tie('tree')), { maxLength: 20 }).map((entries) => new Map(entries)),
  ) as fc.Arbitrary<MsgpackNode>,
}))

function shrunk(value: bigint): number | bigint {
  return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value
}

describe('trees', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(tree, (value) => {
        const bytes = encodeMsgpack(value, { keyOrder: 'given' })
        expect(decodeMsgpack(bytes, report)).toEqual(value)
      }),
      { numRuns: 300 },
    )
  })

  it('are what another library writes and reads', () => {
    const decoder = new Decoder({ useBigInt64: true, mapKeyConverter: (key) => key as string })
    const encoder = new Encoder({ useBigInt64: true })
    // The other library writes minus zero as the integer 0, so it is left out.
    const positive = (value: unknown): unknown =>
      Array.isArray(value) ? value.map(positive) : Object.is(value, -0) ? 0 : value
    const plain = fc
      .oneof(leaf, fc.array(leaf))
      .filter((value) => typeof value !== 'bigint')
      .map(positive)
    fc.assert(
      fc.property(plain, (value) => {
        const bytes = encodeMsgpack(value as MsgpackNode)
        const theirs = normal(decoder.decode(bytes))
        expect(theirs).toEqual(normal(value))
        expect(normal(decodeMsgpack(encoder.encode(value), report))).toEqual(normal(value))
      }),
      { numRuns: 300 },
    )
    expect(decodeMsgpack(encoder.encode({ a: { b: [1, 'x'] }, c: null }), report)).toEqual(
      new Map<string, unknown>([
        ['a', new Map([['b', [1, 'x']]])],
        ['c', null],
      ]),
    )
    expect(decodeMsgpack(encoder.encode(new ExtData(-5, new Uint8Array([1, 2, 3]))), report)).toEqual({
      ext: -5,
      data: new Uint8Array([1, 2, 3]),
    })
  })

  it('do not depend on the order in which a map was filled', () => {
    const keys = ['b', 'a', '', '\u{1f600}', '\uff5e', 'aa', 7, -1, 1n << 60n, true, null]
    const forwards = new Map(keys.map((key, i) => [key, i]))
    const backwards = new Map(keys.map((key, i) => [key, i] as const).reverse())
    expect(encodeMsgpack(forwards)).toEqual(encodeMsgpack(backwards))
    const order = [...(decodeMsgpack(encodeMsgpack(forwards), report) as Map<unknown, unknown>).keys()]
    expect(order).toEqual([null, true, -1, 7, 1n << 60n, '', 'a', 'aa', 'b', '\uff5e', '\u{1f600}'])
  })

  it('take the shortest form of every number and length', () => {
    const forms: [MsgpackNode, string][] = [
      [0, '00'],
      [127, '7f'],
      [128, 'cc80'],
      [255, 'ccff'],
      [256, 'cd0100'],
      [65_535, 'cdffff'],
      [65_536, 'ce00010000'],
      [4_294_967_295, 'ceffffffff'],
      [4_294_967_296, 'cf0000000100000000'],
      [(1n << 64n) - 1n, 'cfffffffffffffffff'],
      [5n, '05'],
      [-1, 'ff'],
      [-32, 'e0'],
      [-33, 'd0df'],
      [-128, 'd080'],
      [-129, 'd1ff7f'],
      [-32_768, 'd18000'],
      [-32_769, 'd2ffff7fff'],
      [-2_147_483_649, 'd3ffffffff7fffffff'],
      [-0, 'cb8000000000000000'],
      [0.5, 'cb3fe0000000000000'],
      [{ float: 32, value: 1 }, 'ca3f800000'],
      [{ float: 64, value: 1 }, 'cb3ff0000000000000'],
      ['x'.repeat(31), `bf${'78'.repeat(31)}`],
      ['x'.repeat(32), `d920${'78'.repeat(32)}`],
      [new Uint8Array(2), 'c4020000'],
      [{ ext: -1, data: new Uint8Array(4) }, 'd6ff00000000'],
      [{ ext: 3, data: new Uint8Array(3) }, 'c70303000000'],
      [Array.from({ length: 16 }, () => 0), `dc0010${'00'.repeat(16)}`],
      [{ text: hex('ff') }, 'a1ff'],
    ]
    for (const [value, bytes] of forms) expect(Buffer.from(encodeMsgpack(value)).toString('hex')).toBe(bytes)
    expect(encodeMsgpack(0.5, { floats: 'shortest' })).toEqual(hex('ca3f000000'))
    expect(encodeMsgpack(0.1, { floats: 'shortest' })).toEqual(hex('cb3fb999999999999a'))
    for (const length of [255, 256, 65_535, 65_536]) {
      const back = decodeMsgpack(encodeMsgpack([new Uint8Array(length), 'y'.repeat(length)]), report) as MsgpackNode[]
      expect(back).toEqual([new Uint8Array(length), 'y'.repeat(length)])
    }
  })

  it('keep what a plain number would lose, when asked', () => {
    const bytes = hex('94 ca3f800000 cb3ff0000000000000 01 a2ff61')
    const kept = decodeMsgpack(bytes, report, { keepFloats: true, keepRawText: true })
    expect(kept).toEqual([{ float: 32, value: 1 }, { float: 64, value: 1 }, 1, { text: hex('ff61') }])
    expect(encodeMsgpack(kept)).toEqual(bytes)
  })

  it('treats __proto__ as a key like any other', () => {
    const map = decodeMsgpack(hex('81 a9 5f5f70726f746f5f5f 80'), report) as Map<unknown, unknown>
    expect([...map.keys()]).toEqual(['__proto__'])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

describe('what is wrong', () => {
  it('has a code', () => {
    expect(codeOf('')).toBe('msgpack/truncated')
    expect(codeOf('ce 0000')).toBe('msgpack/truncated')
    expect(codeOf('a5 6161')).toBe('msgpack/length')
    expect(codeOf('c1')).toBe('msgpack/reserved')
    expect(codeOf('a1 ff')).toBe('msgpack/utf8')
    expect(codeOf('81 a1ff 00', { keepRawText: true })).toBe('msgpack/utf8')
    expect(codeOf('82 a161 01 a161 02')).toBe('msgpack/duplicate-key')
    expect(codeOf('82 01 01 cc01 02')).toBe('msgpack/duplicate-key')
    expect(codeOf('81 90 00')).toBe('msgpack/key')
    expect(codeOf('81 ca3f800000 00')).toBe('msgpack/key')
    expect(codeOf('00 00')).toBe('msgpack/trailing-bytes')
    expect(codeOf('91 91 91 00', { maxDepth: 2 })).toBe('msgpack/depth')
    expect(codeOf(`${'91'.repeat(100_000)}00`)).toBe('msgpack/depth')
    expect(decodeMsgpack(hex('91 91 00'), report, { maxDepth: 2 })).toEqual([[0]])
    expect(decodeMsgpack(hex('00 00'), report, { allowTrailing: true })).toBe(0)
  })

  it('has an offset and a path', () => {
    const bytes = hex('82 a161 93 01 02 a2 6162 a3 78 20 79 a1ff')
    expect(failureOf(() => decodeMsgpack(bytes, report, { base: 100, path: 'meta' }))).toEqual({
      code: 'msgpack/utf8',
      offset: 114,
      path: 'meta["x y"]',
    })
    expect(failureOf(() => decodeMsgpack(hex('81 a161 92 01 d9ff'), report))).toEqual({
      code: 'msgpack/length',
      offset: 5,
      path: 'a[1]',
    })
  })

  it('is found before memory is taken for it', () => {
    for (const bomb of [
      'dbffffffff',
      'c6ffffffff',
      'ddffffffff',
      'dfffffffff',
      'c9ffffffff01',
      'dd0fffffff dd0fffffff',
    ])
      expect(codeOf(bomb)).toBe('msgpack/length')
  })

  it('is found wherever the bytes are cut', () => {
    fc.assert(
      fc.property(tree, fc.nat(), (value, seed) => {
        const bytes = encodeMsgpack(value)
        const cut = bytes.subarray(0, seed % bytes.byteLength)
        expect(['msgpack/truncated', 'msgpack/length']).toContain(failureOf(() => decodeMsgpack(cut, report)).code)
      }),
    )
  })

  it('never leads to anything but a coded error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          decodeMsgpack(bytes, report)
        } catch (error) {
          expect(error).toBeInstanceOf(TareError)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a reader over a window', () => {
  it('asks for more while the file goes on, and fails where it ends', () => {
    const reader = new MsgpackReader(hex('c4 08 0000'), report, { base: 10, end: 20 })
    expect(reader.next()).toBe('bin')
    expect(reader.length).toBe(8)
    expect(() => reader.take(8)).toThrow(Shortage as never)
    reader.moveTo(new Uint8Array(8), 12)
    expect(reader.take(8).byteLength).toBe(8)
    expect(reader.remaining).toBe(0)
    expect(failureOf(() => reader.next())).toMatchObject({ code: 'msgpack/truncated', offset: 20 })
  })

  it('takes text, the guess itself where that is what stands there, and nothing where it is not UTF-8', () => {
    const reader = new MsgpackReader(hex('6162 c3a9 ff'), report)
    expect(reader.takeText(2, 'ab')).toBe('ab')
    // One character, but two bytes; and a byte that is a character only in another encoding.
    expect(reader.takeText(2, 'é')).toBe('é')
    expect(reader.takeText(1, 'ÿ')).toBeUndefined()
    expect(reader.remaining).toBe(1)
    expect(failureOf(() => reader.takeText(2))).toMatchObject({ code: 'msgpack/truncated', offset: 4 })
  })

  it('knows the exact form of what it read', () => {
    const reader = new MsgpackReader(hex('ce00000001 01 cd0001 d0ff'), report)
    const forms = [0, 1, 2, 3].map(() => [reader.next(), reader.form, reader.value])
    expect(forms).toEqual([
      ['int', 0xce, 1],
      ['int', 0x01, 1],
      ['int', 0xcd, 1],
      ['int', 0xd0, -1],
    ])
  })
})

describe('a writer', () => {
  it('writes texts like any other encoder, whatever their length and letters', () => {
    const unit = fc.oneof(
      { weight: 20, arbitrary: fc.string({ minLength: 1, maxLength: 1 }) },
      fc.constantFrom('ä', '🦙'),
    )
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 300 }), fc.nat(300), (tail, padding) => {
        const value = 'x'.repeat(padding) + tail
        const writer = new MsgpackWriter()
        writer.str(value)
        writer.nil()
        expect(writer.finish()).toEqual(new Uint8Array([...new Encoder().encode(value), 0xc0]))
      }),
    )
  })

  it('writes bytes as hexadecimal digits', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const writer = new MsgpackWriter()
        writer.hex(bytes)
        expect(writer.finish()).toEqual(new Encoder().encode(Buffer.from(bytes).toString('hex')))
      }),
    )
  })

  it('writes the form that the caller names', () => {
    const writer = new MsgpackWriter()
    writer.u32(1)
    writer.f32Bits(0x7fa00001)
    writer.arrayHeader(2)
    writer.mapHeader(65_536)
    writer.binHeader(70_000)
    writer.raw(hex('0102'))
    expect(Buffer.from(writer.finish()).toString('hex')).toBe('ce00000001ca7fa0000192df00010000c6000111700102')
  })

  it('refuses what MessagePack has no place for', () => {
    expect(() => new MsgpackWriter().int(1n << 64n)).toThrow(RangeError)
    expect(() => new MsgpackWriter().int(-(1n << 63n) - 1n)).toThrow(RangeError)
    expect(() => new MsgpackWriter().binHeader(2 ** 32)).toThrow(RangeError)
  })
})

/** Numbers of the other library are bigints when stored in 64 bits. */
function normal(value: unknown): unknown {
  if (typeof value === 'bigint') return shrunk(value)
  if (Array.isArray(value)) return value.map(normal)
  return value
}
