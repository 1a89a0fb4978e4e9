import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MemorySource } from '../../../src/bytes/index.js'
import { collectingReport, type Finding, strictReport, TareError } from '../../../src/errors/index.js'
import { npyDescription, npyHeader } from '../../../src/wire/npy/header.js'
import { type NpyHeader, parseNpyHeader, readNpyHeader } from '../../../src/wire/npy/parse.js'
import { PythonSyntaxError, parsePythonLiteral } from '../../../src/wire/npy/python-literal.js'

/** A file with this dictionary. */
function file(text: string, major = 1, minor = 0): Uint8Array {
  const encoded = new TextEncoder().encode(text)
  const latin1 = Uint8Array.from(text, (each) => each.charCodeAt(0))
  const bytes = major === 3 ? encoded : latin1
  const length =
    major === 1
      ? [bytes.length % 256, Math.floor(bytes.length / 256)]
      : [...new Uint8Array(Uint32Array.of(bytes.length).buffer)]
  return Uint8Array.of(0x93, ...new TextEncoder().encode('NUMPY'), major, minor, ...length, ...bytes)
}

function parse(head: Uint8Array): { header: NpyHeader | undefined; findings: Finding[] } {
  const findings: Finding[] = []
  try {
    return { header: parseNpyHeader(head, collectingReport('x.npy', findings)), findings }
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    return { header: undefined, findings }
  }
}

const dict = (descr: string, order = 'False', shape = '(3,)'): string =>
  `{'descr': ${descr}, 'fortran_order': ${order}, 'shape': ${shape}, }\n`

describe('what the writer writes', () => {
  const types = ['f64', 'f32', 'f16', 'i64', 'i32', 'i16', 'i8', 'u64', 'u32', 'u16', 'u8', 'bool', 'c64', 'c128']
  test('comes back', () => {
    // Seven, not eight: 100 to the eighth power in elements of 16 bytes is more than a file can hold, and refused.
    const shapes = fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 7 })
    fc.assert(
      fc.property(fc.constantFrom(...types), shapes, fc.boolean(), (dtype, shape, fortranOrder) => {
        const bytes = npyHeader(dtype, shape, fortranOrder)
        const { header, findings } = parse(bytes)
        expect(findings).toEqual([])
        expect(header).toMatchObject({ dtype, shape, fortranOrder, bigEndian: false, dataOffset: bytes.byteLength })
        expect(header!.descr).toBe(npyDescription(dtype))
      }),
    )
  })

  test('through a source', async () => {
    const source = new MemorySource(npyHeader('f32', [2, 3]), 'x.npy')
    expect(await readNpyHeader(source, strictReport('x.npy'))).toMatchObject({ shape: [2, 3], itemSize: 4 })
  })
})

test.each<[string, string, Partial<NpyHeader>]>([
  ['double quotes', '{"descr": "<f4", "fortran_order": False, "shape": (3,)}\n', { shape: [3] }],
  ['a name', dict("'float32'"), { dtype: 'f32', itemSize: 4 }],
  ['a letter with an order', dict("'>H'"), { dtype: 'u16', itemSize: 2, bigEndian: true }],
  ['another order', "{'shape': (), 'descr': '<f4', 'fortran_order': True}\n", { shape: [], fortranOrder: true }],
  ['u prefixes', "{u'descr': u'<f4', u'fortran_order': False, u'shape': (3,)}\n", { dtype: 'f32' }],
  ['escapes', "{'\\x64escr': '\\u003c\\146\\64', 'fortran_order': False, 'shape': (3,)}\n", { dtype: 'f32' }],
  [
    'line breaks and no commas at the end',
    "{\n 'descr': '<f4',\n\t'fortran_order': False,\r\n 'shape': (3, 2)\n}\n",
    { shape: [3, 2] },
  ],
  ['longs of Python 2', dict("'<f4'", 'False', '(3L, 0x10L)'), { shape: [3, 16] }],
  ['no byte order', dict("'f4'"), { dtype: 'f32', bigEndian: false }],
  ['big endian', dict("'>c8'"), { dtype: 'c64', bigEndian: true, itemSize: 8 }],
  ['booleans by their sign', dict("'?'"), { dtype: 'bool', itemSize: 1 }],
  ['texts', dict("'<U5'"), { dtype: undefined, itemSize: 20 }],
  ['dates', dict("'<M8[ns]'"), { dtype: undefined, itemSize: 8 }],
  ['raw bytes', dict("'|V2'"), { dtype: undefined, itemSize: 2 }],
  [
    'a zero among huge dimensions',
    dict("'<f4'", 'False', '(4294967296, 4294967296, 0)'),
    { shape: [4294967296, 4294967296, 0] },
  ],
])('reads %s', (_, text, wanted) => {
  const { header, findings } = parse(file(text))
  expect(findings).toEqual([])
  expect(header).toMatchObject(wanted)
})

