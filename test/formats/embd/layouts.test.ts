// Telling the two layouts apart, and reading no more than is needed.
import { describe, expect, it } from 'vitest'
import { countingSource, formatById, MemorySource, mapSource, openModel, verifySource } from '../../../src/kit.js'
import { codesOf, layoutOf, sampleFile, streamOf, writeEmbd } from './build.js'

const open = (bytes: Uint8Array) => openModel(new MemorySource(bytes, 'x.weights'))

describe('the layout', () => {
  it('is stream when a stream merely ends like a sectioned file', async () => {
    const tensor = [3, 'k.w', 1, 16, new Uint8Array(64)] as const
    const bytes = streamOf(1, 1, ...tensor, 1, 12, 'abcdDBME\0\0\0\0')
    expect(new TextDecoder().decode(bytes.subarray(-8, -4))).toBe('DBME')
    const model = await open(bytes)
    expect([model.variant, model.version]).toEqual(['stream', '1'])
    expect(await codesOf(bytes)).toEqual([])
  })

  it('is sectioned when a sectioned file can be walked as a stream', async () => {
    // Without flags, the tensor count of a stream is 0 and the metadata offset its token count.
    const model = sampleFile()
    const bytes = await writeEmbd({ ...model, parts: [] }, { checksums: 'off' }, 1)
    expect(new DataView(bytes.buffer).getUint32(8, true)).toBe(0)
    expect((await open(bytes)).variant).toBe('sectioned')
  })

  it.each(['on', 'off'])('stays sectioned for every cut behind the header (checksums %s)', async (checksums) => {
    const bytes = await writeEmbd(sampleFile(), { checksums })
    for (let end = 64; end < bytes.byteLength; end += 7) {
      expect(await codesOf(bytes.subarray(0, end)), `cut at ${end}`).toContain('embd/total-file-size')
    }
  })

  it('is told from a damaged header by the rest of the signs', async () => {
    const bytes = await writeEmbd(sampleFile())
    for (const damage of [8, 13, 20, 40, 57]) {
      const damaged = bytes.map((byte, i) => (i === damage ? byte + 64 : byte))
      const { findings, verdict } = await verifySource(new MemorySource(damaged))
      expect(verdict).toBe('errors')
      expect(findings.map(({ code }) => code)).toContain('embd/header-crc')
    }
  })

  it('is shown by inspect, with the manner of writing', async () => {
    const model = await open(await writeEmbd(sampleFile(), { checksums: 'off' }))
    expect(model.parts[0]).toMatchObject({
      kind: 'embd.layout',
      sharing: 'derived',
      value: { layout: 'sectioned', aligned: true, checksums: false },
    })
  })

  it('is no matter of the name, except where the magic is wrong', () => {
    const { detect } = formatById('embd')!
    const head = (text: string): Uint8Array => new TextEncoder().encode(text)
    expect(detect(head('EMBD\u0001\0\0\0'), 'anything', 8)).toBe('yes')
    expect(detect(head('EMBd\u0001\0\0\0'), 'model.bin', 8)).toBe('maybe')
    expect(detect(head('PK\u0003\u0004'), 'model.bin', 8)).toBe('no')
    expect(detect(head('????'), 'model.weights', 8)).toBe('maybe')
    expect(detect(head('????'), 'model.safetensors', 8)).toBe('no')
  })
})

describe('reading a stream', () => {
  it('skips the data, and fetches records that follow each other together', async () => {
    const large = [3, 'k.w', 1, 1 << 20, new Uint8Array(1 << 22)] as const
    const small = (name: string) => [name.length, name, 1, 1, new Uint8Array(4)]
    const names = Array.from({ length: 3000 }, (_, i) => `tensor.${i}`)
    const bytes = streamOf(1, names.length + 1, ...large, ...names.flatMap(small), 0)
    const count = { reads: 0, bytes: 0 }
    const model = await openModel(countingSource(new MemorySource(bytes), count))
    expect(model.tensors).toHaveLength(3001)
    expect(count.reads).toBeLessThan(20)
    expect(count.bytes).toBeLessThan(500_000)
  })

  it('accounts for every byte, and shows what follows the tokens as a gap', async () => {
    const bytes = streamOf(1, 1, 1, 'w', 1, 1, new Uint8Array(4), 1, 1, 'a', new Uint8Array(3))
    const { files } = await mapSource(new MemorySource(bytes))
    const paths = files[0]!.extents.map(({ path, kind }) => path || kind)
    expect(paths).toEqual([
      'header.magic',
      'header.version',
      'header.tensor_count',
      'tensors[0].name_length',
      'tensors[0].name',
      'tensors[0].ndim',
      'tensors[0].shape[0]',
      'data["w"]',
      'vocab.count',
      'vocab.tokens[0]',
      'gap',
    ])
  })
})

describe('a file with many tensors', () => {
  it('is read in linear time', async () => {
    const { sampleTensor, sampleModel } = await import('../../support/sample-model.js')
    const tensors = Array.from({ length: 5000 }, (_, i) => sampleTensor(`block.${i}.weight`, 'u8', [1], i))
    const bytes = await writeEmbd(sampleModel(tensors))
    const started = performance.now()
    expect((await open(bytes)).tensors).toHaveLength(5000)
    expect(performance.now() - started).toBeLessThan(5000)
    expect(layoutOf(bytes).count).toBe(5000)
  })
})
