import { describe, expect, it } from 'vitest'
import { MemorySource } from '../../../src/bytes/index.js'
import { digestOf } from '../../../src/digest/index.js'
import {
  formats,
  type Layout,
  lazyPayload,
  type Model,
  openModel,
  planConversion,
  type Tensor,
} from '../../../src/kit.js'
import { bytesPayload, type FileLayout, fileLength, type Slot } from '../../../src/model/index.js'
import { finishFile } from '../../../src/writing/ranges/finish-file.js'
import { type OutputRange, rangeOf } from '../../../src/writing/ranges/range-of.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'

const bytes = (length: number, seed = 1): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8) + seed * 17) % 251)

async function taken(range: OutputRange): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of range.chunks()) chunks.push(chunk.slice())
  return new Uint8Array(Buffer.concat(chunks))
}

const layoutOf = (...slots: Slot[]): Layout => ({ files: [{ name: 'f', slots }] })

describe('rangeOf', () => {
  it('leaves late bytes blank, and takes them where they are known', async () => {
    const data = bytes(3000)
    const layout = layoutOf(
      { kind: 'digest', path: 'hash', algorithm: 'blake3', length: 32, covers: [[32, 3032]] },
      { kind: 'payload', path: 'data', payload: bytesPayload(data) },
    )
    const range = rangeOf(layout, 'f', 16, 1000)
    expect(await taken(range)).toEqual(new Uint8Array([...new Uint8Array(16), ...data.subarray(0, 968)]))
    const rest = rangeOf(layout, 'f', 1000, 3032)
    await taken(rest)
    const late = await finishFile(layout, 'f', [rest.sums(), range.sums()])
    expect(late).toEqual(new Map([[0, await digestOf('blake3', data)]]))
    expect((await taken(rangeOf(layout, 'f', 0, 100, { late }))).subarray(0, 32)).toEqual(late.get(0))
  })

  it('makes bytes that follow from hashes of bytes that follow from hashes', async () => {
    const data = bytes(5000)
    const track = (start: number, end: number) => ({
      algorithm: 'blake3' as const,
      starts: Float64Array.of(start),
      ends: Float64Array.of(end),
    })
    const never = lazyPayload(40, () => {
      throw new Error('this would read everything')
    })
    const derived = (start: number, end: number): Slot => ({
      kind: 'payload',
      path: 'derived',
      payload: never,
      derived: {
        needs: [track(start, end)],
        make: ([digest]) => new Uint8Array([...digest!, ...new Uint8Array(8)]),
      },
    })
    const layout = layoutOf(derived(40, 80), derived(80, 5080), {
      kind: 'payload',
      path: 'data',
      payload: bytesPayload(data),
    })
    const parts = [rangeOf(layout, 'f', 0, 700), rangeOf(layout, 'f', 700, 5080)]
    for (const part of parts) await taken(part)
    const late = await finishFile(
      layout,
      'f',
      parts.map((part) => part.sums()),
    )
    const inner = new Uint8Array([...(await digestOf('blake3', data)), ...new Uint8Array(8)])
    expect(late.get(40)).toEqual(inner)
    expect(late.get(0)!.subarray(0, 32)).toEqual(await digestOf('blake3', inner))
  })

  it('says which bytes have not been made', async () => {
    const layout = layoutOf(
      { kind: 'payload', path: 'data', payload: bytesPayload(bytes(100)) },
      { kind: 'digest', path: 'crc', algorithm: 'crc32', length: 4, covers: [[10, 100]] },
    )
    const range = rangeOf(layout, 'f', 0, 50)
    await taken(range)
    const work = finishFile(layout, 'f', [range.sums()])
    await expect(work).rejects.toMatchObject({ code: 'write/range-missing', finding: { offset: 10, length: 90 } })
  })

  it('refuses what is not in the output, payloads of another length, and work that was aborted', async () => {
    const short = lazyPayload(100, async function* () {
      yield bytes(60)
    })
    const layout = layoutOf({ kind: 'payload', path: 'data', payload: short })
    expect(() => rangeOf(layout, 'other', 0, 1)).toThrow(expect.objectContaining({ code: 'io/not-found' }))
    expect(() => rangeOf(layout, 'f', 50, 101)).toThrow(expect.objectContaining({ code: 'io/out-of-range' }))
    expect(() => rangeOf(layout, 'f', 0, 10).sums()).toThrow('when all of it has been made')
    await expect(taken(rangeOf(layout, 'f', 50, 90))).rejects.toMatchObject({ code: 'write/layout-mismatch' })
    const signal = AbortSignal.abort()
    await expect(taken(rangeOf(layout, 'f', 0, 10, { signal }))).rejects.toMatchObject({ code: 'io/aborted' })
  })
})

