// NPY and NPZ: what is written is read back, with NumPy's own bytes, and every check fires.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bytesPayload,
  dtypeById,
  hashModel,
  MemorySource,
  type Model,
  mapSource,
  openModel,
  planConversion,
  rowMajor,
  type Tensor,
  verifySource,
} from '../../../src/kit.js'
import { readPayload } from '../../../src/model/index.js'
import { npyHeaderOf } from '../../../src/wire/npy/header.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'
import { fixtureBytes, fixtureSource, loadCases } from '../../support/fixtures.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { type CraftMember, craftZip } from '../../wire/zip/build.js'

const numeric = ['f64', 'f32', 'f16', 'i64', 'i32', 'i16', 'i8', 'u64', 'u32', 'u16', 'u8', 'bool', 'c64', 'c128']

const tensorArb = fc
  .record({
    name: fc.string({ maxLength: 12, unit: 'grapheme' }).filter((name) => !name.includes('\0')),
    dtype: fc.constantFrom(...numeric),
    shape: fc.array(fc.nat(5), { maxLength: 4 }),
    order: fc.constantFrom('row' as const, 'column' as const),
    seed: fc.nat(1000),
  })
  .map(({ name, dtype, shape, order, seed }): Tensor => ({ ...sampleTensor(name, dtype, shape, seed), order }))

const array = (descr: string, shape: number[], data: number[], fortran = false): Uint8Array =>
  Uint8Array.from([...npyHeaderOf(descr, shape, fortran), ...data])

const codesOf = async (bytes: Uint8Array, name: string): Promise<string[]> => {
  const { findings } = await verifySource(new MemorySource(bytes, name))
  return findings.filter(({ severity }) => severity !== 'note').map(({ code }) => code)
}

describe('npy', () => {
  it('gives back what was written', async () => {
    await fc.assert(
      fc.asyncProperty(tensorArb, async (tensor) => {
        const files = await convertToFiles(sampleModel([tensor]), 'npy', { name: 'x.npy' })
        const [again] = (await openModel(sourceOf(files))).tensors
        expect(again).toMatchObject({ name: 'x', dtype: tensor.dtype, shape: tensor.shape })
        const [before, after] = [rowMajor(tensor), rowMajor(again!)]
        expect(await readPayload(after.data!)).toEqual(await readPayload(before.data!))
      }),
      { numRuns: 150 },
    )
  })

  const written = /^(dtype-|fortran-[23]d|zero-d|empty-|rank-|special-)/
  it.each(loadCases('npy').filter(({ file }) => written.test(file)))('writes $file as NumPy does', async ({ file }) => {
    const files = await convertToFiles(await openModel(fixtureSource('npy', file)), 'npy', { name: file })
    expect(Buffer.compare(files.get(file)!, fixtureBytes('npy', file))).toBe(0)
  })

  it('turns big-endian elements round wherever reading starts', async () => {
    const { tensors } = await openModel(
      new MemorySource(array('>u4', [3], [0, 0, 0, 1, 0, 0, 0, 2, 9, 8, 7, 6]), 'x.npy'),
    )
    expect([...(await tensors.at(0)!.data!.read!(2, 8))]).toEqual([0, 0, 2, 0, 0, 0, 6, 7])
    const complex = await openModel(new MemorySource(array('>c8', [1], [1, 2, 3, 4, 5, 6, 7, 8]), 'x.npy'))
    expect([...(await readPayload(complex.tensors.at(0)!.data!))]).toEqual([4, 3, 2, 1, 8, 7, 6, 5])
  })

  it('keeps arrays of other things as bytes, and writes them back', async () => {
    const bytes = array(
      '<U2',
      [2],
      Array.from({ length: 16 }, (_, i) => i),
    )
    const model = await openModel(new MemorySource(bytes, 'x.npy'))
    expect(model.tensors.at(0)).toMatchObject({ dtype: dtypeById('packed'), extra: { descr: '<U2' } })
    expect((await convertToFiles(model, 'npy', { name: 'x.npy' })).get('x.npy')).toEqual(bytes)
    const { plan } = await planConversion(model, 'safetensors', { name: 'x.safetensors', stow: false })
    expect(plan.loss).toBe('content')
  })

  it('names the tensor after the file alone', async () => {
    const bytes = array('|u1', [1], [1])
    for (const name of ['/a/b.c/w.npy', 'C:\\x\\w.NPY', 'https://host/x/w.npy?key=a/b.npy', 'w'])
      expect((await openModel(new MemorySource(bytes, name))).tensors.at(0)!.name).toBe('w')
  })

  it.each<[string[], Uint8Array]>([
    [['npy/data-truncated'], array('<f4', [3], [1, 2, 3])],
    [['npy/trailing-bytes'], array('|u1', [1], [1, 2])],
    [
      ['npy/foreign-type'],
      array(
        '<f16',
        [1],
        Array.from({ length: 16 }, () => 0),
      ),
    ],
    [['npy/object-array'], array('|O', [1], [0])],
  ])('%j', async (codes, bytes) => expect(await codesOf(bytes, 'x.npy')).toEqual(codes))

  it('refuses more than one tensor, and what NumPy has no type for', async () => {
    const two = sampleModel([sampleTensor('a', 'f32', [1]), sampleTensor('b', 'f32', [1])])
    await expect(convertToFiles(two, 'npy')).rejects.toThrow(/one|at most 1/)
    const { plan } = await planConversion(sampleModel([sampleTensor('a', 'i32', [1])]), 'npy', { name: 'a.npy' })
    expect(plan.loss).toBe('form')
  })
})

