// Checking some tensors alone: damage in them is found, damage elsewhere is not looked for, and nothing else of the weights is read.

import { describe, expect, it } from 'vitest'
import { collectingReport, type Finding } from '../../../src/errors/index.js'
import { checkFile } from '../../../src/formats/aero/check.js'
import { fileOf } from '../../../src/formats/aero/file.js'
import { checkSet } from '../../../src/formats/aero/set/check-set.js'
import { setOf } from '../../../src/formats/aero/set/read-set.js'
import {
  type ByteSource,
  countingSource,
  MemorySource,
  type Model,
  type OptionValues,
  openModel,
  type ReadCount,
} from '../../../src/kit.js'
import { type CheckContext, defaultLimits } from '../../../src/model/index.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { aeroBytes, entry, index, weights } from './build.js'

const tensors = [
  sampleTensor('a', 'u8', [1000], 1),
  sampleTensor('b', 'f32', [40_000], 2),
  sampleTensor('c', 'u8', [0], 3),
]

async function check(model: Model, names: readonly string[]): Promise<{ codes: string[]; checked: number }> {
  const findings: Finding[] = []
  let checked = 0
  const context: CheckContext = {
    report: collectingReport('test', findings),
    limits: defaultLimits,
    lenient: false,
    extra: {},
    only: new Set(names),
    checked: (bytes) => {
      checked += bytes
    },
  }
  const file = fileOf(model)
  await (file ? checkFile(file, context) : checkSet(setOf(model)!, context))
  return { codes: findings.map(({ code }) => code), checked }
}

const written = async (extra: OptionValues): Promise<Uint8Array> =>
  [...(await convertToFiles(sampleModel(tensors), 'aero', { name: 'model.aero', extra })).values()][0]!.slice()

const placeOf = (model: Model, name: string): number =>
  [...model.tensors].find((tensor) => tensor.name === name)!.data!.origin!.offset

async function damaged(bytes: Uint8Array, name: string, at: number): Promise<ByteSource> {
  const model = await openModel(new MemorySource(bytes.slice()))
  const copy = bytes.slice()
  copy[placeOf(model, name) + at]! ^= 1
  return new MemorySource(copy)
}

describe('checking named tensors', () => {
  it.each([
    ['its own hash', {}, 'aero/tensor-hash-b3'],
    ['its pages', { 'tensor-hashes': false, 'page-hashes': 256 }, 'aero/phsh-digest'],
    ['the chunk', { 'tensor-hashes': false }, 'aero/chunk-hash'],
  ] as const)('compares %s', async (_, extra, code) => {
    const bytes = await written(extra)
    const model = await openModel(await damaged(bytes, 'b', 100_000))
    expect((await check(model, ['b'])).codes).toEqual([code])
    expect((await check(model, ['b', 'a'])).codes).toEqual([code])
    expect((await check(model, [])).codes).toEqual([])
    expect((await check(model, ['c', 'no such tensor'])).codes).toEqual([])
    expect((await check(await openModel(new MemorySource(bytes)), ['a', 'b', 'c'])).codes).toEqual([])
  })

  it('does not look at damage elsewhere, where something narrower than the chunk covers the tensor', async () => {
    for (const extra of [{}, { 'tensor-hashes': false, 'page-hashes': 256 }]) {
      const model = await openModel(await damaged(await written(extra), 'b', 100_000))
      expect(await check(model, ['a'])).toEqual({ codes: [], checked: 1000 })
    }
  })

  it('reads the tensor and nothing else of the weights', async () => {
    for (const [extra, most] of [
      [{}, 1000],
      [{ 'tensor-hashes': false, 'page-hashes': 256 }, 4 * 256 + 30_000],
    ] as const) {
      const count: ReadCount = { reads: 0, bytes: 0 }
      const model = await openModel(countingSource(new MemorySource(await written(extra)), count))
      const before = count.bytes
      await check(model, ['a'])
      expect(count.bytes - before).toBeLessThanOrEqual(most)
    }
  })

  it('counts a malformed hash as a wrong one', async () => {
    const bytes = await aeroBytes([index(entry('a', { hash_b3: 'x' }), entry('b', { data_off: 4 })), weights()])
    const model = await openModel(new MemorySource(bytes))
    expect((await check(model, ['a'])).codes).toEqual(['aero/tensor-hash-b3'])
    expect((await check(model, ['b'])).codes).toEqual([])
  })

  it('compares the control hash whatever is named', async () => {
    const bytes = await written({ 'control-hash': true })
    const model = await openModel(new MemorySource(bytes))
    bytes[60]! ^= 1 // the uuid
    expect((await check(model, [])).codes).toEqual(['aero/ihsh-digest'])
  })
})

describe('checking named tensors of a set', () => {
  const extra = { 'part-shards': 1 }
  const set = (): Promise<Map<string, Uint8Array>> =>
    convertToFiles(sampleModel(tensors), 'aeroset', { name: 'model.aeroset.json', extra, shardSize: 2000 })

  it('opens the parts that hold them, and no others', async () => {
    const files = new Map(await set())
    expect([...files.keys()]).toContain('part-001.aero')
    const whole = await openModel(sourceOf(files))
    expect((await check(whole, ['a', 'b', 'c'])).codes).toEqual([])
    const part = files.get('part-001.aero')!.slice()
    part[placeOf(await openModel(new MemorySource(part.slice())), 'b')]! ^= 1
    files.set('part-001.aero', part)
    expect((await check(await openModel(sourceOf(files)), ['b'])).codes).toEqual(['aero/tensor-hash-b3'])
    expect((await check(await openModel(sourceOf(files)), ['a'])).codes).toEqual([])
    files.delete('part-001.aero')
    expect((await check(await openModel(sourceOf(files)), ['a'])).codes).toEqual([])
    await expect(check(await openModel(sourceOf(files)), ['b'])).rejects.toMatchObject({ code: 'aeroset/part-missing' })
  })
})
