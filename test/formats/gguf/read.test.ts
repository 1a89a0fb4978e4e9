import { createHash } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import {
  countingSource,
  inspectModel,
  MemorySource,
  type MetaList,
  openModel,
  readPayload,
  toHex,
} from '../../../src/kit.js'
import { fixtureBytes, fixtureSource, loadCases } from '../../support/fixtures.js'
import { architecture, build, entry, info, list, sourceOf, str, textEntry, u32, u64 } from './build.js'

const typeNames: Readonly<Record<string, string>> = {
  ...{ u8: 'uint8', i8: 'int8', u16: 'uint16', i16: 'int16', u32: 'uint32', i32: 'int32', u64: 'uint64', i64: 'int64' },
  ...{ f32: 'float32', f64: 'float64', bool: 'bool', str: 'string', array: 'array' },
}

/** A value in the notation of the fixtures. */
function plain(value: ReturnType<MetaList['values']>[number]): unknown {
  if (value.type === 'array') return value.values().map(plain)
  if (value.type === 'u64' || value.type === 'i64') return String(value.value)
  const inner = (value as { value: unknown }).value
  return typeof inner === 'number' && !Number.isFinite(inner) ? String(inner) : inner
}

const described = (value: ReturnType<MetaList['values']>[number]): string =>
  value.type === 'array' ? `array<${typeNames[value.item]}>` : typeNames[value.type]!

describe('metadata', () => {
  const cases = loadCases('gguf') as { file: string; metadata?: { key: string; type: string; value: unknown }[] }[]

  it.each(cases.filter((each) => each.metadata))('of $file has every type and value', async ({ file, metadata }) => {
    const model = await openModel(fixtureSource('gguf', file))
    const found = [...model.metadata].map(([key, value]) => ({ key, type: described(value), value: plain(value) }))
    expect(found).toEqual(metadata)
  })

  it('keeps order, odd keys and bytes that are no text', async () => {
    const file = build({
      entries: [architecture, textEntry('z', 'z'), textEntry('__proto__', 'p'), textEntry('raw', [0xff, 0x41])],
    })
    const { metadata } = await openModel(sourceOf(file))
    expect([...metadata.keys()]).toEqual(['general.architecture', 'z', '__proto__', 'raw'])
    expect(metadata.get('__proto__')).toEqual({ type: 'str', value: 'p' })
    expect(metadata.get('raw')).toMatchObject({ type: 'str', bytes: Uint8Array.of(0xff, 0x41) })
  })

  it('keeps the bits of a NaN', async () => {
    const file = build({
      entries: [architecture, entry('n', 6, u32(0xffc12345)), entry('m', 12, u64(0x7ff8000000000abcn))],
    })
    const { metadata } = await openModel(sourceOf(file))
    expect(metadata.get('n')).toMatchObject({ type: 'f32', bits: 0xffc12345n })
    expect(metadata.get('m')).toMatchObject({ type: 'f64', bits: 0x7ff8000000000abcn })
  })
})

describe('a large vocabulary', () => {
  const count = 60_000
  const tokens = Array.from({ length: count }, (_, i) => `token ${i} ${'é'.repeat(i % 5)}`)
  const items = Buffer.concat(tokens.map((token) => Buffer.from(str(token))))
  const header = Buffer.concat([
    Buffer.from([...str('tokenizer.ggml.tokens'), ...u32(9), ...u32(8), ...u64(count)]),
    items,
  ])
  const file = Buffer.concat([
    Buffer.from([...new TextEncoder().encode('GGUF'), ...u32(3), ...u64(0), ...u64(2), ...architecture]),
    header,
  ])

  it('opens in a few reads, without decoding, and gives its tokens when asked', async () => {
    const reads = { reads: 0, bytes: 0 }
    const model = await openModel(countingSource(new MemorySource(new Uint8Array(file), 'v.gguf'), reads))
    expect(reads.reads).toBeLessThanOrEqual(5)
    expect(reads.bytes).toBeLessThanOrEqual(file.length)
    const list = model.metadata.get('tokenizer.ggml.tokens') as MetaList
    expect([list.length, list.item]).toEqual([count, 'str'])
    const values = list.values()
    expect(values.map((value) => (value as { value: string }).value)).toEqual(tokens)
  })

  it('gives some of its tokens without decoding the others', async () => {
    const { metadata } = await openModel(new MemorySource(new Uint8Array(file), 'v.gguf'))
    const list = metadata.get('tokenizer.ggml.tokens') as MetaList
    const decoded = vi.spyOn(TextDecoder.prototype, 'decode')
    const texts = (from: number, to: number) => list.slice!(from, to).map((value) => (value as { value: string }).value)
    expect(texts(0, 3)).toEqual(tokens.slice(0, 3))
    expect(texts(count - 2, count + 5)).toEqual(tokens.slice(-2))
    expect([texts(5, 5), texts(count, count + 1)]).toEqual([[], []])
    expect(decoded).toHaveBeenCalledTimes(5)
    decoded.mockClear()
    const shown = inspectModel({ format: 'gguf', metadata, tensors: [], parts: [], files: [] })
    expect(shown.metadata['tokenizer.ggml.tokens']).toMatchObject({ length: count })
    expect(decoded.mock.calls.length).toBeLessThan(100)
    decoded.mockRestore()
  })

  it('has the text of the fixture', async () => {
    const { metadata } = await openModel(fixtureSource('gguf', 'vocab.gguf'))
    const values = (metadata.get('tokenizer.ggml.tokens') as MetaList).values()
    const wanted = loadCases('gguf').find((each) => each.file === 'vocab.gguf') as unknown as {
      vocabulary: { count: number; sha256_newline_joined: string }
    }
    const joined = values.map((value) => (value as { value: string }).value).join('\n')
    expect(values.length).toBe(wanted.vocabulary.count)
    expect(createHash('sha256').update(joined).digest('hex')).toBe(wanted.vocabulary.sha256_newline_joined)
  })
})

