import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  dtypeById,
  formatById,
  hashModel,
  inspectModel,
  type JsonValue,
  MemorySource,
  type MetaValue,
  openModel,
  planConversion,
  type Tensor,
  toHex,
  verifySource,
} from '../../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../../support/convert.js'
import { fixtureBytes, fixtureSource, isAccepted, presentCases } from '../../../support/fixtures.js'
import { sampleModel, sampleTensor } from '../../../support/sample-model.js'

interface ShownChunk {
  fourcc: string
  name: string
  flags: number
  offset: number
  length: number
  ulen: number
}

async function chunksOf(files: ReadonlyMap<string, Uint8Array>): Promise<ShownChunk[]> {
  const model = await openModel(sourceOf(files))
  const container = inspectModel(model).parts.find((part) => (part as { kind: string }).kind === 'aero.container')
  return (container as unknown as { value: { chunks: ShownChunk[] } }).value.chunks
}

const bytesOf = (files: ReadonlyMap<string, Uint8Array>): Uint8Array => [...files.values()][0]!
const small = () =>
  sampleModel([
    sampleTensor('a', 'f32', [3, 5], 1),
    sampleTensor('b', 'u8', [7], 2),
    sampleTensor('c', 'bf16', [40], 3),
  ])

describe('unchanged files', () => {
  const files = presentCases('aero').filter((each) => isAccepted(each) || each.verdict === 'flag')
  it.each(files)('$file comes out byte by byte as it went in', async ({ file }) => {
    const bytes = fixtureBytes('aero', file)
    let model: Awaited<ReturnType<typeof openModel>>
    try {
      model = await openModel(fixtureSource('aero', file))
    } catch {
      return // refused on opening; nothing to write
    }
    expect(Buffer.compare(bytesOf(await convertToFiles(model, 'aero')), bytes)).toBe(0)
  })

  it('comes out as it went in, also where it carries what it has no place for', async () => {
    const odd = sampleModel([sampleTensor('f8', 'f8_e4m3', [4]), sampleTensor('x'.repeat(5000), 'f32', [2])])
    const once = await convertToFiles(odd, 'aero', { extra: { 'control-hash': true } })
    const twice = await convertToFiles(await openModel(sourceOf(once)), 'aero')
    expect(Buffer.compare(bytesOf(twice), bytesOf(once))).toBe(0)
    // A wish goes by the names and types that things have by themselves.
    const less = await convertToFiles(await openModel(sourceOf(once)), 'aero', { exclude: ['xx*'] })
    expect((await openModel(sourceOf(less))).tensors.map(({ name }) => name)).toEqual(['f8'])
  })

  it('keeps index and weights as they are stored when only metadata changes', async () => {
    for (const file of [
      'valid/ihsh-phsh-multi-shard.aero',
      'valid/unknown-chunks.aero',
      'valid/mjsn-compressed.aero',
    ]) {
      const before = fixtureBytes('aero', file)
      const model = await openModel(fixtureSource('aero', file))
      const files = await convertToFiles(model, 'aero', { set: [['note', 'new']], name: 'out.aero' })
      const after = bytesOf(files)
      const old = await chunksOf(new Map([['x', before]]))
      const now = await chunksOf(files)
      for (const chunk of old.filter(({ fourcc }) => !['IHSH', 'MJSN', 'MMSG'].includes(fourcc))) {
        const same = now.find(({ fourcc, name }) => fourcc === chunk.fourcc && name === chunk.name)!
        expect(after.subarray(same.offset, same.offset + same.length), chunk.name).toEqual(
          before.subarray(chunk.offset, chunk.offset + chunk.length),
        )
      }
      const again = await openModel(sourceOf(files))
      expect(again.metadata.get('note')).toEqual({ type: 'str', value: 'new' })
      expect((await verifySource(sourceOf(files))).verdict).toBe('ok')
      expect((await hashModel(again)).fingerprint).toBe((await hashModel(model)).fingerprint)
    }
  })
})

