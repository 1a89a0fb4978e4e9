// Long tables, long names, and records that are read with a byte map and without.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultWindow, ExtentList } from '../../../../src/bytes/index.js'
import { MemorySource, openModel } from '../../../../src/kit.js'
import { readWith } from '../../../support/read-with.js'
import { bytes, craft, quant } from '../build.js'

const small = (version: number): Uint8Array =>
  craft({
    version,
    tensors: [
      { name: 'b', tag: 1, dims: [2], data: bytes(1, 2) },
      { name: 'a.weight', tag: 10, dims: [1, 2], data: bytes(1, 2, 3, 4, 5, 6, 7, 8) },
      { name: 'c-_2f_-d', tag: 5, dims: [], data: bytes(1) },
      { name: 'e', tag: 5, dims: [0, 7], ...(version === 2 && { quant: quant() }) },
      { name: 'f', tag: 5, dims: [3], data: bytes(1, 2, 3) },
    ],
  })

describe('tensor records', () => {
  it('say the same with a byte map and without', async () => {
    const files = [small(1), small(2)]
    const change = fc.record({ at: fc.nat(420), value: fc.constantFrom(0, 1, 2, 5, 8, 13, 0x61, 0x80, 0xff) })
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...files), fc.array(change, { maxLength: 3 }), async (original, changes) => {
        const file = original.slice()
        for (const { at, value } of changes) file[72 + (at % (file.length - 72))] = value
        expect(await readWith('oinf', file, undefined)).toEqual(await readWith('oinf', file, new ExtentList()))
      }),
      { numRuns: 500 },
    )
  })

  it('are read when names are longer than a megabyte', async () => {
    const names = ['a', 'b', 'c'].map((letter) => letter.repeat(defaultWindow - 20))
    names.splice(1, 0, 'aaa', `b${'b'.repeat(2 * defaultWindow)}`)
    const tensors = names.map((name, i) => ({ name, tag: 5, dims: [1], data: bytes(i) }))
    const model = await openModel(new MemorySource(craft({ tensors }), 'model.oinf'))
    expect(Array.from(model.tensors, ({ name }) => name)).toEqual(names)
    const read = await Promise.all(Array.from(model.tensors, ({ data }) => data!.read!(0, 1)))
    expect(read.map(([byte]) => byte)).toEqual([0, 1, 2, 3, 4])
  })

  it('keep their places in a long table', async () => {
    const tensors = Array.from({ length: 30_000 }, (_, i) => ({
      name: `t${String(i).padStart(6, '0')}`,
      tag: i === 25_000 ? 99 : 5,
      dims: [1],
      data: bytes(i % 256),
    }))
    const { findings, tensors: read } = await readWith('oinf', craft({ tensors }), undefined)
    expect(findings.map(({ code, path }) => [code, path])).toContainEqual(['oinf/tensor-type', 'tensors[25000].dtype'])
    expect(read.map(({ name }) => name)).toEqual(tensors.filter(({ tag }) => tag === 5).map(({ name }) => name))
  })
})
