import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { collectingReport, type Finding, TareError } from '../../../src/errors/index.js'
import {
  type Pickle,
  PickleDict,
  PickleGlobal,
  PickleList,
  type PickleObject,
  PickleReference,
  type PickleValue,
  readPickle,
} from '../../../src/wire/pickle/pickle.js'
import { golden } from './golden.js'

function read(bytes: Uint8Array): { pickle: Pickle | undefined; findings: Finding[] } {
  const findings: Finding[] = []
  try {
    return { pickle: readPickle(bytes, collectingReport('x.pkl', findings), { path: 'pickle', base: 1000 }), findings }
  } catch (error) {
    expect(error).toBeInstanceOf(TareError)
    return { pickle: undefined, findings }
  }
}

const value = (bytes: Uint8Array): PickleValue => {
  const { pickle, findings } = read(bytes)
  expect(findings).toEqual([])
  return pickle!.value
}

/** Opcodes as text (Latin-1) and numbers. */
const ops = (...parts: (string | number)[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...part].map((c) => c.charCodeAt(0)))))

/** Plain JavaScript values, to compare with. */
function plain(of: PickleValue): unknown {
  if (of instanceof PickleList) return { [of.kind]: of.items.map(plain) }
  if (of instanceof PickleDict) return { dict: [...of.entries()].map(([k, v]) => [plain(k), plain(v)]) }
  return of instanceof Uint8Array ? [...of] : of
}

describe('what Python writes', () => {
  const scalars = [1.5, null, true, false, 'größe', [0, 255], -7n, 2n ** 70n, -(2n ** 70n), 300n, 70000n]
  const tuples = [[1n], [1n, 2n], [1n, 2n, 3n], [1n, 2n, 3n, 4n]].map((tuple) => ({ tuple }))
  const expected = {
    dict: [
      ['a', 1n],
      ['b', { list: scalars }],
      ...['c', 'd', 'e', 'f'].map((key, i) => [key, tuples[i]]),
      ['g', { dict: [] }],
      ['h', { list: [] }],
      ['i', { tuple: [] }],
      [3n, 'three'],
      ['long', 'x'.repeat(300)],
    ],
  }

  it.each([3, 4, 5])('protocol %i', (protocol) => {
    expect(plain(value(Buffer.from(golden[protocol]!, 'hex')))).toEqual(expected)
  })

  it.each([0, 1, 2])('protocol %i, where bytes are a call', (protocol) => {
    const root = value(Buffer.from(golden[protocol]!, 'hex')) as PickleDict
    const { items } = root.get('b') as PickleList
    const bytes = items[5] as PickleObject
    expect(bytes.className).toBe('_codecs.encode')
    items[5] = Uint8Array.of(0, 255)
    expect(plain(root)).toEqual(expected)
  })

  it('sets and byte arrays', () => {
    expect(plain(value(Buffer.from(golden.set!, 'hex')))).toEqual({ list: [{ set: [1n] }, { set: [2n] }, [97, 98]] })
  })

  it('one object in two places stays one', () => {
    const root = value(Buffer.from(golden.shared!, 'hex')) as PickleDict
    expect(root.get('x')).toBe(root.get('y'))
  })

  it('a list that contains itself', () => {
    const root = value(Buffer.from(golden.cycle!, 'hex')) as PickleList
    expect(root.items[0]).toBe(root)
  })

  it.each(['od', 'od4'])('a call is a record of the call (%s)', (name) => {
    const { pickle } = read(Buffer.from(golden[name]!, 'hex'))
    const object = pickle!.value as PickleObject
    expect(object.className).toBe('collections.OrderedDict')
    expect(object.entries.get('k')).toBe(1n)
    expect(pickle!.globals.map((global) => global.fullName)).toEqual(['collections.OrderedDict'])
  })

  it('half a surrogate pair', () => expect(value(Buffer.from(golden.surrogate!, 'hex'))).toBe('a\ud800b'))

  it('floats as text', () => {
    expect((value(Buffer.from(golden.float0!, 'hex')) as PickleList).items).toEqual([Number.NaN, Infinity, -0, 1e300])
  })
})