describe('what is left out on request', () => {
  it.each(['aero.manifest', 'aero.index'])('is not copied along with the rest: %s', async (kind) => {
    const model = await openModel(fixtureSource('aero', 'valid/extra-keys.aero'))
    const kept = model.parts.filter((part) => part.kind !== kind)
    const files = await convertToFiles({ ...model, parts: kept }, 'aero')
    const text = new TextDecoder().decode(bytesOf(files))
    expect([text.includes('someone'), text.includes('comment')]).toEqual([kind === 'aero.index', kind !== 'aero.index'])
    expect((await verifySource(sourceOf(files))).verdict).toBe('ok')
  })
})

describe('what another container has carried', () => {
  it.each([
    ['aero.index', { comment: 'fine' }, true],
    ['aero.index', { comment: 'fine', tensors: [] }, false],
    ['aero.index', 5, false],
    ['aero.manifest', { author: 'fine', model: { size: 1 } }, true],
    ['aero.manifest', { author: 'fine', chunks: [] }, false],
    ['aero.manifest', { shards: [] }, false],
    ['aeroset.extra', { notes: 'fine' }, true],
    ['aeroset.extra', { notes: 'fine', base_url: 'http://x' }, false],
  ])('comes back unless it would stand for what the file itself says: %s %j', async (kind, value, isRestored) => {
    const part = { kind, sharing: 'private' as const, value }
    expect(await (await formatById('aero')!.load()).restorePart!(part)).toBe(isRestored ? part : undefined)
  })
})

