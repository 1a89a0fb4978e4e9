// What must hold for every file, whole or damaged, whatever the format: opening and verifying agree; what is written opens and verifies;
// a plan that names no loss gives an equal model. Every fixture is tried, and small ones with single bytes changed.
import { describe, expect, it } from 'vitest'
import {
  diffModels,
  type Finding,
  type Format,
  findDamage,
  formats,
  MemorySink,
  type MemorySource,
  type Model,
  openModel,
  type Plan,
  planConversion,
  runConversion,
  TareError,
  verifySource,
} from '../../src/index.js'
import { sourceOf } from '../support/convert.js'
import { fixtureBytes, fixtureSource, isAccepted, loadCases, presentCases } from '../support/fixtures.js'

const writable = formats.filter((format) => format.layout)
/** Mutations of a file, and targets that each of them is written to. TARE_THOROUGH=1 tries many more. */
const isThorough = process.env.TARE_THOROUGH !== undefined
const mutations = isThorough ? 400 : 12
const targetsEach = isThorough ? writable.length : 1
const maxMutated = 4096

const errorsOf = (findings: readonly Finding[]): string[] =>
  findings.filter(({ severity }) => severity === 'error').map(({ code, message }) => `${code}: ${message}`)

/** The model, or undefined when the file is refused. */
async function tryOpen(source: MemorySource, from: string): Promise<Model | undefined> {
  try {
    return await openModel(source, { from })
  } catch (error) {
    if (error instanceof TareError) return undefined
    throw error
  }
}

/** Opening accepts exactly what a quick look finds no error in; a thorough one finds errors only where checksums or payloads say so. */
async function expectAgreement(open: () => MemorySource, from: string): Promise<Model | undefined> {
  const model = await tryOpen(open(), from)
  const quick = errorsOf((await verifySource(open(), { from, quick: true })).findings)
  if (model) expect(quick, 'it opens').toEqual([])
  else expect(quick, 'it is refused').not.toEqual([])
  return model
}

interface Written {
  readonly plan: Plan
  readonly files: Map<string, Uint8Array>
}

/** Undefined when the conversion is refused, which is always fine as long as it says why. */
async function tryConvert(model: Model, { id, extensions, capabilities }: Format): Promise<Written | undefined> {
  // A file with room for one tensor has none for its name: its own stands for it.
  const stem = capabilities.write?.mostTensors === 1 ? (model.tensors.at(0)?.name ?? 'm') : 'm'
  try {
    const conversion = await planConversion(model, id, { name: `${stem}${extensions[0]}`, deterministic: true })
    const written = new Map<string, Uint8Array>()
    await runConversion(conversion, async (name) => new MemorySink(name, written), { allowLoss: 'content' })
    const main = conversion.layout.files[0]!.name
    return { plan: conversion.plan, files: new Map([[main, written.get(main)!], ...written]) }
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    expect(error.code).not.toBe('write/not-readable') // found out too late
    return undefined
  }
}

async function expectConversion(model: Model, target: Format): Promise<void> {
  const written = await tryConvert(model, target)
  if (!written) return
  const { findings } = await verifySource(sourceOf(written.files), { from: target.id })
  expect(errorsOf(findings), `to ${target.id}`).toEqual([])
  const difference = await diffModels(model, await openModel(sourceOf(written.files), { from: target.id }), {
    measure: false,
  })
  const different = [...difference.tensors, ...difference.metadata, ...difference.parts]
  if (written.plan.loss === 'none') expect(different, `to ${target.id}, without a loss`).toEqual([])
  if (difference.equal) expect(['none', 'form'], `to ${target.id}, equal`).toContain(written.plan.loss)
}

/** Bytes that a program would not choose, at places that do not depend on the run. */
function* mutated(bytes: Uint8Array): Generator<{ readonly at: number; readonly changed: Uint8Array }> {
  const values = [0x00, 0xff, 0x7f, 0x80, 0x01]
  for (let i = 0; i < Math.min(mutations, bytes.byteLength); i++) {
    const at = Math.floor(((i + 0.5) * bytes.byteLength) / Math.min(mutations, bytes.byteLength))
    const changed = bytes.slice()
    changed[at] = changed[at]! ^ (values[i % values.length]! || 0x20)
    yield { at, changed }
  }
}

describe.each(formats.map((format) => format.id))('%s', (id) => {
  it.each(loadCases(id).filter((each) => presentCases(id).includes(each)))(
    '$file opens and verifies alike',
    async (each) => {
      await expectAgreement(() => fixtureSource(id, each.file), id)
    },
  )

  const accepted = presentCases(id).filter(isAccepted)
  it.each(accepted)('$file, to every format', async ({ file }) => {
    const model = await openModel(fixtureSource(id, file), { from: id })
    for (const target of writable) await expectConversion(model, target)
  })

  const small = accepted.filter(({ file }) => fixtureBytes(id, file).byteLength <= maxMutated)
  it.each(small)('$file, with single bytes changed', async ({ file }) => {
    let next = 0
    for (const { changed } of mutated(fixtureBytes(id, file))) {
      const model = await expectAgreement(() => fixtureSource(id, file, changed), id)
      if (!model) continue
      const isDamaged = (await findDamage(model)).length > 0
      for (let i = 0; i < targetsEach; i++) {
        const target = writable[next++ % writable.length]!
        if (isDamaged) expect(await tryConvert(model, target), `damaged, to ${target.id}`).toBeUndefined()
        else await expectConversion(model, target)
      }
    }
  })
})
