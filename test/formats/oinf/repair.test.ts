import { describe, expect, it } from 'vitest'
import {
  defaultLimits,
  formatById,
  hashModel,
  MemorySink,
  type MemorySource,
  openModel,
  strictReport,
  verifySource,
  writeLayout,
} from '../../../src/kit.js'
import { sourceOf as written } from '../../support/convert.js'
import { fixtureSource } from '../../support/fixtures.js'
import { bytes, type Craft, f32, quant, sourceOf } from './build.js'

async function tryRepair(source: MemorySource) {
  const context = { report: strictReport(source.name), limits: defaultLimits, lenient: false }
  const repair = await (await formatById('oinf')!.load()).repair!(source, context, { name: 'repaired.oinf' })
  if (!repair) return undefined
  const files = new Map<string, Uint8Array>()
  await writeLayout(repair.layout, async (name) => new MemorySink(name, files))
  return { ...repair, source: () => written(files) }
}

const perChannel = quant({ scheme: 2, scaleMode: 2, zpMode: 2, scales: [1, 2, 3], zeroPoints: [4, 5, 6] })
const model: Craft = {
  version: 2,
  sizevars: [['B', 1n]],
  metadata: [{ key: 'eps', type: 10, payload: f32(0.5) }],
  tensors: [
    { name: 'a', tag: 1, dims: [3], data: bytes(1, 2, 3), quant: perChannel },
    { name: 'b', tag: 10, dims: [3], data: f32(1, 2, 3) },
    { name: 'c', tag: 5, dims: [9], data: bytes(9, 8, 7, 6, 5, 4, 3, 2, 1), quant: quant() },
    { name: 'd', tag: 5, dims: [9] },
  ],
}

describe('repair', () => {
  it('puts data and quantization where the records say', async () => {
    const right = await openModel(sourceOf(model))
    const damaged = () => sourceOf({ ...model, misplaced: true })
    await expect(openModel(damaged())).rejects.toMatchObject({ code: 'oinf/quant-misplaced' })
    const repaired = await tryRepair(damaged())
    expect(repaired!.lost).toEqual([])
    expect(repaired!.repaired).toHaveLength(3)
    const again = await openModel(repaired!.source())
    expect((await hashModel(again)).fingerprint).toBe((await hashModel(right)).fingerprint)
    expect(again.tensors.map((tensor) => tensor.quant)).toEqual(right.tensors.map((tensor) => tensor.quant))
    expect(again.metadata).toEqual(right.metadata)
    expect((await verifySource(repaired!.source())).verdict).toBe('ok')
  })

  it('repairs what the reference encoder wrote', async () => {
    const { findings } = await verifySource(fixtureSource('oinf', 'quant_defect_two_v2.oinf'))
    const errors = findings.filter(({ severity }) => severity === 'error')
    expect(errors.map(({ code }) => code)).toEqual(['oinf/quant-misplaced'])
    expect(errors[0]!.message).toContain('repair() fixes it')
    const repaired = await tryRepair(fixtureSource('oinf', 'quant_defect_two_v2.oinf'))
    const { tensors } = await openModel(repaired!.source())
    expect(tensors.map(({ name, quant: params }) => [name, params?.scales.length, params?.zeroPoints])).toEqual([
      ['w', 4, undefined],
      ['x', 1, [0]],
    ])
  })

  it('leaves other files alone', async () => {
    expect(await tryRepair(sourceOf(model))).toBeUndefined()
    expect(await tryRepair(sourceOf({ ...model, misplaced: true, version: 1 }))).toBeUndefined()
    expect(await tryRepair(fixtureSource('oinf', 'bad_quant_scheme_v2.oinf'))).toBeUndefined()
    expect(await tryRepair(fixtureSource('oinf', 'bad_magic_v2.oinf'))).toBeUndefined()
  })

  it('does not touch a file that is damaged in other ways too', async () => {
    const source = sourceOf({ ...model, misplaced: true, patch: (file) => file.subarray(0, -8) })
    expect(await tryRepair(source)).toBeUndefined()
  })
})