describe('opcodes', () => {
  it('calls of every kind become records', () => {
    const calls = [
      'cm\nf\n)R.',
      '\x80\x02cm\nf\n)\x81.',
      '(im\nf\n.',
      '(cm\nf\no.',
      '\x80\x04\x8c\x01m\x8c\x01f\x93)R.',
    ]
    for (const call of calls) {
      const object = value(ops(call)) as PickleObject
      expect([object.className, plain(object.args)]).toEqual(['m.f', { tuple: [] }])
    }
    const keywords = value(ops('\x80\x04cm\nf\n)}\x92.')) as PickleObject
    expect(plain(keywords.args)).toEqual({ tuple: [{ tuple: [] }, { dict: [] }] })
  })

  it('a state is kept beside its object', () => {
    const object = value(ops('cm\nC\n)R}U\x01kK\x05sb.')) as PickleObject
    expect(plain(object.state!)).toEqual({ dict: [['k', 5n]] })
  })

  it('persistent ids, old and new', () => {
    const { pickle } = read(ops('(Pabc\nK\x01Ql.'))
    expect(pickle!.references.map(({ id }) => id)).toEqual(['abc', 1n])
    expect((pickle!.value as PickleList).items.every((item) => item instanceof PickleReference)).toBe(true)
  })

  it('strings of Python 2', () => {
    expect(value(ops("S'a\\x41\\n\\101\\q'\n."))).toBe('aA\nA\\q')
    expect(value(ops('T', 3, 0, 0, 0, 'abc.'))).toBe('abc')
    expect(value(ops('U', 1, 0xe9, '.'))).toBe('é')
    expect(value(ops('Vx\\u00e9\\U0001f600\\z\n.'))).toBe('xé😀\\z')
  })

  it('numbers as lines, marks, the memo by number', () => {
    expect(value(ops('I01\n.'))).toBe(true)
    expect(value(ops('I-12\n.'))).toBe(-12n)
    expect(value(ops('L12345678901234567890L\n.'))).toBe(12345678901234567890n)
    expect(plain(value(ops('(K\x01K\x02d.')))).toEqual({ dict: [[1n, 2n]] })
    expect(plain(value(ops('K\x07p5\n0(g5\n2t.')))).toEqual({ tuple: [7n, 7n] })
    expect(plain(value(ops('K\x07((K\x0110.')))).toEqual(7n)
    expect(plain(value(ops('K\x07r', 1, 0, 0, 0, '0j', 1, 0, 0, 0, '.')))).toEqual(7n)
  })

  it('keys that Python takes for equal are one', () => {
    const dict = value(ops('}(K\x01NI01\nK\x02F1.0\nK\x03u.')) as PickleDict
    expect(plain(dict)).toEqual({ dict: [[1n, 3n]] })
  })
})

describe('hostile sizes', () => {
  const codeOf = (opcode: string, count: number): string[] => {
    const bytes = new Uint8Array(count + 2).fill(opcode.charCodeAt(0))
    bytes[0] = 0x4e
    bytes[count + 1] = 0x2e
    return read(bytes).findings.map(({ code }) => code)
  }

  it.each([']', '}', ')'])('%s a million times over is refused, a few hundred thousand are not', (opcode) => {
    expect(codeOf(opcode, 1_300_000)).toEqual(['pickle/objects'])
    expect(codeOf(opcode, 300_000)).toEqual([])
  })

  it('marks without end are refused, values used again are not counted', () => {
    expect(codeOf('(', 1_100_000)).toEqual(['pickle/stack'])
    expect(codeOf('2', 1_500_000)).toEqual([])
  })
})

