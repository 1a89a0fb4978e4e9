import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseSetting, settableTypes, settingOf } from '../../../src/convert/stages/typed-value.js'

const refuse = (message: string): never => {
  throw new Error(message)
}
const parse = (type: string, value: string) => parseSetting(value, type, undefined, refuse)

describe('a key and a type', () => {
  test.each<[string, [string, string, string?]]>([
    ['key', ['key', 'v']],
    ['key:u32', ['key', 'v', 'u32']],
    ['key:[u32]', ['key', 'v', '[u32]']],
    ['a:b', ['a:b', 'v']],
    ['a:b:bool', ['a:b', 'v', 'bool']],
    ['a:u32:', ['a:u32:', 'v']],
    [':u32', [':u32', 'v']],
    ['key:u128:str', ['key:u128', 'v', 'str']],
    ['key:[[u32]]', ['key:[[u32]]', 'v']],
    ['u32', ['u32', 'v']],
  ])('%s', (text, expected) => {
    expect(settingOf(text, 'v')).toEqual(expected)
  })

  test.each(['key:u128', 'key:[f33]'])('%s is refused: it looks like a type, and there is none', (text) => {
    expect(() => settingOf(text, 'v')).toThrow(/there is no type/)
  })
})

describe('values of a type', () => {
  test.each<[string, string, unknown]>([
    ['u8', '255', { type: 'u8', value: 255 }],
    ['i8', '-128', { type: 'i8', value: -128 }],
    ['u64', '18446744073709551615', { type: 'u64', value: 18446744073709551615n }],
    ['i64', '-9223372036854775808', { type: 'i64', value: -9223372036854775808n }],
    ['f32', '0.1', { type: 'f32', value: Math.fround(0.1) }],
    ['f64', '0.1', { type: 'f64', value: 0.1 }],
    ['bool', 'true', { type: 'bool', value: true }],
    ['str', '4', { type: 'str', value: '4' }],
  ])('%s %s', (type, text, value) => {
    expect(parse(type, text)).toEqual(value)
  })

  test.each<[string, string]>([
    ['u8', '256'],
    ['u8', '-1'],
    ['u32', '1.5'],
    ['u32', ''],
    ['f32', 'much'],
    ['f32', '1e39'],
    ['bool', 'yes'],
    ['[u8]', '1,256'],
    ['[u8]', '[1, "x"]'],
    ['u128', '1'],
  ])('%s does not take %j', (type, text) => {
    expect(() => parse(type, text)).toThrow()
  })

  test.each(['1,2,3', '[1, 2, 3]', ' 1, 2 ,3'])('a list: %s', (text) => {
    const list = parse('[u16]', text)
    expect(list).toMatchObject({ type: 'array', item: 'u16', length: 3 })
    expect(list.type === 'array' && list.values().map((each) => 'value' in each && each.value)).toEqual([1, 2, 3])
  })

  test('an empty list', () => {
    expect(parse('[str]', '')).toMatchObject({ item: 'str', length: 0 })
  })

  test('every whole number of a type comes back', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        expect(parse('u64', String(value))).toEqual({ type: 'u64', value })
      }),
    )
  })

  test('without a type a value is of the type that is there, and text where there is none', () => {
    expect(parseSetting('4', undefined, { type: 'u16', value: 3 }, refuse)).toEqual({ type: 'u16', value: 4 })
    expect(parseSetting('4', undefined, undefined, refuse)).toEqual({ type: 'str', value: '4' })
  })

  test('every settable type has a value', () => {
    for (const type of settableTypes) expect(parse(type, type === 'bool' ? 'true' : '1').type).toBe(type)
  })
})
