import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Codec, dtypeById, f8_e8m0, f16, f32, f64 } from '../../src/dtypes/index.js'
import { codeOf, codeValue, type FloatFormat, formats, largestFinite } from './oracle.js'

fc.configureGlobal({ seed: 5 })

const codecOf = (id: string): Required<Codec> => dtypeById(id)!.codec as Required<Codec>

/** One code per element, packed as the type wants it. The packing itself has its own tests. */
function packCodes(codes: readonly number[], bits: number): Uint8Array {
  const bytes = new Uint8Array(Math.ceil((codes.length * bits) / 8))
  for (const [i, code] of codes.entries()) {
    for (let b = 0; b < bits; b++) {
      const at = i * bits + b
      if (Math.floor(code / 2 ** b) % 2 === 1) bytes[Math.floor(at / 8)]! += 2 ** (at % 8)
    }
  }
  return bytes
}

function unpackCodes(bytes: Uint8Array, count: number, bits: number): number[] {
  return Array.from({ length: count }, (_, i) => {
    let code = 0
    for (let b = 0; b < bits; b++) {
      const at = i * bits + b
      if (Math.floor(bytes[Math.floor(at / 8)]! / 2 ** (at % 8)) % 2 === 1) code += 2 ** b
    }
    return code
  })
}

function encode(codec: Required<Codec>, values: readonly number[], bits: number): { codes: number[]; bad: number } {
  const target = new Uint8Array(Math.ceil((values.length * bits) / 8))
  const bad = codec.fromF64(Float64Array.from(values), target)
  return { codes: unpackCodes(target, values.length, bits), bad }
}

const allCodes = (format: FloatFormat): number[] => Array.from({ length: 2 ** format.bits }, (_, code) => code)

describe.each(formats)('$id', (format) => {
  const codec = codecOf(format.id)
  const codes = allCodes(format)
  const bytes = packCodes(codes, format.bits)
  const wanted = codes.map((code) => codeValue(code, format))

  it('decodes every code to the value of its definition', () => {
    const single = new Float32Array(codes.length)
    const double = new Float64Array(codes.length)
    codec.toF32(bytes, single)
    codec.toF64(bytes, double)
    expect([...single]).toEqual(wanted)
    expect([...double]).toEqual(wanted)
    for (const at of [0, 1, 5, codes.length - 1]) expect(codec.element(bytes, at)).toEqual(wanted[at])
  })

  it('gives every code back', () => {
    const numbers = codes.filter((code) => !Number.isNaN(codeValue(code, format)))
    const values = numbers.map((code) => codeValue(code, format))
    expect(encode(codec, values, format.bits)).toEqual({ codes: numbers, bad: -1 })
    const target = new Uint8Array(Math.ceil((values.length * format.bits) / 8))
    expect(codec.fromF32(Float32Array.from(values), target)).toBe(-1)
    expect(unpackCodes(target, values.length, format.bits)).toEqual(numbers)
  })

  it('rounds once, to nearest even, at and around every tie', () => {
    const last = largestFinite(format)
    const step = Math.max(1, Math.floor(last / 2000))
    const values: number[] = []
    for (let code = 0; code <= last; code += step) {
      const here = codeValue(code, format)
      const next = code === last ? 2 * here - codeValue(code - 1, format) : codeValue(code + 1, format)
      const tie = here / 2 + next / 2
      // A hair beside the tie: too little for f32, so that a detour over it would round twice.
      for (const value of [tie, tie * (1 + 2 ** -40), tie * (1 - 2 ** -40), tie * (1 + 2 ** -52)])
        values.push(value, -value)
    }
    expectRounded(codec, format, values)
  })

  it('agrees with the oracle on any number', () => {
    const scale = fc.integer({ min: -160, max: 130 })
    const value = fc.oneof(
      fc.double(),
      fc.tuple(fc.double({ min: -2, max: 2, noNaN: true }), scale).map(([a, b]) => a * 2 ** b),
    )
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 20 }), (values) => expectRounded(codec, format, values)),
    )
  })

  it('deals with NaN and what is too large as documented', () => {
    const [nan, huge, minusHuge] = [Number.NaN, 1e300, Number.NEGATIVE_INFINITY]
    if (format.overflow === 'saturate') {
      const last = largestFinite(format)
      expect(encode(codec, [1, nan], format.bits).bad).toBe(1)
      expect(encode(codec, [huge, minusHuge], format.bits).codes).toEqual([last, last + 2 ** (format.bits - 1)])
      return
    }
    const { codes: got, bad } = encode(codec, [nan, huge, minusHuge], format.bits)
    expect(bad).toBe(-1)
    const back = got.map((code) => codeValue(code, format))
    const { POSITIVE_INFINITY, NEGATIVE_INFINITY } = Number
    expect(back).toEqual(format.overflow === 'nan' ? [nan, nan, nan] : [nan, POSITIVE_INFINITY, NEGATIVE_INFINITY])
  })
})

