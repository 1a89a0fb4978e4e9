// Every check fires on a file that has just that fault, and says where it is.
import { describe, expect, it } from 'vitest'
import { mcf } from '../../../src/formats/mcf/index.js'
import { encodeModelInfo } from '../../../src/formats/mcf/model-info/encode.js'
import { emptyModelInfo } from '../../../src/formats/mcf/model-info/model-info.js'
import { MemorySource, openModel, TareError, text, verifySource } from '../../../src/kit.js'
import { fixtureBytes, presentCases } from '../../support/fixtures.js'
import {
  assemble,
  base,
  inDims,
  indexOf,
  inEntry,
  inHeader,
  inIndex,
  inModelInfo,
  inRecord,
  inSection,
  poke,
  sectionOf,
} from './build.js'

const all = 0xffffffffffffffffn
const fixture = (name: string) => (): Uint8Array => fixtureBytes('mcf', name).slice()

/** One plain tensor at 64 with its bytes, described by `entry`. */
function withTensor(entry: Partial<Parameters<typeof indexOf>[0][number]>): Uint8Array {
  const values = { name: 'w', dtype: 1, dims: [4n], dataOff: 64n, dataSize: 16n, ...entry }
  return assemble([
    [4, new Uint8Array(64)],
    [3, indexOf([values])],
  ])
}

/** Two tensors of 16 bytes; the first lies at 64. */
function overlapping(second: bigint): Uint8Array {
  const tensor = { dtype: 1, dims: [4n], dataSize: 16n }
  const entries = [
    { name: 'v', dataOff: 64n, ...tensor },
    { name: 'w', dataOff: second, ...tensor },
  ]
  return assemble([
    [4, new Uint8Array(64)],
    [3, indexOf(entries)],
  ])
}

/** An int8 tensor in a file that says that it is as documented. */
function markedInt(): Uint8Array {
  const entry = { name: 'w', dtype: 0x10, dims: [4n], dataOff: 256n, dataSize: 68n }
  const info = encodeModelInfo(emptyModelInfo, new Map([['tare.int-payloads', text('as documented')]]))
  return assemble([
    [1, info],
    [4, new Uint8Array(256)],
    [3, indexOf([entry])],
  ])
}

/** One row of 33 columns, which takes two blocks of q8; the last byte of the second is set. */
function oddRow(): Uint8Array {
  const data = new Uint8Array(24 + 128)
  data[24 + 127] = 1
  const entry = { name: 'w', dtype: 0x20, dims: [1n, 33n], dataOff: 64n, dataSize: 128n }
  return assemble([
    [4, data],
    [3, indexOf([entry])],
  ])
}

/** An index whose entries all share one long run of the given kind. */
function sharing(what: 'names' | 'dims'): Uint8Array {
  const long = { name: 'x'.repeat(40_000), dims: Array.from({ length: 70 }, () => 1n) }
  const entry = { dtype: 1, dataOff: 40n, dataSize: 4n, name: 'w', dims: [] as bigint[] }
  const index = indexOf([
    ...Array.from({ length: 100 }, () => entry),
    { ...entry, ...(what === 'names' ? { name: long.name } : { dims: long.dims }) },
  ])
  const data = new DataView(index.buffer)
  for (let i = 0; i < 100; i++) {
    const at = 48 + 40 * i
    if (what === 'names') data.setUint32(at + 4, 40_000, true)
    else data.setUint32(at + 12, 70, true)
    if (what === 'names') data.setUint32(at, 100, true)
  }
  return assemble([
    [4, new Uint8Array(8)],
    [3, index],
  ])
}

