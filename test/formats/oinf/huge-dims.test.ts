// Dimensions beyond 2^53-1. Nothing bounds those of a tensor without data, or those beside a dimension of 0; they are shown, compared,
// carried and written exactly.
import { describe, expect, it } from 'vitest'
import { toJsonLine } from '../../../src/cli/console/json.js'
import {
  diffModels,
  extractTensor,
  formats,
  hashModel,
  inspectModel,
  type Model,
  mapSource,
  npyLayout,
  openModel,
  planConversion,
  showModel,
  shownDims,
  statsOfTensors,
  verifySource,
} from '../../../src/kit.js'
import { convertToFiles, sourceOf as sourceOfFiles } from '../../support/convert.js'
import { fixtureSource, isPresent } from '../../support/fixtures.js'
import { bytes, type Craft, craft, f32, ndarray, sourceOf } from './build.js'

const huge: Craft = {
  metadata: [{ key: 'none', type: 15, payload: ndarray(5, [2n ** 60n + 1n, 0], bytes()) }],
  tensors: [
    { name: 'a', tag: 10, dims: [2n ** 60n] },
    { name: 'b', tag: 10, dims: [2n ** 60n + 1n, 3] },
    { name: 'c', tag: 10, dims: [0, 2n ** 53n + 1n], data: bytes() },
    { name: 'd', tag: 1, dims: [2 ** 32, 2 ** 32, 0], data: bytes() },
    { name: 'e', tag: 12, dims: [2n ** 64n - 1n] },
    { name: 'f', tag: 24, dims: [2n ** 63n, 0], data: bytes() },
    { name: 'g', tag: 10, dims: [2], data: f32(1, 2) },
  ],
}
const shapes = [
  ['1152921504606846976'],
  ['1152921504606846977', 3],
  [0, '9007199254740993'],
  [2 ** 32, 2 ** 32, 0],
  ['18446744073709551615'],
  ['9223372036854775808', 0],
  [2],
]

const open = (): Promise<Model> => openModel(sourceOf(huge))

describe('dimensions beyond 2^53-1', () => {
  it('are listed as what they are', async () => {
    const model = await open()
    expect(model.tensors.map(shownDims)).toEqual(shapes)
    const { tensors, metadata } = inspectModel(model)
    expect(tensors.map(({ shape }) => shape)).toEqual(shapes)
    expect(metadata.none).toMatchObject({ shape: ['1152921504606846977', 0] })
    expect(toJsonLine(tensors[2])).toContain('"shape":[0,"9007199254740993"]')
  })

  it('are no fault', async () => {
    const { findings } = await verifySource(sourceOf(huge))
    expect(findings.filter(({ severity }) => severity !== 'note')).toEqual([])
  })

  it.each([false, true])('can be hashed, decoded or not (%s), and count', async (decoded) => {
    const { tensors, fingerprint } = await hashModel(await open(), { decoded })
    expect(tensors.map(({ shape }) => shape)).toEqual(shapes)
    expect(tensors.map(({ digest }) => digest === null)).toEqual([true, true, false, false, true, false, false])
    const next = {
      ...huge,
      tensors: huge.tensors!.map((each) => (each.name === 'b' ? { ...each, dims: [2n ** 60n, 3] } : each)),
    }
    const other = await openModel(sourceOf(next))
    expect((await hashModel(other, { decoded })).fingerprint).not.toBe(fingerprint)
    const difference = await diffModels(await open(), other)
    expect(difference.tensors).toMatchObject([{ name: 'b', change: 'shape', b: { shape: ['1152921504606846976', 3] } }])
  })

  it('are shown, mapped and measured', async () => {
    let text = ''
    for await (const piece of showModel(await open())) text += piece
    expect(text).toContain('none: u8[1152921504606846977, 0] = ')
    expect(text).toContain('b: f32[1152921504606846977, 3] -- uninitialized')
    expect(text).toContain('c: f32[0, 9007199254740993] -- uninitialized')
    const { files } = await mapSource(sourceOf(huge))
    expect(files[0]!.extents.find(({ path }) => path === 'tensors[1].dims[0]')?.value).toBe(2n ** 60n + 1n)
    const stats = []
    for await (const each of statsOfTensors((await open()).tensors)) stats.push(each)
    expect(stats[2]).toMatchObject({ count: 0 })
    expect(stats[1]).toMatchObject({ reason: 'the tensor is declared without data' })
  })

  it('are written as they were', async () => {
    const [written] = (await convertToFiles(await open(), 'oinf', { name: 'm.oinf' })).values()
    expect(Buffer.compare(written!, craft(huge))).toBe(0)
  })

  const others = formats.filter(
    ({ capabilities, id }) => capabilities.write && !['oinf', 'npy', 'primitiv'].includes(id),
  )
  it.each(others.map(({ id }) => id))('come back from %s', async (away) => {
    const model = await open()
    const { plan } = await planConversion(model, away, { name: `m.${away}` })
    expect(plan.loss).toBe('none')
    const carried = await openModel(sourceOfFiles(await convertToFiles(model, away, { name: `m.${away}` })))
    expect((await diffModels(model, carried)).equal).toBe(true)
    const [back] = (await convertToFiles(carried, 'oinf', { name: 'm.oinf' })).values()
    expect(Buffer.compare(back!, craft(huge))).toBe(0)
  })

  it('are refused by name where there is no place for them', async () => {
    const model = await open()
    const { plan } = await planConversion(model, 'safetensors', { name: 'm.safetensors', stow: false })
    const dropped = plan.actions.filter(({ action, subject }) => action === 'drop' && subject === 'tensor')
    expect(dropped.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
    expect(dropped[2]!.reason).toBe('its dimensions multiply to more than 2^53-1')
    expect(() => npyLayout(extractTensor(model, 'c'), 'c.npy')).toThrow(/9007199254740993/)
  })

  it.skipIf(!isPresent('regressions', 'bigdim.oinf'))('of a file in the field', async () => {
    const model = await openModel(fixtureSource('regressions', 'bigdim.oinf'))
    expect(inspectModel(model).tensors[0]!.shape).toEqual(['1152921504606846976', 4])
  })
})
