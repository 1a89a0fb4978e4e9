// Every check has a file that makes it speak; the last test counts them.
import { encode } from '@msgpack/msgpack'
import { afterAll, describe, expect, it } from 'vitest'
import { digestOf, formatById, MemorySource, openModel, toHex, verifySource } from '../../../src/kit.js'
import { fixtureBytes, fixtureSource, loadCases } from '../../support/fixtures.js'
import { aeroBytes, codesOf, entry, index, indexOf, pages, verifyBytes, verifyChunks, weights } from './build.js'

const seen = new Set<string>()

async function expectCode(code: string, chunks: Parameters<typeof verifyChunks>): Promise<void> {
  const result = await verifyChunks(...chunks)
  const found = result.findings.find((finding) => finding.code === `aero/${code}`)
  expect(found, JSON.stringify(result.findings)).toBeDefined()
  for (const each of codesOf(result)) seen.add(each)
}

/** The fixture lists name checks with dots; defects of the reference writers have codes of their own. */
const defects: Readonly<Record<string, string>> = {
  'defects/mjsn-zero-hash.aero': 'defect-zero-hash',
  'defects/tensor-hash-overwrite.aero': 'defect-overwritten-weights',
  'defects/lowlevel-ihsh.aero': 'defect-blank-toc',
  'defects/empty-last-shard.aero': 'defect-empty-last-shard',
  'defects/phsh-empty-shard.aero': 'defect-empty-pages',
}

describe('fixtures', () => {
  it.each(loadCases('aero').filter((each) => each.file !== 'invalid/header-empty.aero'))('$file', async (each) => {
    const result = await verifySource(fixtureSource('aero', each.file))
    const codes = codesOf(result)
    for (const code of codes) seen.add(code)
    const wanted = defects[each.file] ?? each.check?.replaceAll(/[._]/g, '-')
    if (wanted) expect(codes).toContain(`aero/${wanted}`)
    for (const { code, message } of result.findings) {
      if (code.startsWith('aero/defect-')) expect(message).toMatch(/\(defect D\d\); .*repair\(\)/)
    }
  })

  it.each(['irregular/zstd-multi-frame.aero', 'irregular/ihsh-two-ranges.aero'])('%s is judged', async (file) => {
    const result = await verifySource(fixtureSource('aero', file))
    for (const code of codesOf(result)) seen.add(code)
    expect(result.verdict).not.toBe('ok')
  })
})

describe('a sound file', () => {
  it('has no findings', async () => {
    const result = await verifyChunks(index(entry('a'), entry('b', { data_off: 4 })), weights())
    expect(result).toMatchObject({ verdict: 'ok', findings: [], checked: { tensors: 2 } })
  })

  it('may be an index without weights', async () => {
    expect(await verifyChunks(index(entry('a')))).toMatchObject({ verdict: 'ok', findings: [] })
  })
})

