// What must hold for every file, sound or damaged, whatever its format:
//   what opens has no error in its structure that opening did not speak of, and what is refused has one;
//   what is written opens and verifies;
//   a plan without loss gives a model in which `diff` finds nothing, and then the way back gives the same model; what a plan calls lost is
//   missed by `diff`;
//   damaged weights are not handed on.
// Every fixture is tried with every format, and small ones with single bytes changed. TARE_THOROUGH=1 tries many more.
import { describe, expect, it } from 'vitest'
import {
  type Difference,
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
  stowageKey,
  TareError,
  text,
  verifySource,
} from '../../src/kit.js'
import { sourceOf } from '../support/convert.js'
import { fixtureBytes, fixtureSource, isAccepted, presentCases } from '../support/fixtures.js'

const writable = formats.filter((format) => format.capabilities.write)
const isThorough = process.env.TARE_THOROUGH !== undefined
/** Mutations of a file, and targets that each of them is written to. */
const mutations = isThorough ? 400 : 12
const targetsEach = isThorough ? writable.length : 1
const maxMutated = 4096

const errorsOf = (findings: readonly Finding[]): Finding[] => findings.filter(({ severity }) => severity === 'error')

/** Of a set only the index is opened, and of an AERO file no chunk that nobody asked for. */
const needsMoreThanOpening = ({ code }: Finding): boolean =>
  /^aeroset\/(sha256|part-|tensor-not-in-part)|^aero\/defect-zero-hash$/.test(code)

/** The model, where it opens; verifying must agree. */
async function openAndVerify(source: () => MemorySource, from: string): Promise<Model | undefined> {
  const told = new Set<string>()
  const opened = await openModel(source(), { from, onFinding: ({ code }) => told.add(code) }).catch(
    (error: unknown) => {
      if (!(error instanceof TareError)) throw error
      return undefined
    },
  )
  const errors = errorsOf((await verifySource(source(), { from, quick: true })).findings)
  const untold = errors.filter((finding) => !told.has(finding.code) && !needsMoreThanOpening(finding))
  if (opened) expect(untold, 'it opens').toEqual([])
  else expect(errors, 'it is refused').not.toEqual([])
  return opened
}

interface Written {
  readonly plan: Plan
  readonly files: ReadonlyMap<string, Uint8Array>
}

/** Undefined when the conversion is refused, which is always fine as long as it says why. */
async function tryConvert(model: Model, target: Format, stow = true): Promise<Written | undefined> {
  const { id, extensions, capabilities } = target
  // A file with room for one tensor has none for its name: its own stands for it.
  const stem = capabilities.write?.maxTensors === 1 ? (model.tensors.at(0)?.name ?? 'm') : 'm'
  try {
    const conversion = await planConversion(model, id, { name: `${stem}${extensions[0]}`, deterministic: true, stow })
    const written = new Map<string, Uint8Array>()
    await runConversion(conversion, async (name) => new MemorySink(name, written), { allowLoss: 'content' })
    const main = conversion.layout.files[0]!.name
    return { plan: conversion.plan, files: new Map([[main, written.get(main)!], ...written]) }
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    expect(error.code, error.message).not.toBe('write/not-readable') // found out too late
    return undefined
  }
}

const different = ({ tensors, metadata, parts }: Difference): unknown[] => [...tensors, ...metadata, ...parts]

/** The conversion, where there is one. `errors` are those that the source has itself: a copy has them, too. */
async function expectConversion(
  model: Model,
  target: Format,
  errors: ReadonlySet<string>,
  stow?: boolean,
): Promise<(Written & { readonly model: Model }) | undefined> {
  const written = await tryConvert(model, target, stow)
  if (!written) return undefined
  const { loss } = written.plan
  const what = `to ${target.id}${stow === false ? ' without stowage' : ''}, loss ${loss}`
  const { findings } = await verifySource(sourceOf(written.files), { from: target.id })
  expect(
    errorsOf(findings).filter(({ code }) => !errors.has(code)),
    what,
  ).toEqual([])
  const again = await openModel(sourceOf(written.files), { from: target.id })
  const difference = await diffModels(model, again, { measure: false })
  if (loss === 'none') expect(different(difference), what).toEqual([])
  if (loss === 'precision' || loss === 'content') expect(difference.equal, what).toBe(false)
  return { ...written, model: again }
}

const isRoomy = ({ capabilities }: Format): boolean => capabilities.write!.metadata(stowageKey, text('{}')).fits

/** Bytes that a program would not choose, at places that do not depend on the run. */
function* mutated(bytes: Uint8Array): Generator<Uint8Array> {
  const values = [0x20, 0xff, 0x7f, 0x80, 0x01]
  const count = Math.min(mutations, bytes.byteLength)
  for (let i = 0; i < count; i++) {
    const changed = bytes.slice()
    changed[Math.floor(((i + 0.5) * bytes.byteLength) / count)]! ^= values[i % values.length]!
    yield changed
  }
}

const errorCodes = async (source: MemorySource, from: string): Promise<Set<string>> =>
  new Set(errorsOf((await verifySource(source, { from })).findings).map(({ code }) => code))

describe.each(formats.map((format) => [format.id, format] as const))('%s', (id, home) => {
  it.each(presentCases(id))('$file opens and verifies alike', async ({ file }) => {
    await openAndVerify(() => fixtureSource(id, file), id)
  })

  const accepted = presentCases(id).filter(isAccepted)
  it.each(accepted)('$file, to every format and back', { timeout: 30_000 }, async ({ file }) => {
    const model = await openModel(fixtureSource(id, file), { from: id })
    const errors = await errorCodes(fixtureSource(id, file), id)
    const own = home.capabilities.write && (await tryConvert(model, home))
    const tares = own && (await openModel(sourceOf(own.files), { from: id }))
    for (const target of writable) {
      await expectConversion(model, target, errors, false)
      const there = await expectConversion(tares ?? model, target, errors)
      if (!there || !own || target === home || there.plan.loss !== 'none') continue
      const back = await expectConversion(there.model, home, errors)
      if (back?.plan.loss !== 'none' || !isRoomy(target)) continue
      expect(different(await diffModels(tares!, back.model, { measure: false })), `from ${target.id}`).toEqual([])
    }
  })

  const small = accepted.filter(({ file }) => fixtureBytes(id, file).byteLength <= maxMutated)
  it.each(small)('$file, with single bytes changed', { timeout: isThorough ? 600_000 : 30_000 }, async ({ file }) => {
    let next = file.length
    for (const changed of mutated(fixtureBytes(id, file))) {
      const model = await openAndVerify(() => fixtureSource(id, file, changed), id)
      if (!model) continue
      const isDamaged = (await findDamage(model)).length > 0
      const errors = await errorCodes(fixtureSource(id, file, changed), id)
      for (let i = 0; i < targetsEach; i++) {
        const target = writable[next++ % writable.length]!
        if (isDamaged) expect(await tryConvert(model, target), `damaged, to ${target.id}`).toBeUndefined()
        else await expectConversion(model, target, errors)
      }
    }
  })
})
