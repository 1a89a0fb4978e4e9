// What no reader understands and every copy must keep: chunks of any type, and bytes that do not go with their type and shape.
import { describe, expect, it } from 'vitest'
import { diffModels, formats, MemorySource, openModel, readPayload, verifySource } from '../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'
import { aeroBytes, codesOf, entry, index, weights } from './build.js'

const targets = formats
  .filter(({ id, capabilities }) => capabilities.write && id !== 'npy' && id !== 'primitiv')
  .map(({ id }) => id)

const namesOf = (target: string): string => `model${formats.find(({ id }) => id === target)!.extensions[0]}`

describe('a chunk of a type that is not text', () => {
  it.each(targets)('comes back from %s', async (target) => {
    const fourccs = ['\u0004\u0000\u0000\u0000', '\u00ff\u00fe\u0000\u0080', 'XTRA']
    const odd = fourccs.map((fourcc, i) => ({ fourcc, name: `n${i}`, bytes: Uint8Array.of(i, 200, 0) }))
    const bytes = await aeroBytes([index(entry('a')), weights(), ...odd])
    const model = await openModel(new MemorySource(bytes, 'x.aero'))
    const there = await openModel(sourceOf(await convertToFiles(model, target, { name: namesOf(target) })))
    expect((await diffModels(model, there)).equal).toBe(true)
    const files = await convertToFiles(there, 'aero', { name: 'back.aero' })
    const back = await openModel(sourceOf(files))
    expect((await diffModels(model, back)).equal).toBe(true)
    expect(back.parts.flatMap(({ value }) => (value as { fourcc?: string }).fourcc ?? [])).toEqual(fourccs)
    expect((await verifySource(sourceOf(files))).verdict).toBe('ok')
  })
})

describe('a tensor whose bytes do not go with its type and shape', () => {
  const cases = [
    ['fewer', entry('a', { dtype: 1, shape: [5, 2], data_len: 20 })],
    ['more', entry('a', { dtype: 1, shape: [4], data_len: 20 })],
    ['as many as elements', entry('a', { dtype: 0, shape: [20], data_len: 20 })],
    ['none', entry('a', { dtype: 1, shape: [5], data_len: 0 })],
    ['some of nothing', entry('a', { dtype: 1, shape: [0], data_len: 4 })],
  ] as const
  describe.each(cases)('%s', (_, odd) => {
    it.each(targets)('is kept as bytes in %s', async (target) => {
      const bytes = await aeroBytes([index(odd, entry('b', { data_off: 20 })), weights(24)])
      expect(codesOf(await verifySource(new MemorySource(bytes, 'x.aero')))).toEqual(['aero/tensor-shape-vs-len'])
      const model = await openModel(new MemorySource(bytes, 'x.aero'))
      const { dtype, shape, data } = model.tensors.at(0)!
      expect([dtype.id, shape]).toEqual(['packed', odd.shape])
      const isOwn = target.startsWith('aero') // rewritten, not copied
      const files = await convertToFiles(model, target, { name: namesOf(target), ...(isOwn && { align: 16 }) })
      expect((await verifySource(sourceOf(files))).findings.filter(({ severity }) => severity === 'error')).toEqual([])
      const there = await openModel(sourceOf(files))
      expect((await diffModels(model, there)).equal).toBe(true)
      const back = await openModel(sourceOf(await convertToFiles(there, 'aero', { name: 'back.aero' })))
      const own = back.tensors.find(({ name }) => name === 'a')!
      expect(await readPayload(own.data!)).toEqual(await readPayload(data!))
      expect([own.dtype.id, own.shape, own.extra]).toEqual(['packed', odd.shape, { dtype: odd.dtype }])
    })
  })
})