describe('index', () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ['tidx-field-type', entry('a', { shape: 4 })],
    ['tidx-field-type', entry('a', { shape: [-1] })],
    ['tidx-field-type', entry('a', { shape: [1.5] })],
    ['tidx-field-type', entry('a', { dtype: 'f32' })],
    ['tidx-field-type', entry('a', { data_off: -4 })],
    ['tidx-field-type', entry('a', { name: 7 })],
    ['tidx-type', 3],
    ['tensor-hash-b3', entry('a', { hash_b3: 'zz' })],
    ['tensor-hash-b3', entry('a', { hash_b3: 'g'.repeat(64) })],
    ['tensor-hash-b3', entry('a', { hash_b3: '0'.repeat(64) })],
    ['tensor-unknown-dtype', entry('a', { dtype: 99 })],
    ['tensor-shape-vs-len', entry('a', { shape: [3] })],
    ['tensor-shape-vs-len', entry('a', { shape: [2 ** 40, 2 ** 40] })],
    ['tensor-data-len-padded', entry('a', { dtype: 0x8000, shape: [0, 32], quant_params: { ggml_type: 2 } })],
  ]
  it.each(cases)('%s %j', async (code, tensor) => {
    await expectCode(code, [index(tensor), weights()])
  })

  it('takes flags of any kind, an upper-case hash and an empty one', async () => {
    const hash = Buffer.from(await digestOf('blake3', Uint8Array.from([1, 2, 3, 4])))
      .toString('hex')
      .toUpperCase()
    const result = await verifyChunks(
      index(entry('a', { flags: 'x', hash_b3: hash }), entry('b', { data_off: 4, hash_b3: '' })),
      weights(),
    )
    expect(result.verdict).toBe('ok')
  })

  it('takes nil for a hash as none, and no bytes for any shape without elements', async () => {
    const none = { shape: [2 ** 40, 2 ** 40, 0], data_len: 0 }
    const result = await verifyChunks(index(entry('a', { hash_b3: null }), entry('b', none)), weights())
    expect(result.findings).toEqual([])
  })

  it('sees an unknown key that occurs twice, in an entry and beside the list', async () => {
    const twice = [0xa1, 0x78, 1, 0xa1, 0x78, 2]
    const own = encode(entry('a')).subarray(1)
    const inEntry = Uint8Array.from([0x81, 0xa7, ...Buffer.from('tensors'), 0x91, 0x89, ...own, ...twice])
    const beside = Uint8Array.from([0x83, ...twice, ...encode({ tensors: [entry('a')] }).subarray(1)])
    for (const bytes of [inEntry, beside]) {
      const result = await verifyChunks({ ...indexOf({}), bytes }, weights())
      for (const code of codesOf(result)) seen.add(code)
      expect(codesOf(result)).toEqual(['aero/key-twice'])
    }
  })

  it('knows keys that are not written in the shortest form', async () => {
    const bytes = encode({ tensors: [entry('a')] })
    const at = Buffer.from(bytes).indexOf('dtype')
    const long = Buffer.concat([bytes.subarray(0, at - 1), Buffer.from([0xd9, 5]), bytes.subarray(at)])
    const chunk = { ...indexOf({}), bytes: new Uint8Array(long) }
    expect((await verifyChunks(chunk, weights())).findings).toEqual([])
  })

  it('sees a field that occurs twice', async () => {
    const bytes = Buffer.from(encode({ tensors: [{ ...entry('a'), Name: 1 }] }))
    bytes.write('n', bytes.indexOf('Name'))
    bytes[bytes.lastIndexOf(1)] = 1
    await expectCode('tidx-field-twice', [{ ...indexOf({}), bytes: new Uint8Array(bytes) }, weights()])
  })

  it('refuses a count that the bytes cannot hold', async () => {
    const bytes = Uint8Array.from([0x81, 0xa7, ...Buffer.from('tensors'), 0xdd, 0xff, 0xff, 0xff, 0xff])
    await expectCode('tidx-msgpack', [{ ...indexOf({}), bytes }, weights()])
  })

  it('refuses nesting without end', async () => {
    const bytes = Uint8Array.from([0x81, 0xa1, 0x78, ...new Array(5000).fill(0x91), 0xc0])
    await expectCode('tidx-msgpack', [{ ...indexOf({}), bytes }, weights()])
  })
})

describe('metadata', () => {
  const sound = [index(entry('a')), weights()] as const
  const mjsn = (text: string) => ({ fourcc: 'MJSN', name: 'meta.json', bytes: new TextEncoder().encode(text) })
  const mmsg = (value: unknown) => ({ fourcc: 'MMSG', name: 'manifest', bytes: encode(value) })

  it.each(['[1]', '{"a":1,"a":2}', '{', '\u00ff'])('mjsn-json: %s', (text) =>
    expectCode('mjsn-json', [mjsn(text), ...sound]),
  )
  it.each([[[1]], [5], ['x']])('mmsg-msgpack: %j', (value) => expectCode('mmsg-msgpack', [mmsg(value), ...sound]))
  it.each([
    ['bytes', new Uint8Array(2)],
    ['a float', 1.5],
  ])('mmsg-msgpack: %s', (_, value) => expectCode('mmsg-msgpack', [mmsg(value), ...sound]))

  it('reads a manifest with odd keys like any other', async () => {
    const model = encode({ name: 'odd', $x: 1 })
    const twice = [0xa1, 0x61, 1, 0xa1, 0x61, 2]
    const bytes = Uint8Array.from([0x83, 0xa5, ...Buffer.from('model'), ...model, ...twice])
    const file = await aeroBytes([{ fourcc: 'MMSG', name: 'manifest', bytes }, ...sound])
    expect(codesOf(await verifyBytes(file))).toEqual(['aero/key-twice'])
    const { metadata, parts } = await openModel(new MemorySource(file, 'x.aero'))
    expect(metadata.get('model_name')).toEqual({ type: 'str', value: 'odd' })
    expect(parts.find((part) => part.kind === 'aero.manifest')?.value).toEqual({ a: 2, model: { $x: 1 } })
  })

  it('mmsg-contradicts', () =>
    expectCode('mmsg-contradicts', [mmsg({ chunks: [{ fourcc: 'WTSH', toc_index: 9 }] }), ...sound]))
  it('mmsg-contradicts, shards', () =>
    expectCode('mmsg-contradicts', [mmsg({ shards: [{ toc_index: 2, size_bytes: 1 }] }), ...sound]))
})