describe('a range from the middle', () => {
  class Counting extends MemorySource {
    count = 0
    override async read(...request: Parameters<MemorySource['read']>) {
      this.count += request[1]
      return super.read(...request)
    }
    override async readInto(...request: Parameters<MemorySource['readInto']>) {
      this.count += request[1].byteLength
      return super.readInto(...request)
    }
  }
  const streaming = ['safetensors', 'gguf', 'aero', 'npz', 'embd', 'oinf', 'mcf']
  const targets = formats.filter(({ id }) => streaming.includes(id)).map(({ id }) => id)

  it.each([
    ['aero', { quantize: { method: 'q8_0' } }],
    ...['q8', 'q4', 'k4', 'int8'].map((method) => ['mcf', { quantize: { method, clip: [-1, 1] as const } }] as const),
  ] as const)('of %s with %j reads the rows that it needs', async (target, options) => {
    const values = new Float32Array(2048 * 512).map((_, i) => Math.sin(i))
    const tensor: Tensor = {
      ...sampleTensor('w.weight', 'f32', [2048, 512]),
      data: bytesPayload(new Uint8Array(values.buffer)),
    }
    const [input] = (await convertToFiles(sampleModel([tensor]), 'safetensors', { name: 'in.safetensors' })).values()
    const source = new Counting(input!, 'in.safetensors')
    const { layout } = await planConversion(await openModel(source), target, {
      ...{ name: 'out', deterministic: true, resolved: { ranges: new Map() } },
      ...options,
    })
    const file = layout.files[0] as FileLayout
    const middle = Math.floor(fileLength(file) / 2)
    source.count = 0
    await taken(rangeOf(layout, file.name, middle, middle + 10_000, { window: 8192 }))
    expect(source.count).toBeGreaterThan(0)
    expect(source.count).toBeLessThan(2048 * 512)
  })

  it('of a tensor in the other order reads what it needs of each line', async () => {
    const model = sampleModel([sampleTensor('w', 'f32', [16, 65_536])])
    const [input] = (await convertToFiles(model, 'safetensors', { name: 'in.safetensors' })).values()
    const source = new Counting(input!, 'in.safetensors')
    const { layout } = await planConversion(await openModel(source), 'primitiv', { name: 'out' })
    const file = layout.files[0] as FileLayout
    const middle = Math.floor(fileLength(file) / 2)
    source.count = 0
    await taken(rangeOf(layout, file.name, middle, middle + 10_000, { window: 8192 }))
    expect(source.count).toBeGreaterThan(0)
    expect(source.count).toBeLessThan(100_000)
  })

  it.each(targets)('of %s reads no more than it needs', async (target) => {
    const model = sampleModel(Array.from({ length: 4 }, (_, i) => sampleTensor(`t${i}`, 'f32', [512, 512], i)))
    const [input] = (await convertToFiles(model, 'safetensors', { name: 'in.safetensors' })).values()
    const source = new Counting(input!, 'in.safetensors')
    const opened: Model = await openModel(source)
    const { layout } = await planConversion(opened, target, { name: 'out', cast: 'f16', deterministic: true })
    const file = layout.files[0] as FileLayout
    const middle = Math.floor(fileLength(file) / 2)
    source.count = 0
    await taken(rangeOf(layout, file.name, middle, middle + 10_000, { window: 8192 }))
    expect(source.count).toBeGreaterThan(0)
    expect(source.count).toBeLessThan(100_000)
  })
})