test.each<[string, Uint8Array, string, number]>([
  ['an empty file', new Uint8Array(0), 'truncated', 0],
  ['half a magic', Uint8Array.of(0x93, 0x4e), 'truncated', 2],
  ['another magic', Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x5a, 1, 0, 0, 0), 'magic', 0],
  ['version 4', file(dict("'<f4'"), 4), 'version', 6],
  ['version 1.1', file(dict("'<f4'"), 1, 1), 'version', 6],
  ['a length beyond the file', file(dict("'<f4'")).slice(0, 40), 'truncated', 40],
  ['a length bomb', Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 2, 0, 255, 255, 255, 255), 'header-length', 8],
  ['no header', file(''), 'header-syntax', 10],
  ['code', file(dict("__import__('os').system('x')")), 'header-syntax', 20],
  ['JSON', file('{"descr": "<f4", "fortran_order": false, "shape": [3]}'), 'header-syntax', 44],
  ['an open string', file("{'descr: 3}"), 'header-syntax', 21],
  ['a stray escape', file("{'\\q': 3}"), 'header-syntax', 13],
  ['two commas', file("{'a': 1,, 'b': 2}"), 'header-syntax', 18],
  ['something after it', file(`${dict("'<f4'")}x`), 'header-syntax', 68],
  ['deep nesting', file('('.repeat(1000)), 'header-syntax', 27],
  ['an operator', file(dict("'<f4'", 'False', '(1+2,)')), 'header-syntax', 62],
  ['an octal number', file(dict("'<f4'", 'False', '(010,)')), 'header-syntax', 61],
  ['longs in version 3', file(dict("'<f4'", 'False', '(3L,)'), 3), 'header-syntax', 64],
  ['a list', file("['<f4', False, (3,)]"), 'header-syntax', 10],
  ['a key twice', file("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}"), 'header-keys', 27],
  ['a key too many', file("{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}"), 'header-keys', 64],
  ['a key that is not text', file("{1: 2, 'descr': '<f4', 'fortran_order': False, 'shape': ()}"), 'header-keys', 11],
  ['a key missing', file("{'descr': '<f4', 'fortran_order': False}"), 'header-keys', 10],
  ['an order that is a number', file(dict("'<f4'", '1')), 'header-types', 44],
  ['a shape that is a number', file(dict("'<f4'", 'False', '(3)')), 'header-types', 61],
  ['a shape of floats', file(dict("'<f4'", 'False', '(3.0,)')), 'header-types', 61],
  ['a shape with None', file(dict("'<f4'", 'False', '(None,)')), 'header-types', 61],
  ['a negative dimension', file(dict("'<f4'", 'False', '(-3,)')), 'shape', 61],
  ['65 dimensions', file(dict("'<f4'", 'False', `(${'1,'.repeat(65)})`)), 'shape', 60],
  ['a product that overflows', file(dict("'<f4'", 'False', '(4294967296, 4294967296)')), 'shape-overflow', 60],
  ['a dimension beyond 2^53', file(dict("'<f4'", 'False', '(9007199254740992,)')), 'shape-overflow', 61],
  ['elements beyond 2^53', file(dict("'<f8'", 'False', '(9007199254740991,)')), 'shape-overflow', 60],
  ['an unknown type', file(dict("'<f3'")), 'dtype', 20],
  ['a type that is inherited', file(dict("'constructor'")), 'dtype', 20],
  ['a type that is a number', file(dict('4')), 'dtype', 20],
  ['objects', file(dict("'|O'")), 'object-array', 20],
  ['objects of old', file(dict("'|O8'")), 'object-array', 20],
  ['a name with an order', file(dict("'>float32'")), 'dtype', 20],
  ['records without fields', file(dict('[]')), 'structured', 20],
  ['no UTF-8', file("{'\u00ff'}", 2).map((byte, i) => (i === 6 ? 3 : byte)), 'header-syntax', 14],
])('refuses %s', (_, bytes, code, offset) => {
  const { header, findings } = parse(bytes)
  expect(header).toBeUndefined()
  expect(findings.map((finding) => [finding.code, finding.offset])).toEqual([[`npy/${code}`, offset]])
})