describe('tensors', () => {
  it('have reversed dimensions, and none at all when they are scalars', async () => {
    const file = build({
      infos: [info({ name: 'a', dims: [2, 3, 1] }), info({ name: 's', dims: [], offset: 32 })],
      data: 36,
    })
    const { tensors } = await openModel(sourceOf(file))
    expect(tensors.map((tensor) => [tensor.name, tensor.shape])).toEqual([
      ['a', [1, 3, 2]],
      ['s', []],
    ])
    expect(toHex(await readPayload(tensors.at(1)!.data!))).toBe('21222324')
  })

  it('reads version 1, whose lengths have four bytes', async () => {
    const warnings: string[] = []
    const onFinding = ({ code }: { code: string }) => warnings.push(code)
    const model = await openModel(fixtureSource('gguf', 'v1.gguf'), { onFinding })
    expect(model.version).toBe('1')
    expect(model.metadata.get('general.architecture')).toMatchObject({ type: 'str' })
    expect(model.tensors.length).toBeGreaterThan(0)
    expect(warnings).toContain('gguf/old-version')
  })
})

describe('big-endian files', () => {
  it('give little-endian bytes, also in parts', async () => {
    const model = await openModel(fixtureSource('gguf', 'big-endian-quant.gguf'))
    expect(model.variant).toBe('big-endian')
    const file = fixtureBytes('gguf', 'big-endian-quant.gguf')
    const q8 = model.tensors.find((tensor) => tensor.dtype.id === 'ggml.q8_0')!
    const whole = await readPayload(q8.data!)
    for (const [offset, length] of [
      [0, 1],
      [1, 1],
      [33, 5],
      [34, 34],
      [whole.length - 3, 3],
      [5, 0],
    ] as const) {
      expect(await q8.data!.read!(offset, length)).toEqual(whole.subarray(offset, offset + length))
    }
    // The scale of the first block is turned round, its codes are not.
    const at = Buffer.from(file).indexOf(Buffer.from([whole[1]!, whole[0]!, ...whole.subarray(2, 34)]))
    expect(at).toBeGreaterThan(0)
    const pieces: number[] = []
    for await (const chunk of q8.data!.chunks(7)) pieces.push(...chunk)
    expect(Uint8Array.from(pieces)).toEqual(whole)
  })

  it('warn about blocks whose byte order nobody defines', async () => {
    const file = Buffer.from(build({ infos: [info({ type: 3, dims: [32] })], data: 20 }))
    const swapped = toBigEndian(file)
    const warnings: string[] = []
    const model = await openModel(sourceOf(swapped), { onFinding: ({ code }) => warnings.push(code) })
    expect(warnings).toContain('gguf/byte-order-type')
    expect(toHex((await readPayload(model.tensors.at(0)!.data!)).subarray(0, 6))).toBe('020104030506')
  })
})

/** The one-tensor file of `build`, with its integers the other way round. */
function toBigEndian(file: Buffer): Uint8Array {
  const out = Buffer.from(file)
  let at = 4
  const swap = (size: number): void => {
    out.subarray(at, at + size).reverse()
    at += size
  }
  const text = (): void => {
    const length = Number(file.readBigUInt64LE(at))
    swap(8)
    at += length
  }
  swap(4)
  swap(8)
  swap(8)
  text()
  swap(4)
  text()
  text()
  swap(4)
  swap(8)
  swap(4)
  swap(8)
  return new Uint8Array(out)
}

it('lists of lists are decoded level by level', async () => {
  const inner = [...list(4, 2, [...u32(7), ...u32(8)]), ...list(8, 1, str('x'))]
  const { metadata } = await openModel(sourceOf(build({ entries: [architecture, entry('n', 9, list(9, 2, inner))] })))
  const outer = (metadata.get('n') as MetaList).values() as readonly MetaList[]
  expect(outer.map((each) => [each.item, each.length])).toEqual([
    ['u32', 2],
    ['str', 1],
  ])
  expect(outer[0]!.values()[1]).toEqual({ type: 'u32', value: 8 })
})