function expectRounded(codec: Required<Codec>, format: FloatFormat, values: readonly number[]): void {
  const wanted = values.map((value) => codeOf(value, format))
  const refused = wanted.indexOf(undefined)
  const { codes, bad } = encode(codec, values, format.bits)
  expect(bad).toBe(refused)
  if (refused >= 0) return
  const got = codes.map((code, i) => (wanted[i] === 'nan' && Number.isNaN(codeValue(code, format)) ? 'nan' : code))
  expect(got).toEqual(wanted)
}

describe('NaN', () => {
  const patterns = (codec: Codec, bytes: Uint8Array, count: number): number[] => {
    const target = new Float32Array(count)
    codec.toF32(bytes, target)
    return [...new Uint32Array(target.buffer)]
  }
  const nans = Uint32Array.of(0x7f800001, 0xff800001, 0x7fc00000, 0xffc12345, 0x7fffffff)

  it('keeps its payload from f32, f16 and bf16 to f32', () => {
    expect(patterns(codecOf('f32'), new Uint8Array(nans.buffer), 5)).toEqual([...nans])
    const halves = Uint16Array.of(0x7c01, 0xfc01, 0x7e00, 0xffff)
    const widened = [0x7f802000, 0xff802000, 0x7fc00000, 0xffffe000]
    expect(patterns(codecOf('f16'), new Uint8Array(halves.buffer), 4)).toEqual(widened)
    const brains = Uint16Array.of(0x7f81, 0xff81, 0x7fc0, 0xffff)
    const upper = [0x7f810000, 0xff810000, 0x7fc00000, 0xffff0000]
    expect(patterns(codecOf('bf16'), new Uint8Array(brains.buffer), 4)).toEqual(upper)
  })

  it('comes out of the eight-bit floats quiet, with sign and payload', () => {
    expect(patterns(codecOf('f8_e4m3'), Uint8Array.of(0x7f, 0xff), 2)).toEqual([0x7ff00000, 0xfff00000])
    expect(patterns(codecOf('f8_e5m2'), Uint8Array.of(0x7d, 0x7e, 0xff), 3)).toEqual([
      0x7fe00000, 0x7fc00000, 0xffe00000,
    ])
    expect(patterns(codecOf('f8_e4m3fnuz'), Uint8Array.of(0x80), 1)).toEqual([0x7fc00000])
    expect(patterns(codecOf('f8_e8m0'), Uint8Array.of(0xff), 1)).toEqual([0x7fc00000])
  })

  it('keeps its sign and leading payload from f32 downwards, and never becomes infinity', () => {
    const source = new Float32Array(nans.buffer)
    const target = new Uint8Array(10)
    codecOf('f16').fromF32(source, target)
    expect([...new Uint16Array(target.buffer)]).toEqual([0x7e00, 0xfe00, 0x7e00, 0xfe09, 0x7fff])
    codecOf('bf16').fromF32(source, target)
    expect([...new Uint16Array(target.buffer)]).toEqual([0x7fc0, 0xffc0, 0x7fc0, 0xffc1, 0x7fff])
    codecOf('f8_e5m2').fromF32(source, target)
    expect([...target.subarray(0, 5)]).toEqual([0x7e, 0xfe, 0x7e, 0xfe, 0x7f])
    codecOf('f8_e4m3').fromF32(source, target)
    expect([...target.subarray(0, 5)]).toEqual([0x7f, 0xff, 0x7f, 0xff, 0x7f])
    codecOf('f8_e4m3fnuz').fromF32(source, target)
    expect([...target.subarray(0, 5)]).toEqual([0x80, 0x80, 0x80, 0x80, 0x80])
  })

  it('round-trips every f16 and bf16 code through f32', () => {
    for (const id of ['f16', 'bf16']) {
      const codes = Uint16Array.from({ length: 65536 }, (_, code) => code)
      const single = new Float32Array(65536)
      const back = new Uint8Array(131072)
      codecOf(id).toF32(new Uint8Array(codes.buffer), single)
      codecOf(id).fromF32(single, back)
      const got = new Uint16Array(back.buffer)
      expect(codes.findIndex((code, i) => code !== got[i])).toBe(-1)
    }
  })

  it('is one and the same NaN when it comes from f64', () => {
    const bits = BigUint64Array.of(0xfff8000000000000n, 0x7ff0000000000001n)
    const target = new Uint8Array(4)
    codecOf('f16').fromF64(new Float64Array(bits.buffer), target)
    expect([...new Uint16Array(target.buffer)]).toEqual([0x7e00, 0x7e00])
  })
})