describe('layout', () => {
  it('follows the reference: table at 96, names in order, chunks on multiples of 16', async () => {
    const files = await convertToFiles(small(), 'aero', {
      shardSize: 70,
      extra: { 'page-hashes': 32, 'control-hash': true, uuid: '11'.repeat(16) },
    })
    const bytes = bytesOf(files)
    const view = new DataView(bytes.buffer, bytes.byteOffset)
    const chunks = await chunksOf(files)
    expect(chunks.map(({ fourcc, name, flags }) => [fourcc, name, flags])).toEqual([
      ['IHSH', 'control.integrity', 8],
      ['MJSN', 'meta.json', 0],
      ['MMSG', 'manifest', 0],
      ['TIDX', 'tensors', 4],
      ['WTSH', 'weights.shard0', 2],
      ['PHSH', 'weights.shard0.phsh', 8],
      ['WTSH', 'weights.shard1', 2],
      ['PHSH', 'weights.shard1.phsh', 8],
    ])
    expect(view.getBigUint64(12, true)).toBe(96n)
    expect(view.getBigUint64(20, true)).toBe(BigInt(16 + 80 * 8))
    expect(toHex(bytes.subarray(52, 68))).toBe('11'.repeat(16))
    for (const { offset } of chunks) expect(offset % 16).toBe(0)
    expect(chunks[0]!.length).toBe(256)
    expect((await verifySource(sourceOf(files))).findings).toEqual([])
  })

  it('compresses the index, in front of the weights, when it has no hashes', async () => {
    const chunks = await chunksOf(await convertToFiles(small(), 'aero', { extra: { 'tensor-hashes': 'off' } }))
    expect(chunks.map(({ fourcc, flags }) => [fourcc, flags])).toEqual([
      ['MJSN', 0],
      ['MMSG', 1],
      ['TIDX', 5],
      ['WTSH', 2],
    ])
    expect(chunks[2]!.offset).toBeLessThan(chunks[3]!.offset)
  })

  it('starts tensors on multiples of --align', async () => {
    const model = await openModel(sourceOf(await convertToFiles(small(), 'aero', { align: 64 })))
    for (const { data } of model.tensors) expect(data!.origin!.offset % 64).toBe(0)
  })

  it('gives the same bytes again with --deterministic, and another uuid for other weights', async () => {
    const write = async (seed: number, extra = {}) =>
      bytesOf(
        await convertToFiles(sampleModel([sampleTensor('a', 'f32', [9], seed)]), 'aero', {
          deterministic: true,
          extra,
        }),
      )
    const one = await write(1, { 'control-hash': true, 'page-hashes': 16 })
    expect(await write(1, { 'control-hash': true, 'page-hashes': 16 })).toEqual(one)
    expect((await verifySource(new MemorySource(one))).findings).toEqual([])
    expect(toHex((await write(1)).subarray(52, 68))).not.toBe(toHex((await write(2)).subarray(52, 68)))
    const random = await Promise.all([1, 2].map(() => convertToFiles(small(), 'aero').then(bytesOf)))
    expect(toHex(random[0]!.subarray(52, 68))).not.toBe(toHex(random[1]!.subarray(52, 68)))
  })

  it('stores tied tensors once', async () => {
    const model = await openModel(fixtureSource('aero', 'valid/tied-tensors.aero'))
    const files = await convertToFiles(model, 'aero', { extra: { 'page-hashes': true } })
    const again = await openModel(sourceOf(files))
    const starts = new Set(again.tensors.map(({ data }) => data!.origin!.offset))
    expect(starts.size).toBeLessThan(again.tensors.length)
    expect((await hashModel(again)).fingerprint).toBe((await hashModel(model)).fingerprint)
  })

  it.each(['aero', 'aeroset'])('writes tied tensors so that %s needs no warning', async (target) => {
    const first = sampleTensor('embed', 'f32', [4, 3], 5)
    const tied = ['head', 'again'].map((name) => ({ ...first, name }))
    const model = sampleModel([first, sampleTensor('other', 'f32', [5], 6), ...tied])
    const files = await convertToFiles(model, target, { name: 'model.aeroset.json' })
    const { verdict, findings } = await verifySource(sourceOf(files))
    expect(verdict).toBe('ok')
    expect(findings.map(({ code }) => code)).toEqual(['aero/tensor-tied'])
  })

  it('carries chunks, manifest keys and tensor keys along when it rewrites a file', async () => {
    for (const file of ['valid/unknown-chunks.aero', 'valid/extra-keys.aero']) {
      const model = await openModel(fixtureSource('aero', file))
      const again = await openModel(sourceOf(await convertToFiles(model, 'aero', { align: 32 })))
      const tell = (of: typeof model) => ({
        extras: of.tensors.map(({ extra }) => JSON.stringify(extra)),
        parts: of.parts
          .filter(({ sharing }) => sharing === 'private')
          .map(({ kind, name, value }) => ({ kind, name, value })),
      })
      const { extras, parts } = tell(model)
      expect(tell(again).parts.map((part) => JSON.stringify(withoutQuants(part)))).toEqual(
        parts.map((part) => JSON.stringify(withoutQuants(part))),
      )
      expect(tell(again).extras.map((text) => text?.replace(/"quant_id":\d+/, ''))).toEqual(
        extras.map((text) => text?.replace(/"quant_id":\d+/, '')),
      )
    }
  })

  it('packs ggml types and names them', async () => {
    const q8 = dtypeById('ggml.q8_0')!
    const tensor: Tensor = { ...sampleTensor('q', 'u8', [68], 5), dtype: q8, shape: [2, 32] }
    const files = await convertToFiles(sampleModel([tensor, sampleTensor('f', 'f32', [2])]), 'aero')
    const { tensors, metadata } = await openModel(sourceOf(files))
    expect(tensors.at(0)).toMatchObject({ dtype: { id: 'packed' }, encoding: { id: 'ggml.q8_0' }, shape: [2, 32] })
    expect(tensors.at(0)!.extra).toMatchObject({ quant_id: 0, quant_params: { ggml_type: 8 } })
    expect(metadata.has('quant_descriptors')).toBe(false)
    expect(new TextDecoder().decode(bytesOf(files))).toContain('"quant_descriptors":[{"codec":"ggml","id":0')
    expect((await verifySource(sourceOf(files))).findings).toEqual([])
  })

  it.each([
    ['align', { align: 48 }],
    ['page-hashes', { extra: { 'page-hashes': -1 } }],
    ['uuid', { extra: { uuid: 'xyz' } }],
    ['zstd-level', { extra: { 'zstd-level': 40 } }],
  ])('refuses a wrong --%s', async (_, options) => {
    await expect(convertToFiles(small(), 'aero', options)).rejects.toMatchObject({ code: 'usage/option' })
  })
})

