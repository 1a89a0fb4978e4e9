import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeUtf8 } from '../../../src/bytes/index.js'
import { strictReport, TareError } from '../../../src/errors/index.js'
import { type JsonNode, JsonScanner, parseJson } from '../../../src/wire/index.js'

const parse = (text: string): JsonNode => parseJson(encodeUtf8(text), strictReport('t.json'))

function failure(text: string | Uint8Array): TareError {
  try {
    parseJson(typeof text === 'string' ? encodeUtf8(text) : text, strictReport('t.json'))
  } catch (error) {
    if (error instanceof TareError) return error
    throw error
  }
  throw new Error('it was accepted')
}

/** Maps back to what JSON.parse gives. */
function plain(node: JsonNode): unknown {
  if (node instanceof Map) return Object.fromEntries([...node].map(([key, value]) => [key, plain(value)]))
  if (Array.isArray(node)) return node.map(plain)
  return typeof node === 'bigint' ? Number(node) : node
}

describe('parseJson', () => {
  it('agrees with JSON.parse on every valid text', () => {
    const value = fc.jsonValue({ maxDepth: 4, stringUnit: 'grapheme' })
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, '\t'), (given, indent) => {
        const text = JSON.stringify(given, null, indent)
        const expected = JSON.parse(text) as unknown
        if (text.includes('"__proto__"')) return
        expect(plain(parse(text))).toEqual(expected)
      }),
    )
  })

  it('refuses what JSON.parse refuses', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'{}[]",:0123456789-+.eE tfn\\u"ab'.split('')), maxLength: 12 }),
        (text) => {
          let isJson = true
          try {
            JSON.parse(text)
          } catch {
            isJson = false
          }
          if (isJson) return // duplicate keys and the like are refused on top
          expect(failure(text).code).toMatch(/^json\//)
        },
      ),
      { numRuns: 3000 },
    )
  })

  it.each([
    ['{"a":1,"a":2}', 'json/duplicate-key', 6],
    ['{"é":1,"é":2}', 'json/duplicate-key', 7],
    ['["\\ud800"]', 'json/lone-surrogate', 2],
    ['[1,]', 'json/syntax', 3],
    ['{"a" 1}', 'json/syntax', 5],
    ['["a\nb"]', 'json/syntax', 3],
    ['[01]', 'json/syntax', 2],
    ['"\\x"', 'json/syntax', 1],
    ['"\\', 'json/syntax', 1],
    ['"\\u00', 'json/syntax', 1],
    ['', 'json/syntax', 0],
    [`${'['.repeat(100)}`, 'json/depth', 64],
  ])('%j fails with %s at byte %i', (text, code, offset) => {
    const { finding } = failure(text)
    expect(finding.code).toBe(code)
    expect(finding.offset).toBe(offset)
  })

  it('finds the byte that is not UTF-8', () => {
    expect(failure(new Uint8Array([0x22, 0x61, 0xc3, 0xa9, 0xff, 0x22])).finding).toMatchObject({
      code: 'json/utf8',
      offset: 4,
    })
  })

  it('reads the shortest texts wherever they lie in a buffer', () => {
    for (let place = 0; place < 8; place++) {
      const at = (text: string): Uint8Array => encodeUtf8(' '.repeat(place) + text).subarray(place)
      for (const text of ['1', '[]', '123', '[12]', '[123]', '"é"'])
        expect(plain(parseJson(at(text), strictReport('t.json'))), text).toEqual(JSON.parse(text))
      expect(failure(at('')).code).toBe('json/syntax')
    }
  })

  it('keeps large integers and odd keys', () => {
    const root = parse('{"__proto__": 9007199254740993, "toString": -0}') as Map<string, JsonNode>
    expect(root.get('__proto__')).toBe(9007199254740993n)
    expect([...root.keys()]).toEqual(['__proto__', 'toString'])
  })
})

describe('JsonScanner', () => {
  it('knows byte offsets behind characters of any width', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (key) => {
        const text = `{${JSON.stringify(key)}:1}`
        const scanner = new JsonScanner(encodeUtf8(text), strictReport('t'))
        scanner.beginObject('')
        scanner.nextKey('')
        expect(scanner.offsetAt()).toBe(encodeUtf8(text).byteLength - 2)
        expect(scanner.unsigned()).toBe(1)
      }),
    )
  })

  it('takes only plain unsigned integers as sizes', () => {
    const size = (text: string): number | undefined => new JsonScanner(encodeUtf8(text), strictReport('t')).unsigned()
    expect(size('0')).toBe(0)
    expect(size('42]')).toBe(42)
    for (const text of ['-1', '4.0', '4e0', '04', '"4"', '']) expect(size(text), text).toBeUndefined()
  })

  it('skips nested values of any kind', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const scanner = new JsonScanner(encodeUtf8(`[${JSON.stringify(value)}, 7]`), strictReport('t'))
        scanner.beginArray('')
        scanner.nextItem('')
        scanner.skip('')
        scanner.nextItem('')
        expect(scanner.unsigned()).toBe(7)
      }),
    )
  })
})
