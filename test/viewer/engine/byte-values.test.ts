import { expect, it } from 'vitest'
import { readValues } from '../../../viewer/src/engine/rooms/bytes/byte-values.js'

const valuesOf = (bytes: ArrayBufferLike): Map<string, string> =>
  new Map(readValues(new Uint8Array(bytes)).map(({ type, text }) => [type, text]))

it('writes a number with the digits that its type tells apart', () => {
  expect(valuesOf(Float32Array.of(0.1).buffer).get('f32')).toBe('0.1')
  expect(valuesOf(Uint32Array.of(6).buffer).get('f32')).toBe('8e-45')
  expect(valuesOf(Float64Array.of(0.1 + 0.2).buffer).get('f64')).toBe('0.30000000000000004')
  expect(valuesOf(Float32Array.of(16_777_215).buffer).get('f32')).toBe('16777215')
  expect(valuesOf(Float32Array.of(-0).buffer).get('f32')).toBe('-0')
  expect(valuesOf(Float32Array.of(Number.NaN).buffer).get('f32')).toBe('NaN')
})

it('every written f32 reads back as the same', () => {
  for (let bits = 1; bits < 2 ** 31; bits += 48_271_003) {
    const own = Uint32Array.of(bits)
    const back = Float32Array.of(Number(valuesOf(own.buffer).get('f32')))
    expect(new Float32Array(own.buffer)[0]).toBe(back[0])
  }
})