const withoutQuants = (part: { value: JsonValue }): JsonValue => {
  const { quant_descriptors: _, ...rest } = part.value as Record<string, JsonValue>
  return rest
}

describe('any model', () => {
  const dtypes = ['f16', 'f32', 'bf16', 'f64', 'i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'i64', 'u64', 'bool']
  const tensor = fc.record({
    name: fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }),
    dtype: fc.constantFrom(...dtypes),
    shape: fc.array(fc.nat(5), { maxLength: 3 }),
    seed: fc.nat(1000),
  })
  const value = fc.oneof(
    fc.string({ unit: 'grapheme' }).map((text): MetaValue => ({ type: 'str', value: text })),
    fc.boolean().map((flag): MetaValue => ({ type: 'bool', value: flag })),
    fc.integer().map((number): MetaValue => ({ type: 'i64', value: number })),
    fc.jsonValue().map((json): MetaValue => ({ type: 'json', value: [json as JsonValue] })),
  )

  it('comes back as it was, whatever the options', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(tensor, { selector: ({ name }) => name, maxLength: 8 }),
        fc.array(fc.tuple(fc.string(), value), { maxLength: 4 }),
        fc.record(
          {
            shardSize: fc.integer({ min: 1, max: 400 }),
            align: fc.constantFrom(1, 8, 64),
            pages: fc.integer({ min: 1, max: 100 }),
            control: fc.boolean(),
            hashes: fc.constantFrom('on', 'off'),
            deterministic: fc.boolean(),
          },
          { requiredKeys: [] },
        ),
        fc.constantFrom('aero', 'aeroset'),
        async (shapes, metadata, options, target) => {
          const tensors = shapes.map(({ name, dtype, shape, seed }) => sampleTensor(name, dtype, shape, seed))
          const model = sampleModel(tensors, new Map(metadata))
          const { shardSize, align, pages, control, hashes, deterministic } = options
          const extra = { 'page-hashes': pages, 'control-hash': control, 'tensor-hashes': hashes }
          const files = await convertToFiles(model, target, { shardSize, align, deterministic, extra })
          const result = await verifySource(sourceOf(files))
          expect(result.findings.filter(({ code }) => code !== 'verify/name-control')).toEqual([])
          const again = await openModel(sourceOf(files))
          expect((await hashModel(again)).fingerprint).toBe((await hashModel(model)).fingerprint)
          expect(again.tensors.map(({ name }) => name)).toEqual(tensors.map(({ name }) => name))
          const sorted = (of: ReadonlyMap<string, MetaValue>) =>
            JSON.stringify([...of].sort(([a], [b]) => (a < b ? -1 : 1)))
          expect(sorted(again.metadata)).toBe(sorted(model.metadata))
        },
      ),
      { numRuns: 60 },
    )
  })

  it.each(['aero', 'aeroset'])('refuses pages so short that nobody can hold their hashes: %s', async (target) => {
    const [small] = sampleModel([sampleTensor('w', 'u8', [4])]).tensors
    const data = { byteLength: 6e9, chunks: () => expect.unreachable() }
    const large = sampleModel([{ ...small!, shape: [6e9], data }])
    await expect(planConversion(large, target, { name: 'm', extra: { 'page-hashes': 1 } })).rejects.toMatchObject({
      code: 'usage/option',
      message: expect.stringContaining('6000000000 pages of 1 bytes'),
    })
  })

  it('says what has no place', async () => {
    const odd = sampleModel([sampleTensor('c', 'c64', [2])])
    const files = await convertToFiles(odd, 'aero', { stow: false })
    expect((await openModel(sourceOf(files))).tensors).toHaveLength(0)
  })
})