const spoiled: Record<string, () => Uint8Array> = {
  'file-shorter-than-header': () => base().subarray(0, 39),
  magic: () => poke(base(), 3, 0x20, 1),
  'header-size-too-small': () => poke(base(), inHeader('headerSize'), 39, 4),
  'section-count-zero': () => poke(base(), inHeader('sectionCount'), 0, 4),
  'major-version': () => poke(base(), inHeader('major'), 2, 2),
  'file-size': () => Uint8Array.of(...base(), 0),
  'header-size-over-file': () => poke(base(), inHeader('headerSize'), 0xffffffff, 4),
  'directory-inside-header': () => poke(base(), inHeader('sectionDirOffset'), 32, 8),
  'directory-out-of-bounds': () => poke(base(), inHeader('sectionDirOffset'), all, 8),
  'directory-over-limit': () => assemble(Array.from({ length: 44_000 }, (_, i) => [0x7000 + i, new Uint8Array()])),
  'section-size-over-file': () => poke(base(), inSection(base(), 4, 'size'), 2n ** 63n, 8),
  'section-offset-overflow': () => poke(base(), inSection(base(), 2, 'offset'), all - 7n, 8),
  'section-out-of-bounds': () => poke(base(), inSection(base(), 0x100, 'offset'), base().byteLength - 8, 8),
  'section-overlaps-header': () => poke(base(), inSection(base(), 1, 'offset'), 32, 8),
  'section-overlaps-directory': () => {
    const bytes = base()
    return poke(bytes, inSection(bytes, 2, 'size'), sectionOf(bytes, 2).size + 48, 8)
  },
  'section-alignment-8': () => poke(base(), inSection(base(), 1, 'offset'), sectionOf(base(), 1).offset + 4, 8),
  'section-overlap': () => {
    const bytes = base()
    const info = sectionOf(bytes, 1)
    return poke(poke(bytes, inSection(bytes, 0x100, 'offset'), info.offset, 8), inSection(bytes, 0x100, 'size'), 8, 8)
  },
  'section-duplicate': () => poke(base(), inSection(base(), 0x100, 'type'), 1, 4),
  'unclaimed-bytes': () => poke(base(), inSection(base(), 0x100, 'size'), 0, 8),
  padding: () => poke(base(), sectionOf(base(), 4).offset - 1, 1, 1),
  'header-extra': fixture('header-64.mcf'),
  'unknown-flags': () => poke(base(), inHeader('flags'), 3, 8),

  'store-missing-tensor-index': () => poke(base(), inSection(base(), 3, 'type'), 0x7000, 4),
  'store-empty-tensor-index': () => poke(base(), inSection(base(), 3, 'size'), 0, 8),
  'store-missing-tensor-data': () => poke(base(), inSection(base(), 4, 'type'), 0x7000, 4),
  'store-empty-quantinfo': () => poke(base(), inSection(base(), 2, 'size'), 0, 8),

  'index-too-short': () => poke(base(), inSection(base(), 3, 'size'), 47, 8),
  'index-version': () => poke(base(), inIndex(base(), 'version'), 2, 4),
  'index-count-zero': () => poke(base(), inIndex(base(), 'tensorCount'), 0, 4),
  'index-entries-out-of-bounds': () => poke(base(), inIndex(base(), 'tensorCount'), 0xffffffff, 4),
  'index-dims-out-of-bounds': () => poke(base(), inIndex(base(), 'dimsOff'), all, 8),
  'index-strings-out-of-bounds': () => poke(base(), inIndex(base(), 'stringsSize'), all, 8),
  'index-dtype-over-16-bit': () => poke(base(), inEntry(base(), 0, 'dtype'), 0x10001, 4),
  'index-name-out-of-bounds': () => poke(base(), inEntry(base(), 1, 'nameOff'), 0xffffffff, 4),
  'index-shape-out-of-bounds': () => poke(base(), inEntry(base(), 0, 'dimOff'), 0xffffffff, 4),
  'index-rank-over-limit': () => sharing('dims'),
  'index-names-over-limit': () => sharing('names'),
  'index-reserved': () => poke(base(), inEntry(base(), 2, 'reserved'), 7, 4),
  'index-trailing-bytes': fixture('index-trailing-and-reserved.mcf'),
  'lookup-by-name-fails': fixture('index-sorted-flag-lie.mcf'),
  'duplicate-name': fixture('index-duplicate-names.mcf'),
  'name-empty': fixture('index-empty-name.mcf'),
  'name-not-utf8': fixture('index-nonutf8-name.mcf'),

  'quantinfo-too-short': () => poke(base(), inSection(base(), 2, 'size'), 7, 8),
  'quantinfo-version': () => poke(base(), sectionOf(base(), 2).offset, 2, 4),
  'quantinfo-records-out-of-bounds': () => poke(base(), sectionOf(base(), 2).offset + 4, 0xffffffff, 4),
  'quantinfo-reserved-nonzero': () => poke(base(), inRecord(base(), 'reserved') + 5, 1, 1),
  'quantinfo-domain-invalid': () => poke(base(), inRecord(base(), 'domain'), 2, 1),
  'quantinfo-method-unknown': () => poke(base(), inRecord(base(), 'method'), 0x22, 1),
  'quantinfo-block-method-needs-weights': () => poke(base(), inRecord(base(), 'domain'), 1, 1),
  'quantinfo-block-size': () => poke(base(), inRecord(base(), 'blockSize'), 64, 2),
  'quantinfo-super-size': () => poke(base(), inRecord(base(), 'superSize'), 256, 2),
  'quantinfo-int-needs-zero-sizes': () => poke(base(), inRecord(base(), 'method'), 0x10, 1),
  'quantinfo-trailing-bytes': fixture('quantinfo-odd-records.mcf'),
  'quantinfo-duplicate-record': fixture('quantinfo-odd-records.mcf'),
  'quantinfo-clip': () => poke(base(), inRecord(base(), 'maxClip'), 0x7fc00000, 4),

  'quant-rank-not-2': () => withTensor({ dtype: 0x21, dims: [4n] }),
  'quant-zero-dim': () => withTensor({ dtype: 0x21, dims: [4n, 0n] }),
  'quant-payload-size-overflow': () => withTensor({ dtype: 0x30, dims: [2n ** 40n, 2n ** 40n] }),
  'quant-payload-alignment-64': () => withTensor({ dtype: 0x21, dims: [1n, 1n], dataOff: 72n }),
  'quant-payload-size': () => withTensor({ dtype: 0x21, dims: [1n, 1n], dataSize: 79n }),
  'quant-needs-flag': () => poke(base(), inHeader('flags'), 0, 8),
  'record-index-out-of-range': () => poke(base(), inRecord(base(), 'tensorIndex'), 3, 4),
  'record-method-mismatch': () => poke(base(), inRecord(base(), 'method'), 0x20, 1),

  'read-zero-dim': () => poke(base(), inDims(base(), 0, 0), 0, 8),
  'read-dim-too-large': () => withTensor({ dims: [2n ** 63n] }),
  'read-outside-file': () => withTensor({ dataOff: all }),
  'read-outside-tensordata': () => withTensor({ dataOff: 32n }),
  'read-element-count-overflow': () => withTensor({ dims: [2n ** 62n, 4n] }),
  'unsupported-dtype-on-read': () => withTensor({ dtype: 13 }),
  'tensor-overlap': () => overlapping(68n),
  'int-payload': () => markedInt(),
  'read-size-mismatch': () => withTensor({ dataSize: 12n }),
  'bare-codes': fixture('pack-quant-embed-int4.mcf'),

  'model-info-opaque': fixture('modelinfo-opaque.mcf'),
  'model-info-flags': () => poke(base(), inModelInfo(base(), 'flags'), 1, 4),

  'scale-not-finite': fixture('quant-nonfinite-scales.mcf'),
  'scale-overflow': fixture('quant-edge-k4.mcf'),
  'scale-subnormal': fixture('quant-subnormal-scales.mcf'),
  'row-padding': () => oddRow(),
  'sub-scale-bits': fixture('quant-subscale-top-bits.mcf'),
  'most-negative-code': fixture('quant-random-codes.mcf'),
}