describe('checks', () => {
  it.each([
    ['truncated', 'K'],
    ['truncated', ''],
    ['truncated', 'I12'],
    ['truncated', ')'],
    ['opcode', '\xff'],
    ['stack', '.'],
    ['stack', 'R.'],
    ['stack', 't.'],
    ['stack', '(a.'],
    ['stack', 'NK\x01a.'],
    ['stack', ')K\x01a.'],
    ['stack', 'NNNs.'],
    ['stack', '}(Nu.'],
    ['stack', '}Nb.'],
    ['stack', 'NN\x93.'],
    ['stack', '(o.'],
    ['stack', '0.'],
    ['memo', 'h\x01.'],
    ['memo', 'g9\n.'],
    ['memo', 'Np-1\n.'],
    ['length', 'X\xff\xff\xff\x7fa.'],
    ['length', '\x8d\x00\x00\x00\x00\x00\x00\x00\x10a.'],
    ['length', '\x8d\xff\xff\xff\xff\xff\xff\xff\xffa.'],
    ['length', '\x95\xff\x00\x00\x00\x00\x00\x00\x00N.'],
    ['length', `\x8b\x01\x00\x01\x00${'a'.repeat(70_000)}.`],
    ['length', `I${'1'.repeat(5000)}\n.`],
    ['text', 'Iabc\n.'],
    ['text', 'Fabc\n.'],
    ['text', 'F\n.'],
    ['text', 'Sabc\n.'],
    ['text', 'X\x01\x00\x00\x00\xff.'],
    ['extension', '\x82\x01.'],
    ['buffer', '\x97.'],
  ])('%s: %j', (code, pickle) => {
    const { findings } = read(ops(pickle))
    expect(findings.map((finding) => finding.code)).toEqual([`pickle/${code}`])
    expect(findings[0]!.offset).toBeGreaterThanOrEqual(1000)
  })

  it('a protocol of the future is worth a word', () => {
    const { pickle, findings } = read(ops('\x80\x09N.'))
    expect([pickle!.value, findings.map(({ code }) => code)]).toEqual([null, ['pickle/protocol']])
  })

  it('places everything at the beginning when the bytes were inflated', () => {
    const findings: Finding[] = []
    const report = collectingReport('x.pkl', findings)
    const { globals } = readPickle(ops('NNca\nb\n.'), report, { path: 'pickle', base: 50, isInflated: true })
    expect(globals[0]!.offset).toBe(50)
    expect(() => readPickle(ops('NN\xff'), report, { path: 'pickle', base: 50, isInflated: true })).toThrow()
    expect(findings[0]!.offset).toBe(50)
  })

  it('says where the pickle ends', () => expect(read(ops('N.more')).pickle!.byteLength).toBe(2))

  it('whatever the bytes, there is an answer of the right kind', () => {
    const opcode = fc.constantFrom(
      ...'()012BCFGIJKLMNPQRSTUVX]abcdeghijloqrstu}\x80\x81\x85\x86\x87\x88\x89\x8a\x8c\x8f\x90\x91\x92\x93\x94.',
    )
    const program = fc.array(fc.oneof(opcode, fc.string({ maxLength: 3, unit: 'binary-ascii' })), { maxLength: 60 })
    fc.assert(
      fc.property(program, (parts) => void read(ops(...parts))),
      { numRuns: 2000 },
    )
  })

  it('a million steps take a moment', () => {
    const deep = new Uint8Array(1_000_001).fill(0x5d) // lists
    deep[1_000_000] = 0x2e
    expect(value(deep)).toBeInstanceOf(PickleList)
    const named = value(ops(...Array.from({ length: 100_000 }, () => 'ca\nb\n'), '.'))
    expect(named).toBeInstanceOf(PickleGlobal)
    const keys = Array.from(
      { length: 50_000 },
      (_, i) => `\x8a\x0b\0\0\0\0\0\0\0\0${String.fromCharCode(i % 256, Math.floor(i / 256))}\x01N`,
    )
    expect((value(ops('}(', ...keys, 'u.')) as PickleDict).size).toBe(50_000)
  })
})
