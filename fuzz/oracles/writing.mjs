// What must hold for everything that is written: repaired files, conversions and deltas.
import { applyDelta, makeDelta } from '../../dist/index.js'
import {
  defaultLimits,
  diffModels,
  findDamage,
  formats,
  MemorySink,
  MemorySource,
  openModel,
  planConversion,
  planRepair,
  runConversion,
  runRepair,
  verifySource,
} from '../../dist/kit.js'
import { Broken, errorsOf, guarded } from './broken.mjs'
import { CountingSource } from './counting-source.mjs'

/** Outputs beyond this are not written: they are right to be large, and take time. */
export const maxOutput = 1 << 20
/** A lenient reader takes views that are larger than their storage by this factor, and packed members can be. */
export const maxUnpacked = (size) => 64 * defaultLimits.expansion * size + (1 << 26)

const extensionOf = (id) => formats.find((format) => format.id === id)?.extensions[0] ?? ''

/** The repaired file, if there is one. */
export async function repairsWell(source, from) {
  const planned = await guarded('repair', () =>
    planRepair(source(), { from, name: `out${extensionOf(from)}`, deterministic: true }),
  )
  if (!planned) return undefined
  const { size } = source()
  if (planned.files.length === 1 && planned.size > maxUnpacked(size))
    throw new Broken('repair writes what was saved', `${planned.size} bytes from ${size}`)
  if (planned.size > maxOutput) return undefined
  const files = new Map()
  const isWritten = await guarded('repair', async () => {
    await runRepair(planned, async (name) => new MemorySink(name, files))
    return true
  })
  const main = planned.files[0]?.name
  if (!isWritten || !files.get(main)) return undefined
  const { findings } = await verifySource(new MemorySource(files.get(main), main, files), { quick: true })
  const [error] = errorsOf(findings)
  if (error) throw new Broken('what was repaired verifies', JSON.stringify(error))
  return { bytes: files.get(main), name: main, siblings: files.size > 1 ? files : undefined }
}

/** What is written opens and verifies, and a plan without loss loses nothing. Damaged weights are not handed on. */
export async function convertsWell(model, source, from, target) {
  const damaged = await guarded('find damage', () => findDamage(model))
  const counted = new CountingSource(source())
  const known = new Set(errorsOf((await verifySource(counted, { from })).findings).map(({ code }) => code))
  counted.checkWork('verify')
  const files = new Map()
  const what = `convert to ${target.id}`
  const plan = await guarded(what, async () => {
    const conversion = await planConversion(model, target.id, {
      name: `out${target.extensions[0]}`,
      deterministic: true,
    })
    if (conversion.plan.size > maxOutput) return undefined
    await runConversion(conversion, async (name) => new MemorySink(name, files), { allowLoss: 'content' })
    return { ...conversion.plan, main: conversion.layout.files[0].name }
  })
  if (!plan) return
  if (damaged?.length > 0) throw new Broken('damaged weights are not handed on', `${what}: ${damaged[0].code}`)
  const again = () => new MemorySource(files.get(plan.main), plan.main, files)
  const [error] = errorsOf((await verifySource(again(), { from: target.id })).findings).filter(
    ({ code }) => !known.has(code),
  )
  if (error) throw new Broken('what is written verifies', `${what}: ${JSON.stringify(error)}`)
  const written = await openModel(again(), { from: target.id })
  const { tensors, metadata, parts } = await diffModels(model, written, { measure: false })
  if (plan.loss === 'none' && tensors.length + metadata.length + parts.length > 0)
    throw new Broken(
      'a plan without loss loses nothing',
      `${what}: ${JSON.stringify([...tensors, ...metadata, ...parts][0])}`,
    )
}

/** A delta gives back the files of the model, byte for byte. */
export async function deltaIsExact(model, base) {
  const from = await guarded('open', () => openModel(base, { from: model.format }))
  if (!from) return
  const delta = await guarded('delta', () => makeDelta(from, model, undefined))
  if (!delta) return
  const update = new MemorySource(delta.files[0].bytes, 'update.safetensors')
  const findings = []
  const made = await guarded(
    'apply',
    async () => applyDelta(from, await openModel(update, { from: 'safetensors' }), undefined),
    (finding) => findings.push(finding),
  )
  if (!made) throw new Broken('a delta gives back the model', JSON.stringify(findings[0]))
  for (const [i, file] of model.files.entries()) {
    const wanted = await file.read(0, file.size)
    if (!made.files[i] || Buffer.compare(made.files[i].bytes, wanted) !== 0)
      throw new Broken('a delta gives back the model', `${file.name} is another file`)
  }
}
