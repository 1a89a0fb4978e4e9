import { describe, expect, it } from 'vitest'
import {
  countingSource,
  MemorySource,
  openModel,
  type ReadCount,
  readPayload,
  withVerifiedReads,
} from '../../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../../support/convert.js'
import { sampleModel, sampleTensor } from '../../../support/sample-model.js'

const tensors = [sampleTensor('a', 'u8', [1000], 1), sampleTensor('b', 'f32', [40_000], 2)]
const write = (extra: Record<string, string | number | boolean>, target = 'aero') =>
  convertToFiles(sampleModel(tensors), target, { name: 'model.aeroset.json', extra })

const truth = (i: number) => readPayload(tensors[i]!.data!)

describe('verified reads', () => {
  it('compare exactly the pages that a slice lies in', async () => {
    const bytes = [...(await write({ 'page-hashes': 256 })).values()][0]!
    const count: ReadCount = { reads: 0, bytes: 0 }
    const { model, proof } = await withVerifiedReads(await openModel(countingSource(new MemorySource(bytes), count)))
    const slice = await model.tensors.at(1)!.data!.read!(100_000, 300)
    expect(slice).toEqual((await truth(1)).subarray(100_000, 100_300))
    expect(proof).toEqual({
      against: ['page hashes of weights.shard0'],
      pages: 2,
      pageBytes: 300,
      tensorBytes: 0,
      unprovenBytes: 0,
    })
    const before = count.bytes
    await model.tensors.at(1)!.data!.read!(100_000, 300)
    expect(count.bytes - before).toBe(2 * 256)
    expect(await readPayload(model.tensors.at(0)!.data!)).toEqual(await truth(0))
    expect(await model.tensors.at(0)!.data!.read!(1000, 0)).toEqual(new Uint8Array(0))
  })

  it('see damage in pages that are read, and only there', async () => {
    const bytes = [...(await write({ 'page-hashes': 256 })).values()][0]!.slice()
    const plain = await openModel(new MemorySource(bytes))
    bytes[plain.tensors.at(1)!.data!.origin!.offset + 10_100]! ^= 1
    const { model } = await withVerifiedReads(plain)
    await expect(model.tensors.at(1)!.data!.read!(10_000, 10)).rejects.toMatchObject({ code: 'aero/phsh-digest' })
    await expect(readPayload(model.tensors.at(1)!.data!)).rejects.toMatchObject({ code: 'aero/phsh-digest' })
    expect(await model.tensors.at(1)!.data!.read!(0, 500)).toEqual((await truth(1)).subarray(0, 500))
  })

  it('do not trust a damaged page table', async () => {
    const bytes = [...(await write({ 'page-hashes': 256 })).values()][0]!.slice()
    const at = Buffer.from(bytes).indexOf('digests')
    bytes[at + 40]! ^= 1
    const { model } = await withVerifiedReads(await openModel(new MemorySource(bytes)))
    await expect(model.tensors.at(0)!.data!.read!(0, 1)).rejects.toMatchObject({ code: 'aero/chunk-hash' })
  })

  it('compare the whole tensor where it has a hash of its own', async () => {
    const bytes = [...(await write({})).values()][0]!.slice()
    const plain = await openModel(new MemorySource(bytes))
    const { model, proof } = await withVerifiedReads(plain)
    expect(await model.tensors.at(1)!.data!.read!(40, 8)).toEqual((await truth(1)).subarray(40, 48))
    expect(await readPayload(model.tensors.at(1)!.data!)).toEqual(await truth(1))
    expect(proof).toEqual({
      against: ['hash_b3 of the tensor'],
      pages: 0,
      pageBytes: 0,
      tensorBytes: 160_008,
      unprovenBytes: 0,
    })
    const limited = await withVerifiedReads(plain, { wholeTensorLimit: 100 })
    await limited.model.tensors.at(1)!.data!.read!(40, 8)
    expect(limited.proof!.unprovenBytes).toBe(8)
    bytes[plain.tensors.at(1)!.data!.origin!.offset + 159_999]! ^= 1
    const [, damaged] = (await withVerifiedReads(plain)).model.tensors
    await expect(damaged!.data!.read!(40, 8)).rejects.toMatchObject({ code: 'aero/tensor-hash-b3' })
    await expect(readPayload(damaged!.data!)).rejects.toMatchObject({ code: 'aero/tensor-hash-b3' })
  })

  it.each([
    ['pages', { 'page-hashes': 4096 }, 40],
    ['the tensor', {}, 0],
  ])('fetch %s once for a slice that is read in many pieces', async (_, extra, pages) => {
    const bytes = [...(await write(extra)).values()][0]!
    const count: ReadCount = { reads: 0, bytes: 0 }
    const { model, proof } = await withVerifiedReads(await openModel(countingSource(new MemorySource(bytes), count)))
    const whole = await truth(1)
    const { data } = model.tensors.at(1)!
    await data!.read!(0, 1)
    const before = count.bytes
    for (let at = 0; at < 160_000; at += 400) {
      expect(Buffer.compare(await data!.read!(at, 4), whole.subarray(at, at + 4))).toBe(0)
    }
    expect(count.bytes - before).toBeLessThanOrEqual(160_000)
    expect([proof!.pages, proof!.unprovenBytes]).toEqual([pages, 0])
  })

  it('fetch a page once for the tensors that it holds', async () => {
    const bytes = [...(await write({ 'page-hashes': 1 << 20 })).values()][0]!
    const { model, proof } = await withVerifiedReads(await openModel(new MemorySource(bytes)))
    for (const [i, { data }] of model.tensors.entries())
      expect(Buffer.compare(await readPayload(data!), await truth(i))).toBe(0)
    expect(proof).toMatchObject({ pages: 1, pageBytes: 161_000 })
  })

  it('say what nothing vouches for', async () => {
    const files = await write({ 'tensor-hashes': 'off' })
    const { model, proof } = await withVerifiedReads(await openModel(sourceOf(files)))
    await readPayload(model.tensors.at(0)!.data!)
    expect(proof).toEqual({ against: [], pages: 0, pageBytes: 0, tensorBytes: 0, unprovenBytes: 1000 })
  })

  it('work through a set', async () => {
    const files = await write({ 'page-hashes': 512 }, 'aeroset')
    const { model, proof } = await withVerifiedReads(await openModel(sourceOf(files)))
    expect(await model.tensors.at(1)!.data!.read!(0, 100)).toEqual((await truth(1)).subarray(0, 100))
    expect(proof).toMatchObject({ pages: 2, pageBytes: 100 }) // its bytes begin in the middle of a page
  })
})