describe('f32 and f64', () => {
  it('round f64 once, as the language does', () => {
    fc.assert(
      fc.property(fc.array(fc.double()), (values) => {
        const bytes = new Uint8Array(values.length * 8 + 1).subarray(1)
        const target = new Uint8Array(values.length * 4 + 3).subarray(3)
        const single = new Float32Array(values.length)
        expect(f64.codec!.fromF64!(Float64Array.from(values), bytes)).toBe(-1)
        expect(values.map((_, i) => f64.codec!.element(bytes, i))).toEqual(values)
        f64.codec!.toF32(bytes, single)
        expect([...single]).toEqual(values.map(Math.fround))
        expect(f32.codec!.fromF64!(Float64Array.from(values), target)).toBe(-1)
        expect(values.map((_, i) => f32.codec!.element(target, i))).toEqual(values.map(Math.fround))
      }),
    )
  })

  it('copy their own bits, signalling NaN included', () => {
    const bits = BigUint64Array.of(0x7ff0000000000001n, 0xfff8000000001234n)
    const double = new Float64Array(2)
    f64.codec!.toF64(new Uint8Array(bits.buffer), double)
    expect(new BigUint64Array(double.buffer)).toEqual(bits)
  })
})

describe('f8_e8m0', () => {
  const codec = f8_e8m0.codec as Required<Codec>
  const encodeOne = (value: number): number | undefined => {
    const target = new Uint8Array(1)
    return codec.fromF64(Float64Array.of(value), target) === -1 ? target[0] : undefined
  }

  it('is a power of two, with NaN on top', () => {
    const values = new Float64Array(256)
    codec.toF64(
      Uint8Array.from({ length: 256 }, (_, code) => code),
      values,
    )
    expect([...values]).toEqual(
      Array.from({ length: 256 }, (_, code) => (code === 255 ? Number.NaN : 2 ** (code - 127))),
    )
    for (let code = 0; code < 256; code++) expect(encodeOne(values[code]!)).toBe(code)
  })

  it('takes the nearest power, the even code from the middle', () => {
    for (let code = 0; code < 254; code++) {
      const middle = 1.5 * 2 ** (code - 127)
      expect(encodeOne(middle)).toBe(code % 2 === 0 ? code : code + 1)
      expect(encodeOne(middle * (1 + 2 ** -50))).toBe(code + 1)
      expect(encodeOne(middle * (1 - 2 ** -50))).toBe(code)
    }
  })

  it('has neither zero nor sign nor infinity', () => {
    expect([0, -0, 1e-300].map(encodeOne)).toEqual([0, 0, 0])
    expect([-1, -1e-300, Number.NEGATIVE_INFINITY].map(encodeOne)).toEqual([undefined, undefined, undefined])
    expect([2 ** 128, 1.6 * 2 ** 127, Number.POSITIVE_INFINITY, Number.NaN].map(encodeOne)).toEqual([
      255, 255, 255, 255,
    ])
  })
})

describe('long runs', () => {
  it('say where the first unfit value is', () => {
    const values = new Float64Array(10_000).fill(1)
    values[9001] = Number.NaN
    expect(codecOf('f4_e2m1').fromF64(values, new Uint8Array(5000))).toBe(9001)
    expect(codecOf('f4_e2m1').fromF32(Float32Array.from(values), new Uint8Array(5000))).toBe(9001)
  })

  it('refuse a source that is too short', () => {
    expect(() => f16.codec!.toF32(new Uint8Array(3), new Float32Array(2))).toThrow(RangeError)
    expect(() => codecOf('f6_e2m3').toF32(new Uint8Array(2), new Float32Array(3))).toThrow(RangeError)
    expect(() => codecOf('f8_e4m3').element(new Uint8Array(2), 2)).toThrow(RangeError)
  })
})
