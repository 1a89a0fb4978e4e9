// What the list of fixtures does not say: metadata, roles, places of the data, chunks, and which code each hostile file gets.
import { describe, expect, it } from 'vitest'
import {
  countingSource,
  diffModels,
  MemorySink,
  MemorySource,
  openModel,
  planRepair,
  readPayload,
  verifySource,
  writeLayout,
} from '../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'
import { fixtureBytes, fixtureSource } from '../../support/fixtures.js'

const open = (file: string) => openModel(fixtureSource('flax', file))
const bytesOf = (...pieces: readonly (string | readonly number[] | Uint8Array)[]): Uint8Array =>
  new Uint8Array(
    Buffer.concat(pieces.map((each) => (typeof each === 'string' ? Buffer.from(each) : Buffer.from(each)))),
  )

/** An array of bytes below a key of one letter. */
function array(key: string, data: Uint8Array): Uint8Array {
  const u32 = (value: number): number[] => [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff)
  const inner = bytesOf([0x93, 0x91, 0xce], u32(data.length), [0xa5], 'uint8', [0xc6], u32(data.length), data)
  return bytesOf([0xa1], key, [0xc9], u32(inner.length), [1], inner)
}

describe('Flax', () => {
  it('joins names by dots and keeps the path', async () => {
    const { tensors } = await open('mlp.msgpack')
    const kernel = tensors.find(({ name }) => name === 'params.Dense_0.kernel')!
    expect(kernel).toMatchObject({ path: ['params', 'Dense_0', 'kernel'], shape: [5, 8], role: 'weight', order: 'row' })
  })

  it('tells the state of the optimizer from weights', async () => {
    const { tensors, metadata } = await open('train-state.msgpack')
    const roles = new Set(tensors.map(({ path, role }) => `${path![0]} ${role}`))
    expect([...roles].sort()).toEqual(['batch_stats weight', 'opt_state state', 'params weight'])
    expect(metadata.get('step')).toEqual({ type: 'i64', value: 2 })
  })

  it('keeps values beside the arrays as metadata', async () => {
    const { metadata } = await open('metadata.msgpack')
    expect(metadata.get('rate')).toEqual({ type: 'f64', value: 0.125 })
    expect(metadata.get('name')).toEqual({ type: 'str', value: 'Größe' })
    expect(metadata.get('flag')).toEqual({ type: 'bool', value: true })
    expect(metadata.get('none')).toEqual({ type: 'null' })
    expect(metadata.get('raw')).toEqual({ type: 'bytes', value: Uint8Array.of(0, 255) })
    expect(metadata.get('large')).toEqual({ type: 'u64', value: 2n ** 63n + 1n })
    expect(metadata.get('negative')).toEqual({ type: 'i64', value: -5 })
    expect(metadata.get('config.sizes.2')).toEqual({ type: 'i64', value: 3 })
    const complex = metadata.get('z')
    expect(complex).toMatchObject({ type: 'ndarray', shape: [] })
    expect(new Float64Array((complex as { value: Uint8Array }).value.slice().buffer)).toEqual(Float64Array.of(1.5, -2))
  })

  it('leaves the data where they are', async () => {
    const model = await open('mlp.msgpack')
    for (const { data } of model.tensors) expect(data!.origin?.source).toBe(model.files[0])
  })

  it('reads chunks as one tensor, from any place on', async () => {
    const { tensors } = await open('chunked.msgpack')
    expect(tensors.map(({ name }) => name)).toEqual(['params.a', 'params.big', 'params.half', 'params.z'])
    const { data, shape } = tensors[1]!
    const all = await readPayload(data!)
    expect(shape).toEqual([7, 10])
    expect([...new Float32Array(all.buffer)]).toEqual(Array.from({ length: 70 }, (_, i) => i))
    for (const [at, length] of [
      [0, 280],
      [60, 9],
      [63, 130],
      [279, 1],
    ] as const)
      expect(await data!.read!(at, length)).toEqual(all.subarray(at, at + length))
  })

  it('reads chunks in any order of keys', async () => {
    const piece = (key: string, value: number): Uint8Array => array(key, Uint8Array.of(value, value))
    const file = bytesOf(
      [0x81, 0xa1],
      'w',
      [0x83],
      [0xa6],
      'chunks',
      [0x82],
      piece('1', 2),
      piece('0', 1),
      [0xa5],
      'shape',
      [0x82, 0xa1],
      '1',
      [2, 0xa1],
      '0',
      [2],
      [0xb9],
      '__msgpack_chunked_array__',
      [0xc3],
    )
    const { tensors } = await openModel(new MemorySource(file, 'm'))
    expect(tensors).toHaveLength(1)
    expect(tensors[0]).toMatchObject({ name: 'w', shape: [2, 2] })
    expect(await readPayload(tensors[0]!.data!)).toEqual(Uint8Array.of(1, 1, 2, 2))
  })

  it('opens without reading the arrays', async () => {
    const data = new Uint8Array(1 << 20).fill(7)
    const file = bytesOf([0x84], ...['a', 'b', 'c', 'd'].map((key) => array(key, data)))
    const count = { reads: 0, bytes: 0 }
    const { tensors } = await openModel(countingSource(new MemorySource(file, 'm.msgpack'), count))
    expect(tensors.map(({ shape }) => shape)).toEqual(Array.from({ length: 4 }, () => [1 << 20]))
    expect(count.bytes).toBeLessThan(100_000)
    expect(count.reads).toBeLessThan(8)
  })

  it('is known without its extension, and other MessagePack is not', async () => {
    const { format } = await openModel(new MemorySource(fixtureBytes('flax', 'mlp.msgpack'), 'weights.bin'))
    expect(format).toBe('flax')
    const other = new MemorySource(fixtureBytes('flax', 'no-arrays.msgpack'), 'm')
    await expect(openModel(other)).rejects.toMatchObject({ code: 'open/unknown-format' })
  })

  it.each(['safetensors', 'torch'])('becomes %s with the same values', async (target) => {
    for (const file of ['mlp.msgpack', 'bf16.msgpack', 'chunked.msgpack']) {
      const model = await open(file)
      const made = await openModel(sourceOf(await convertToFiles(model, target)))
      expect((await diffModels(model, made)).tensors, file).toEqual([])
    }
  })

  it('calls a file that was cut by its size, and saves the arrays before the cut', async () => {
    const whole = fixtureBytes('flax', 'mlp.msgpack')
    const cut = whole.subarray(0, whole.byteLength - 9)
    const { findings } = await verifySource(new MemorySource(cut, 'm.msgpack'))
    expect(findings[0]).toMatchObject({ code: 'msgpack/length', needs: whole.byteLength })
    const planned = await planRepair(new MemorySource(cut, 'm.msgpack'), { name: 'out.safetensors' })
    const files = new Map<string, Uint8Array>()
    await writeLayout(planned.layout, async (name) => new MemorySink(name, files))
    const names = async (source: MemorySource) => (await openModel(source)).tensors.map(({ name }) => name).sort()
    const all = await names(fixtureSource('flax', 'mlp.msgpack'))
    const saved = await names(sourceOf(files))
    const lost = planned.salvage!.lost.flatMap(({ name }) => name ?? [])
    expect(lost).toHaveLength(1)
    expect([...saved, ...lost].sort()).toEqual(all)
  })

  it('stops at the limit for names, also when a long key is in many of them', async () => {
    const count = 2000
    const long = 'k'.repeat(5000)
    const small = Array.from({ length: count }, (_, i) => bytesOf([0xa4], String(1000 + i), [0xc0]))
    const file = bytesOf([0x82], array('a', Uint8Array.of(1)), [0xda, 0x13, 0x88], long, [0xde, 0x07, 0xd0], ...small)
    const limits = { indexBytes: 1 << 20 }
    await expect(openModel(new MemorySource(file, 'm'), { limits })).rejects.toMatchObject({ code: 'flax/index-limit' })
    expect((await openModel(new MemorySource(file, 'm'))).metadata.size).toBe(count)
  })
})