describe('arrays of records', () => {
  const header = (descr: string, shape: string, fortran = false): Uint8Array => {
    const text = `{'descr': ${descr}, 'fortran_order': ${fortran ? 'True' : 'False'}, 'shape': ${shape}, }`.padEnd(181)
    return Uint8Array.from([0x93, ...Buffer.from('NUMPY'), 1, 0, 182, 0, ...Buffer.from(`${text}\n`)])
  }
  const file = (descr: string, shape: string, data: number[], fortran = false): Uint8Array =>
    Uint8Array.from([...header(descr, shape, fortran), ...data])
  const count = (length: number): number[] => Array.from({ length }, (_, i) => i)
  const fields = async (bytes: Uint8Array, name = 'x.npy') => {
    const { tensors } = await openModel(new MemorySource(bytes, name))
    const list = Array.from(tensors, async (each) => {
      const data = [...(await readPayload(each.data!))]
      return [each.name, each.dtype.id, each.shape, each.order, data] as const
    })
    return Promise.all(list)
  }

  it('give each field as a tensor, with its own dimensions behind those of the array', async () => {
    const bytes = file("[('a', '<i2'), ('b', '>u2', (2,)), ('', '|V1')]", '(2,)', count(14))
    expect(await fields(bytes)).toEqual([
      ['a', 'i16', [2], 'row', [0, 1, 7, 8]],
      ['b', 'u16', [2, 2], 'row', [3, 2, 5, 4, 10, 9, 12, 11]],
    ])
  })

  it('are gathered from records inside records, and from Fortran order', async () => {
    const nested = file("[('r', [('p', '|u1'), (('title', 'q'), '|u1')], (2,)), ('t', '|S2')]", '(1, 2)', count(12))
    expect(await fields(nested)).toEqual([
      ['r.p', 'u8', [1, 2, 2], 'row', [0, 2, 6, 8]],
      ['r.q', 'u8', [1, 2, 2], 'row', [1, 3, 7, 9]],
      ['t', 'packed', [1, 2], 'row', [4, 5, 10, 11]],
    ])
    const turned = file("[('a', '|u1'), ('b', '|u1', (2,))]", '(2, 2)', count(12), true)
    expect(await fields(turned)).toEqual([
      ['a', 'u8', [2, 2], 'row', [0, 6, 3, 9]],
      ['b', 'u8', [2, 2, 2], 'row', [1, 2, 7, 8, 4, 5, 10, 11]],
    ])
  })

  it('are read in archives, deflated or not, under the name of the array', async () => {
    const content = file("[('a', '|u1'), ('b', '|u1')]", '(2,)', count(4))
    const bytes = craftZip([member('t.npy', content), member('u.npy', content, { deflate: true })])
    expect((await fields(bytes, 'x.npz')).map(([name, , , , data]) => [name, data])).toEqual([
      ['t.a', [0, 2]],
      ['t.b', [1, 3]],
      ['u.a', [0, 2]],
      ['u.b', [1, 3]],
    ])
  })

  it('open with a warning, and are no clean file', async () => {
    const warnings: string[] = []
    const bytes = file("[('a', '|u1')]", '(1,)', [1])
    await openModel(new MemorySource(bytes, 'x.npy'), { onFinding: ({ code }) => warnings.push(code) })
    expect(warnings).toEqual(['npy/records'])
    expect(await codesOf(bytes, 'x.npy')).toEqual(['npy/records', 'npy/structured'])
    expect((await verifySource(new MemorySource(bytes, 'x.npy'), { quick: true })).verdict).toBe('warnings')
  })

  it.each([
    ["[('a', '|u1'), ('a', '|u1')]", 'npy/structured'],
    ["[('a', '|u1', (2,), 3)]", 'npy/structured'],
    ["[('a', '|u1', (-2,))]", 'npy/structured'],
    ["[(3, '|u1')]", 'npy/structured'],
    ["['a']", 'npy/structured'],
    ['[]', 'npy/structured'],
    ["[('a', '|O')]", 'npy/object-array'],
    ["[('a', '|u1', (9007199254740991, 9007199254740991))]", 'npy/shape-overflow'],
    ["[('a', '|u1', (0, 9007199254740991)), ('b', '|u9')]", 'npy/dtype'],
  ])('%s is refused', async (descr, code) => {
    await expect(openModel(new MemorySource(file(descr, '(1,)', []), 'x.npy'))).rejects.toMatchObject({ code })
  })
})