describe('page tables', () => {
  const sound = [index(entry('a')), weights()] as const
  const digest = new Uint8Array(32)
  const table = (more: Record<string, unknown>) =>
    pages({ shard_name: 'weights.shard0', page_size: 8, digests: [digest], ...more })

  it.each([
    ['phsh-digest', table({})],
    ['phsh-page-size', table({ page_size: 0 })],
    ['phsh-page-size', table({ page_size: 'x' })],
    ['phsh-count', table({ page_size: 4 })],
    ['phsh-digest-type', table({ digests: ['x'] })],
    ['phsh-digest-type', table({ digests: 5 })],
    ['phsh-msgpack', { ...table({}), bytes: Uint8Array.from([0xc1]) }],
    ['phsh-msgpack', pages([1])],
    ['phsh-shard-name', table({ shard_name: 'other' })],
    ['phsh-orphan', pages({ shard_name: 'x', page_size: 1, digests: [] }, 'nobody.phsh')],
  ] as const)('%s', (code, chunk) => expectCode(code, [...sound, chunk]))

  it('names page and tensors of damaged bytes', async () => {
    const { findings } = await verifyChunks(...sound, table({}))
    expect(findings.find(({ code }) => code === 'aero/phsh-digest')?.message).toMatch(/page 0 .* "a"/)
  })
})

describe('traps', () => {
  const zstd = (fourcc: string, content: Uint8Array, bytes: Uint8Array) => ({
    fourcc,
    name: 'x',
    flags: 1,
    bytes,
    content,
  })
  /** So many equal bytes, as one zstd frame of blocks that repeat a byte. */
  function repeated(byte: number, blocks: number): Uint8Array {
    const size = blocks * 131_072
    const frame = [0x28, 0xb5, 0x2f, 0xfd, 0xa0, size % 256, (size >> 8) % 256, (size >> 16) % 256, (size >> 24) % 256]
    for (let i = 0; i < blocks; i++) {
      const header = (131_072 << 3) + 2 + (i === blocks - 1 ? 1 : 0)
      frame.push(header % 256, (header >> 8) % 256, header >> 16, byte)
    }
    return Uint8Array.from(frame)
  }

  it('refuses metadata that unfolds to a thousand times its size', async () => {
    const content = { byteLength: 600 * 131_072 } as Uint8Array
    const chunk = { ...zstd('MMSG', content, repeated(0x80, 600)), hash: new Uint8Array(32) }
    await expectCode('chunk-meta-cap', [chunk, index(entry('a')), weights()])
  })

  it('gives up on millions of empty values', async () => {
    const bytes = repeated(0x80, 16)
    const content = new Uint8Array(16 * 131_072).fill(0x80)
    content.set([0xdd, 0x00, 0x10, 0x00, 0x00]) // for the hash only: the frame unfolds to something else
    const list = new Uint8Array(3_000_000).fill(0x80)
    list.set([0xdd, 0x00, 0x2d, 0xc6, 0xbb])
    await expectCode('mmsg-msgpack', [{ fourcc: 'MMSG', name: 'm', bytes: list }, index(entry('a')), weights()])
    await expectCode('chunk-hash', [zstd('MMSG', content, bytes), index(entry('a')), weights()])
  })

  it('judges a page table by its length', async () => {
    const bytes = new Uint8Array(100_000).fill(0xc0)
    bytes.set([0x81, 0xa7, ...Buffer.from('digests'), 0xdd, 0x00, 0x01, 0x86, 0x92])
    await expectCode('phsh-msgpack', [index(entry('a')), weights(), { ...pages({}), bytes }])
  })
})