test('tells the fields of records', () => {
  const { header, findings } = parse(file(dict("[('x', '<f4'), ('', '|V2'), ('y', '>i2', 3)]")))
  expect(findings).toEqual([])
  expect(header).toMatchObject({ itemSize: 12, dtype: undefined, descr: 'records of x <f4, y >i2' })
  expect(header!.fields).toMatchObject([
    { name: 'x', dtype: 'f32', offset: 0, shape: [], strides: [] },
    { name: 'y', dtype: 'i16', offset: 6, shape: [3], strides: [2], bigEndian: true },
  ])
})

test('counts bytes, not characters, in version 3', () => {
  const { findings } = parse(file("{'descr': '<f4', 'fortran_order': False, 'shäpe': ()}", 3))
  expect(findings).toMatchObject([{ code: 'npy/header-keys', offset: 12 + 41 }])
  const [late] = parse(file("{'ä': 1", 3)).findings
  expect(late).toMatchObject({ code: 'npy/header-syntax', offset: 12 + 8 })
})

test('remarks on long headers and missing line feeds', () => {
  const long = parse(file(`${dict("'<f4'").trimEnd().padEnd(10_001)}\n`))
  expect(long.findings.map(({ code, severity }) => [code, severity])).toEqual([['npy/header-long', 'warning']])
  expect(parse(file(dict("'<f4'").trimEnd())).findings.map(({ code }) => code)).toEqual(['npy/header-newline'])
})

test('any bytes end in a header or a finding', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...`{}()[],:'"\\xu0L.-TrueFalsNo <f4descrshap\n`), maxLength: 60 }),
      (text) => {
        const { header, findings } = parse(file(text))
        expect(header !== undefined || findings.length > 0).toBe(true)
      },
    ),
  )
})

test('literals', () => {
  expect(parsePythonLiteral(' [1, -0b11, 0o17, +2,] ')).toMatchObject({
    kind: 'list',
    items: [{ value: 1n }, { value: -3n }, { value: 15n }, { value: 2n }],
  })
  expect(parsePythonLiteral('((1,), ())')).toMatchObject({ kind: 'tuple', items: [{ kind: 'tuple' }, { items: [] }] })
  expect(parsePythonLiteral('{1: 2.5, "a": .5, "b": 1e3}')).toMatchObject({ kind: 'dict' })
  for (const text of ['', '1 2', '[1', '(', '{1}', 'nan', '1_000', "b'x'", "'\\ud'", "'a\nb'"])
    expect(() => parsePythonLiteral(text), text).toThrow(PythonSyntaxError)
})