const member = (name: string, content = array('|u1', [2], [1, 2]), more: Partial<CraftMember> = {}): CraftMember => ({
  name,
  content,
  ...more,
})

describe('npz', () => {
  it('gives back what was written, aligned, and always in the same bytes', async () => {
    const models = fc.uniqueArray(tensorArb, { maxLength: 5, selector: ({ name }) => name })
    await fc.assert(
      fc.asyncProperty(models, fc.constantFrom(1, 64, 100, 4096), async (tensors, align) => {
        const files = await convertToFiles(sampleModel(tensors), 'npz', { name: 'x.npz', align })
        const again = await openModel(sourceOf(files))
        expect(again.tensors.map(({ name }) => name)).toEqual(tensors.map(({ name }) => name))
        expect((await hashModel(again)).fingerprint).toBe((await hashModel(sampleModel(tensors))).fingerprint)
        if (align >= 64) {
          for (const { data } of again.tensors) expect(data!.origin!.offset % 4).toBe(0)
        }
        const result = await verifySource(sourceOf(files))
        expect(result.findings.filter(({ code }) => !/name-(path|control)$/.test(code))).toEqual([])
        const twice = await convertToFiles(again, 'npz', { name: 'x.npz', align })
        expect(twice).toEqual(files)
      }),
      { numRuns: 60 },
    )
  })

  it('says nothing about names that begin with a slash', async () => {
    const model = sampleModel([sampleTensor('/encoder/w', 'f32', [2]), sampleTensor('//b', 'f32', [2])])
    const result = await verifySource(sourceOf(await convertToFiles(model, 'npz', { name: 'x.npz' })))
    expect(result.findings).toEqual([])
  })

  it('reads deflated members as streams, whole and in part', async () => {
    const data = Uint8Array.from({ length: 50_000 }, (_, i) => i % 7)
    const bytes = craftZip([member('a.npy', array('|u1', [50_000], [...data]), { deflate: true })])
    const { tensors } = await openModel(new MemorySource(bytes, 'x.npz'))
    expect(tensors.at(0)!.data!.origin).toBeUndefined()
    expect(tensors.at(0)!.data!.read).toBeUndefined()
    expect(await readPayload(tensors.at(0)!.data!)).toEqual(data)
  })

  it('goes on without an array that cannot be read, and says so', async () => {
    const objects = array('|O', [1], [0x80, 2, 0x4e, 0x2e])
    const bytes = craftZip([member('a.npy'), member('o.npy', objects), member('t.npy', array('|u1', [9], [1]))])
    const warnings: string[] = []
    const model = await openModel(new MemorySource(bytes, 'x.npz'), {
      onFinding: ({ code, path }) => warnings.push(`${code} ${path}`),
    })
    expect(model.tensors.map(({ name }) => name)).toEqual(['a'])
    expect(warnings).toEqual(['npz/unreadable members["o.npy"]', 'npz/unreadable members["t.npy"]'])
    expect(model.parts.map(({ kind, name }) => [kind, name])).toEqual([
      ['npz.unread', 'o.npy'],
      ['npz.unread', 't.npy'],
    ])
    expect(await codesOf(bytes, 'x.npz')).toEqual([
      ...['npz/unreadable', 'npz/unreadable', 'npy/object-array', 'npy/data-truncated'],
    ])
    for (const target of ['safetensors', 'npz'])
      expect((await planConversion(model, target, { name: 'x' })).plan.loss).toBe('content')
  })

  it('is refused when none of its arrays can be read', async () => {
    const bytes = craftZip([member('o.npy', array('|O', [1], [0])), member('t.npy', array('|u1', [9], [1]))])
    await expect(openModel(new MemorySource(bytes, 'x.npz'))).rejects.toMatchObject({ code: 'npy/object-array' })
    expect(await codesOf(bytes, 'x.npz')).toEqual(['npy/object-array'])
  })

  it('keeps members that are no arrays', async () => {
    const bytes = craftZip([
      member('a.npy'),
      member('note.txt', Uint8Array.of(104, 105)),
      member('folder/', new Uint8Array()),
    ])
    const model = await openModel(new MemorySource(bytes, 'x.npz'))
    expect(model.parts).toMatchObject([{ kind: 'npz.member', name: 'note.txt', value: { bytes: 2 } }])
    const again = await openModel(sourceOf(await convertToFiles(model, 'npz', { name: 'y.npz' })))
    expect(await readPayload(again.parts[0]!.data!)).toEqual(Uint8Array.of(104, 105))
  })

  it('takes an array by its content, as NumPy does', async () => {
    const model = await openModel(new MemorySource(craftZip([member('b.npy'), member('plain')]), 'x.npz'))
    expect(model.tensors.map(({ name }) => name)).toEqual(['b', 'plain'])
  })

  it('reads a header that is longer than usual', async () => {
    const shape = Array.from({ length: 60 }, () => 1)
    const text = ` { 'descr' : '|u1' , ${' '.repeat(3000)} 'fortran_order' : False , 'shape' : (${shape.join(',')}) }\n`
    const content = Uint8Array.from([
      ...Buffer.from('\x93NUMPY\x02\0', 'latin1'),
      text.length % 256,
      Math.floor(text.length / 256),
      0,
      0,
      ...Buffer.from(text),
      5,
    ])
    for (const deflate of [false, true]) {
      const model = await openModel(new MemorySource(craftZip([member('a.npy', content, { deflate })]), 'x.npz'))
      expect(await readPayload(model.tensors.at(0)!.data!)).toEqual(Uint8Array.of(5))
    }
  })

  it.each<[string[], CraftMember[]]>([
    [['npz/member'], [member('a.npy'), member('b.txt', Uint8Array.of(1))]],
    [['npz/duplicate-name'], [member('a.npy'), member('a')]],
    [
      ['npz/unreadable', 'npy/magic'],
      [member('a.npy', Uint8Array.of(1, 2, 3)), member('b.npy')],
    ],
    [
      ['npz/unreadable', 'npy/object-array'],
      [member('a.npy', array('|O', [1], [0])), member('b.npy')],
    ],
    [['npy/data-truncated'], [member('a.npy', array('<f4', [1], [0]))]],
    [['zip/crc'], [member('a.npy', undefined, { central: { crc: 1 }, local: { crc: 1 } })]],
    [
      ['zip/size', 'zip/size'],
      [member('a.npy', new Uint8Array(3000), { deflate: true, central: { size: 150 }, local: { size: 150 } })],
    ],
  ])('%j', async (codes, members) => {
    const bytes = craftZip(members)
    expect(await codesOf(bytes, 'x.npz')).toEqual(codes)
    const { files } = await mapSource(new MemorySource(bytes, 'x.npz'))
    expect(files[0]!.extents.filter(({ kind }) => kind === 'gap')).toEqual([])
  })

  it('places findings inside stored members exactly', async () => {
    const bytes = craftZip([member('a.npy', array('<f4', [3], [0]))])
    const { findings } = await verifySource(new MemorySource(bytes, 'x.npz'))
    expect(findings[0]).toMatchObject({
      code: 'npy/data-truncated',
      offset: 30 + 5 + 128,
      path: 'members["a.npy"].data',
    })
  })

  it('says why it has no place for the rest', async () => {
    const model: Model = {
      ...sampleModel([sampleTensor('a', 'bf16', [2])]),
      metadata: new Map([['k', { type: 'null' }]]),
    }
    const { plan } = await planConversion(model, 'npz', { name: 'x.npz', stow: false })
    expect(plan.actions).toContainEqual(
      expect.objectContaining({ subject: 'metadata', action: 'drop', loss: 'content' }),
    )
    const nameless = { ...sampleTensor('a\0b', 'f32', [1]), data: bytesPayload(new Uint8Array(4)) }
    const refused = await planConversion(sampleModel([nameless]), 'npz', { name: 'x.npz', stow: false })
    expect(refused.plan.loss).toBe('content')
  })
})