describe('hostile files of Flax', () => {
  it('may not have many short values deep down, which would take a thousand times their bytes', async () => {
    const count = 60_000
    const values = new Uint8Array(6 * count)
    for (let i = 0; i < count; i++) values.set([0xce, 0, i >> 16, i >> 8, i, 0xc0], 6 * i)
    const maps = Array.from({ length: 126 }, () => bytesOf([0x81], [0xa1, 0x61]))
    const inner = bytesOf([0xde, (count + 1) >> 8, count + 1], array('a', Uint8Array.of(1)), values)
    const deep = new MemorySource(bytesOf(...maps, inner), 'm')
    await expect(openModel(deep)).rejects.toMatchObject({ code: 'flax/index-limit' })
    expect((await openModel(new MemorySource(inner, 'm'))).metadata.size).toBe(count)
  })

  it.each([
    ['bad-size.msgpack', 'flax/size'],
    ['bad-shape-huge.msgpack', 'flax/shape'],
    ['bad-shape-negative.msgpack', 'flax/shape'],
    ['bad-shape-kind.msgpack', 'flax/shape'],
    ['bad-dims.msgpack', 'flax/shape'],
    ['bad-dtype-object.msgpack', 'flax/dtype'],
    ['bad-dtype-record.msgpack', 'flax/dtype'],
    ['bad-dtype-unknown.msgpack', 'flax/dtype'],
    ['bad-array-parts.msgpack', 'flax/array'],
    ['bad-array-content.msgpack', 'flax/array'],
    ['bad-array-end.msgpack', 'flax/array'],
    ['bad-array-over.msgpack', 'flax/array'],
    ['bad-complex.msgpack', 'flax/complex'],
    ['bad-cut-data.msgpack', 'msgpack/length'],
    ['bad-cut-head.msgpack', 'msgpack/truncated'],
    ['bad-cut-key.msgpack', 'msgpack/length'],
    ['bad-trailing.msgpack', 'msgpack/trailing-bytes'],
    ['bad-duplicate-key.msgpack', 'msgpack/duplicate-key'],
    ['bad-count.msgpack', 'msgpack/length'],
    ['bad-depth.msgpack', 'msgpack/depth'],
    ['bad-key-kind.msgpack', 'msgpack/key'],
    ['bad-key-utf8.msgpack', 'msgpack/utf8'],
    ['bad-text-utf8.msgpack', 'msgpack/utf8'],
    ['bad-reserved.msgpack', 'msgpack/reserved'],
    ['bad-root-list.msgpack', 'flax/root'],
    ['bad-chunk-missing.msgpack', 'flax/chunked'],
    ['bad-chunk-shape.msgpack', 'flax/chunked'],
    ['bad-chunk-types.msgpack', 'flax/chunked'],
    ['bad-chunk-none.msgpack', 'flax/chunked'],
    ['bad-chunk-foreign.msgpack', 'flax/chunked'],
    ['small-types.msgpack', 'flax/small-type'],
    ['same-name.msgpack', 'flax/same-name'],
    ['no-arrays.msgpack', 'flax/no-arrays'],
    ['extension.msgpack', 'flax/extension'],
  ])('%s: %s', async (file, code) => {
    const { findings } = await verifySource(fixtureSource('flax', file))
    expect(findings.map((finding) => finding.code)).toContain(code)
  })
})