describe('structure', () => {
  const sound = [index(entry('a')), weights()] as const
  it('ihsh-msgpack', () =>
    expectCode('ihsh-msgpack', [
      { fourcc: 'IHSH', name: 'control.integrity', bytes: Uint8Array.from([0x81]) },
      ...sound,
    ]))
  it('chunk-overlaps-control', () =>
    expectCode('chunk-overlaps-control', [
      ...sound,
      { fourcc: 'XTRA', name: 'x', bytes: fixtureBytes('aero', 'valid/ihsh.aero').subarray(0, 4), offset: 0 },
    ]))
  it('tensor-overlap', () => expectCode('tensor-overlap', [index(entry('a'), entry('b', { data_off: 2 })), weights()]))

  it('tensor-tied, where every hash says so', async () => {
    const hash = toHex(await digestOf('blake3', Uint8Array.of(1, 2, 3, 4)))
    const tied = [entry('a', { hash_b3: hash }), entry('b', { hash_b3: hash })]
    const { verdict, findings } = await verifyChunks(index(...tied, entry('c', { data_off: 4 })), weights())
    for (const { code } of findings) seen.add(code)
    expect([verdict, findings.map(({ code }) => code)]).toEqual(['ok', ['aero/tensor-tied']])
    const lone = await verifyChunks(index(...tied, entry('c')), weights())
    expect(codesOf(lone)).toEqual(['aero/tensor-tied', 'aero/tensor-overlap'])
    const otherShape = await verifyChunks(
      index(tied[0]!, entry('b', { data_len: 3, shape: [3], hash_b3: hash })),
      weights(),
    )
    expect(codesOf(otherShape)).toContain('aero/tensor-overlap')
  })
  it('chunk-unknown', async () => {
    const unknown = (i: number) => ({
      fourcc: i === 0 ? '\u0004\u0000\u00ff\u0000' : 'XTRA',
      name: `x${i}`,
      bytes: new Uint8Array(3),
    })
    const chunks = Array.from({ length: 30 }, (_, i) => unknown(i))
    const { verdict, findings } = await verifyChunks(index(entry('a')), weights(), ...chunks)
    expect([verdict, findings.length]).toEqual(['ok', 20])
    for (const { code, severity, offset, path } of findings) {
      seen.add(code)
      expect([code, severity, typeof offset]).toEqual(['aero/chunk-unknown', 'note', 'number'])
      expect(path).toMatch(/^chunks\[\d+\]$/)
    }
    expect(findings.at(-1)!.message).toContain('as are 10 more')
  })

  it('gap-nonzero', async () => {
    const bytes = await aeroBytes([index(entry('a')), weights()])
    const end = bytes.byteLength - 8
    bytes[end - 1] = 1
    const codes = codesOf(await verifyBytes(bytes))
    for (const code of codes) seen.add(code)
    expect(codes).toEqual(['aero/gap-nonzero'])
  })

  it('ihsh-absent, when the control region is all that is asked for', async () => {
    const bytes = await aeroBytes(sound)
    const result = await verifySource(new MemorySource(bytes, 'x.aero'), { extra: { control: true } })
    seen.add('aero/ihsh-absent')
    expect(result).toMatchObject({ verdict: 'ok', findings: [{ code: 'aero/ihsh-absent', severity: 'note' }] })
  })

  /** A file whose control hash states these ranges, rightly; `end` is where the first chunk begins. */
  async function withControlHash(rangesOf: (end: number) => readonly (readonly [number, number])[]): Promise<string[]> {
    const bytes = await aeroBytes([
      { fourcc: 'IHSH', name: 'control.integrity', flags: 8, bytes: new Uint8Array(256) },
      ...sound,
    ])
    const end = Number(new DataView(bytes.buffer).getBigUint64(112 + 8, true))
    const blank = bytes.slice(0, end)
    for (let i = 0; i < 3; i++) blank.fill(0, 112 + 80 * i + 48, 112 + 80 * i + 80)
    const ranges = rangesOf(end)
    const covered = Buffer.concat(ranges.map(([from, to]) => blank.subarray(from, to)))
    const digest = await digestOf('blake3', covered)
    bytes.set(encode({ algo: 'blake3-256', covered_ranges: ranges, digest }), end)
    bytes.set(await digestOf('blake3', bytes.subarray(end, end + 256)), 112 + 48)
    const codes = codesOf(await verifyBytes(bytes))
    for (const code of codes) seen.add(code)
    return codes
  }

  it('ihsh-ambiguous', async () => {
    const codes = await withControlHash((end) => [
      [0, end],
      [0, 4],
    ])
    expect(codes).toEqual(['aero/ihsh-ambiguous'])
  })

  it('ihsh-coverage', async () => {
    expect(await withControlHash((end) => [[0, end]])).toEqual([])
    expect(await withControlHash(() => [[0, 1]])).toEqual(['aero/ihsh-coverage'])
    // The table is left out up to its last byte.
    expect(await withControlHash(() => [[0, 112 + 80 * 3 - 1]])).toEqual(['aero/ihsh-coverage'])
    const inPieces = await withControlHash((end) => [
      [0, 100],
      [200, end],
      [100, 200],
    ])
    expect(inPieces).toEqual(['aero/ihsh-ambiguous'])
  })

  it('control-overlap, where the table states more than it has or its names lie in it', async () => {
    const bytes = await aeroBytes(sound)
    const view = new DataView(bytes.buffer)
    view.setBigUint64(20, BigInt(bytes.byteLength - 96), true)
    const stated = await verifyBytes(bytes)
    expect(stated.findings.map(({ code, offset }) => [code, offset])).toEqual([['aero/control-overlap', 20]])
    const inside = await aeroBytes(sound)
    new DataView(inside.buffer).setBigUint64(28, 200n, true)
    const codes = codesOf(await verifyBytes(inside))
    for (const code of codes) seen.add(code)
    expect(codes).toContain('aero/control-overlap')
  })

  it('page tables that are no map are placed where they begin', async () => {
    const { findings } = await verifyChunks(index(entry('a')), weights(), pages([1]))
    expect(findings.map(({ code, offset }) => [code, offset! % 16])).toEqual([['aero/phsh-msgpack', 0]])
  })

  it('strtab-cap', async () => {
    const head = await aeroBytes(sound)
    const view = new DataView(head.buffer)
    view.setBigUint64(36, BigInt(600 * 2 ** 20), true)
    // Only the first bytes are real; nothing may be read behind them.
    const source = { ...new MemorySource(head), name: 'x.aero', size: 2 ** 30, close: async () => {} }
    const read = async (offset: number, length: number) => {
      if (offset > 0 || length > 65_536) throw new Error(`read ${offset} ${length}`)
      const bytes = new Uint8Array(length)
      bytes.set(head.subarray(0, length))
      return bytes
    }
    const codes = codesOf(await verifySource({ ...source, read }))
    for (const code of codes) seen.add(code)
    expect(codes).toEqual(['aero/strtab-cap'])
  })

  it('gives up on chunks that lie over each other without end', async () => {
    const large = { fourcc: 'XTRA', name: 'x', bytes: new Uint8Array(5 * 2 ** 20) }
    const at = 16 * 1024
    const chunks = Array.from({ length: 40 }, (_, i) => ({
      ...large,
      name: `x${i}`,
      offset: at,
      hash: new Uint8Array(32).fill(1),
    }))
    await expectCode('chunk-overlap-work', [index(), ...chunks])
  })
})

afterAll(() => {
  // Only a full run can tell.
  if (seen.size < 50) return
  const silent = Object.values(formatById('aero')!.codes)
    .map(({ code }) => code)
    .filter((code) => !seen.has(code))
  expect(silent, 'codes that no test made speak').toEqual([])
})
