// What must hold for any bytes at all. A broken promise is thrown as a `Broken`, with the name of the promise.
import {
  diffModels,
  findDamage,
  formats,
  hashModel,
  inspectModel,
  MemorySink,
  MemorySource,
  mapSource,
  openModel,
  planConversion,
  planRepair,
  runConversion,
  runRepair,
  statsOfTensors,
  TareError,
  verifySource,
} from '../dist/kit.js'

export class Broken extends Error {
  constructor(promise, message) {
    super(`${promise}: ${message}`)
    this.promise = promise
  }
}

const writable = formats.filter(({ capabilities }) => capabilities.write)
/** Outputs beyond this are not written: they are right to be large, and take time. */
const maxOutput = 1 << 20

/** Of a set only the index is opened, and of an AERO file no chunk that nobody asked for. */
const needsMoreThanOpening = /^aeroset\/(sha256|size$|part-|tensor-not-in-part)|^aero\/defect-zero-hash$/

/** Every promise about these bytes; the dear ones for some inputs only. */
export async function check({ bytes, name, siblings }, from, random) {
  const source = () => new MemorySource(bytes, name, siblings)
  const model = await opensAsVerified(source, from)
  await mapCovers(source, from)
  if (random.once(6)) await repairsWell(source, from)
  if (!model) return 'refused'
  inspectModel(model)
  if (sizeOf(model) > maxOutput) return 'large'
  if (random.once(2)) await guarded('hash', () => hashModel(model, { algorithm: 'crc32', decoded: random.once(2) }))
  if (random.once(6)) await guarded('stats', () => statsOfTensors(model.tensors, {}))
  if (random.once(2)) await convertsWell(model, source, from, random.pick(writable))
  return 'opened'
}

const extensionOf = (id) => formats.find((format) => format.id === id)?.extensions[0] ?? ''
const sizeOf = (model) => model.tensors.reduce((sum, { data }) => sum + (data?.byteLength ?? 0), 0)
const errorsOf = (findings) => findings.filter(({ severity }) => severity === 'error')

/** Only findings, never raw exceptions. Undefined after a finding. */
async function guarded(promise, work) {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof TareError))
      throw new Broken(`${promise} fails only with findings`, error?.stack ?? String(error))
    if (error.code === 'verify/internal') throw new Broken(`${promise} never blames itself`, error.message)
    return undefined
  }
}

/** What opens has no error that opening did not speak of; what is refused has one. */
async function opensAsVerified(source, from) {
  const told = new Set()
  const model = await guarded('open', () => openModel(source(), { from, onFinding: ({ code }) => told.add(code) }))
  const { findings } = await guarded('verify', () => verifySource(source(), { from, quick: true }))
  const errors = errorsOf(findings)
  for (const finding of errors) {
    if (finding.code === 'verify/internal') throw new Broken('verify fails only with findings', finding.message)
    if (finding.offset === undefined || finding.path === undefined)
      throw new Broken('every error has an offset and a path', `${finding.code}: ${finding.message}`)
  }
  const untold = errors.filter(({ code }) => !told.has(code) && !needsMoreThanOpening.test(code))
  if (model && untold.length > 0) throw new Broken('what opens has no errors', JSON.stringify(untold[0]))
  if (!model && errors.length === 0) throw new Broken('what is refused has errors', 'verify found none')
  return model
}

async function mapCovers(source, from) {
  const map = await guarded('map', () => mapSource(source(), { from }))
  let at = 0
  for (const { offset, length } of map?.files[0].extents ?? []) {
    if (offset !== at) throw new Broken('the map covers every byte once', `a row at ${offset}, after ${at}`)
    at += length
  }
  if (map && at !== source().size)
    throw new Broken('the map covers every byte once', `it ends at ${at} of ${source().size}`)
}

async function repairsWell(source, from) {
  const planned = await guarded('repair', () =>
    planRepair(source(), { from, name: `out${extensionOf(from)}`, deterministic: true }),
  )
  if (!planned || planned.size > maxOutput) return
  const files = new Map()
  const isWritten = await guarded('repair', async () => {
    await runRepair(planned, async (name) => new MemorySink(name, files))
    return true
  })
  const main = planned.files[0]?.name
  if (!isWritten || !files.get(main)) return
  const { findings } = await verifySource(new MemorySource(files.get(main), main, files), { quick: true })
  const [error] = errorsOf(findings)
  if (error) throw new Broken('what was repaired verifies', JSON.stringify(error))
}

/** What is written opens and verifies, and a plan without loss loses nothing. Damaged weights are not handed on. */
async function convertsWell(model, source, from, target) {
  const damaged = await guarded('find damage', () => findDamage(model))
  const known = new Set(errorsOf((await verifySource(source(), { from })).findings).map(({ code }) => code))
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