const verify = (bytes: Uint8Array) => verifySource(new MemorySource(bytes, 'x.mcf'))

describe('a file with one fault', () => {
  it('the base is fine', async () => {
    const { findings } = await verify(base())
    expect(findings.filter(({ severity }) => severity !== 'note')).toEqual([])
  })

  it.each(Object.entries(spoiled))('%s', async (name, make) => {
    const code = mcf.codes[name as keyof typeof mcf.codes]!
    const { findings } = await verify(make())
    const found = findings.find((finding) => finding.code === code.code)
    expect(found, JSON.stringify(findings)).toMatchObject({ severity: code.severity, path: expect.any(String) })
    expect(found!.offset).toBeTypeOf('number')
    expect(found!.message).not.toBe('')
  })

  it('tensors in one place are no fault, nor are those that touch', async () => {
    for (const second of [64n, 80n]) {
      const { findings } = await verify(overlapping(second))
      expect(findings.map(({ code }) => code)).not.toContain('mcf/tensor-overlap')
    }
    const inside = (await verify(overlapping(72n))).findings.find(({ code }) => code === 'mcf/tensor-overlap')
    expect(inside).toMatchObject({ offset: 72, length: 8, message: '"w" shares 8 bytes with "v"' })
    const told: string[] = []
    await openModel(new MemorySource(overlapping(72n), 'x.mcf'), { onFinding: ({ code }) => told.push(code) })
    expect(told).toContain('mcf/tensor-overlap')
  })

  it('leaves no check untested', async () => {
    const untested = Object.keys(mcf.codes).filter((code) => !(code in spoiled))
    expect(untested).toEqual(['index-over-limit'])
    const context = { limits: { indexBytes: 150 } }
    await expect(openModel(new MemorySource(base(), 'x.mcf'), context)).rejects.toThrow(/the limit is 150/)
  })

  it('is found by the name that the fixtures give it', async () => {
    for (const { file, check, verdict } of presentCases('mcf')) {
      if (check === undefined || verdict !== 'reject') continue
      const { findings } = await verify(fixtureBytes('mcf', file))
      expect(
        findings.map(({ code }) => code),
        file,
      ).toContain(`mcf/${check}`)
    }
  })
})

describe('opening', () => {
  const open = (bytes: Uint8Array, lenient = false, warnings: string[] = []) =>
    openModel(new MemorySource(bytes, 'x.mcf'), { lenient, onFinding: ({ code }) => warnings.push(code) })

  it('takes what the reference takes, with a warning', async () => {
    for (const name of ['section-overlap', 'duplicate-name', 'lookup-by-name-fails', 'bare-codes']) {
      const warnings: string[] = []
      await open(spoiled[name]!(), false, warnings)
      expect(warnings).toContain(`mcf/${name}`)
    }
  })

  it('refuses a misplaced tensor; a lenient reader lists it without data', async () => {
    const bytes = withTensor({ dataOff: 32n })
    await expect(open(bytes)).rejects.toThrow(TareError)
    expect([...(await open(bytes, true)).tensors]).toMatchObject([{ name: 'w', data: null, shape: [4] }])
    expect([...(await open(withTensor({ dims: [2n ** 62n] }), true)).tensors]).toEqual([])
  })

  it('lists tensors by position, whatever the flags say', async () => {
    const model = await open(fixture('index-sorted-flag-lie.mcf')())
    expect(model.tensors.length).toBeGreaterThan(2)
    expect(model.tensors.map(({ name }) => name)).not.toEqual(model.tensors.map(({ name }) => name).toSorted())
  })

  it('accepts an empty section at the edge of the directory, but not inside it', async () => {
    const bytes = base()
    const at = Number(new DataView(bytes.buffer).getBigUint64(inHeader('sectionDirOffset'), true))
    const moved = (offset: number) => {
      const copy = bytes.slice()
      return poke(poke(copy, inSection(copy, 0x100, 'offset'), offset, 8), inSection(copy, 0x100, 'size'), 0, 8)
    }
    await expect(open(moved(at))).resolves.toBeDefined()
    await expect(open(moved(at + 8))).rejects.toThrow(/directory/)
  })
})
