// Any container to any other and back. What comes home is what left, except for what the plans of the two conversions name.
import { describe, expect, it } from 'vitest'
import {
  type Difference,
  diffModels,
  type Format,
  formats,
  hashModel,
  inspectModel,
  MemorySink,
  type Model,
  openModel,
  type Part,
  type Plan,
  type PlanAction,
  planConversion,
  readPayload,
  runConversion,
  stowageKey,
  text,
  toHex,
} from '../../src/kit.js'
import { nameBytes } from '../../src/model/name-bytes.js'
import { restoreStowed } from '../../src/stow/index.js'
import { rowMajor } from '../../src/transforms/reorder.js'
import { sourceOf } from '../support/convert.js'
import { featureModels } from '../support/feature-models.js'
import { fixtureBytes, fixtureSource, isAccepted, presentCases } from '../support/fixtures.js'

const writable = formats.filter((format) => format.capabilities.write)
const takes = ({ capabilities }: Format, model: Model): boolean =>
  model.tensors.length <= (capabilities.write?.maxTensors ?? Number.POSITIVE_INFINITY)

interface Converted {
  readonly plan: Plan
  readonly files: Map<string, Uint8Array>
}

async function convert(model: Model, target: Format, stow = true): Promise<Converted> {
  // A file with room for one tensor has none for its name: its own stands for it.
  const isNameless = target.capabilities.write?.maxTensors === 1
  const name = `${isNameless ? (model.tensors.at(0)?.name ?? 'm') : 'm'}${target.extensions[0]}`
  const conversion = await planConversion(model, target.id, { name, deterministic: true, stow })
  const files = new Map<string, Uint8Array>()
  await runConversion(conversion, async (each) => new MemorySink(each, files), { allowLoss: 'content' })
  const main = conversion.layout.files[0]!.name
  return { plan: conversion.plan, files: new Map([[main, files.get(main)!], ...files]) }
}

const reopen = (files: ReadonlyMap<string, Uint8Array>, { id }: Format): Promise<Model> =>
  openModel(sourceOf(files), { from: id })

/** Subjects that a plan changes for good. */
const lostIn = (...plans: readonly Plan[]): ReadonlySet<string> =>
  new Set(
    plans.flatMap(({ actions }) =>
      actions
        .filter(({ loss }) => loss !== 'none')
        .map(({ subject, name }) => `${subject} ${name.replace(/^quantization of /, '')}`),
    ),
  )

async function describePart({ kind, name, value, data }: Part): Promise<[string, unknown]> {
  return [`part ${name ?? kind}`, { kind, value, data: data && toHex(await readPayload(data)) }]
}

/** Everything about a model that is not how its container lays it out, by subject. */
async function contentOf(model: Model): Promise<Map<string, unknown>> {
  const { tensors, metadata } = inspectModel(model, { listLimit: 1000 })
  const digests = new Map((await hashModel(model)).tensors.map(({ name, digest }) => [name, digest]))
  return new Map([
    ...tensors.map(({ offset: _o, file: _f, bytes: _b, ...rest }, i): [string, unknown] => {
      const digest = digests.get(rest.name)
      // Formats show names that are not UTF-8 in ways of their own; what counts is the bytes.
      const raw = nameBytes(model.tensors.at(i)!)
      return [`tensor ${raw ? toHex(raw) : rest.name}`, { ...rest, ...(raw && { name: toHex(raw) }), digest }]
    }),
    ...Object.entries(metadata).map(([key, value]): [string, unknown] => [`metadata ${key}`, value]),
    ...(await Promise.all(model.parts.filter(({ sharing }) => sharing !== 'derived').map(describePart))),
  ])
}

/** Whether a format has a place for what it does not know. */
const isRoomy = ({ capabilities }: Format): boolean => capabilities.write!.metadata(stowageKey, text('{}')).fits

const inRows = (model: Model): Model => ({ ...model, tensors: model.tensors.map((tensor) => rowMajor(tensor)) })

async function expectHome(
  home: Model,
  returned: Model,
  away: Format,
  lost: ReadonlySet<string>,
  isExact = isRoomy(away),
): Promise<void> {
  // Without such a place, a format that takes both orders does not get back the one that it had.
  const both = [home, (await restoreStowed(returned)).model]
  const models = isRoomy(away) ? both : both.map(inRows)
  const [before, after] = (await Promise.all(models.map(contentOf))) as [Map<string, unknown>, Map<string, unknown>]
  for (const subject of [...lost, `metadata ${stowageKey}`]) {
    before.delete(subject)
    after.delete(subject)
  }
  // Which node or graph a tensor belongs to is gone with the graph.
  if (lost.has('part onnx.graph'))
    for (const content of [before, after])
      for (const each of content.values()) delete (each as { extra?: unknown }).extra
  // What the home format adds where it cannot know that the model is its own may be in, too.
  if (isExact) expect(Object.fromEntries(after)).toEqual(Object.fromEntries(before))
  else expect(Object.fromEntries(after)).toMatchObject(Object.fromEntries(before))
}

describe.each(writable.map((format) => [format.id, format] as const))('from %s', (_, home) => {
  const models = Object.entries(featureModels).filter(([, model]) => takes(home, model))
  describe.each(models)('%s', (_name, model) => {
    const possible = writable.filter((format) => takes(format, model))
    it.each(possible.map((format) => [format.id, format] as const))('to %s and back', async (_id, away) => {
      // Only what the format holds by itself.
      const written = await convert(model, home, false).catch((error: { code?: string }) => error)
      if (!('plan' in written)) {
        // A container that can hold nothing of the model says so.
        expect(written.code).toMatch(/\//)
        return
      }
      const before = await reopen(written.files, home)
      const there = await convert(before, away).catch((error: { code?: string }) => error)
      if (!('plan' in there)) {
        expect(there.code).toMatch(/\//)
        return
      }
      const carried = await reopen(there.files, away)
      await expectDeclared(await diffModels(before, carried), there.plan)
      const back = await convert(carried, home)
      const lost = lostIn(there.plan, back.plan)
      if (lost.size === 0 && isRoomy(away))
        expect(same(back.files, written.files), describeFiles(back.files)).toBe(true)
      await expectHome(before, await reopen(back.files, home), away, lost)
    })
  })
})

/** Everything that is different was named by the plan, and everything that the plan calls lost content is different. */
async function expectDeclared(difference: Difference, plan: Plan): Promise<void> {
  const named = lostIn(plan)
  const renamed = plan.actions.filter(({ action }) => action === 'map').map(({ name }) => `tensor ${name}`)
  const found = [
    ...difference.tensors.filter(({ change }) => change !== 'extra').map(({ name }) => `tensor ${name}`),
    ...difference.metadata.filter(({ change }) => change !== 'extra').map(({ key }) => `metadata ${key}`),
    ...difference.parts.filter(({ change }) => change !== 'extra').map(({ kind, name }) => `part ${name ?? kind}`),
  ]
  for (const subject of found) expect([...named, ...renamed], JSON.stringify(difference)).toContain(subject)
  const dropped = plan.actions.filter(({ action, loss }) => action === 'drop' && loss === 'content')
  const isSeen = ({ subject, name }: PlanAction): boolean =>
    found.includes(`${subject} ${name}`) || found.includes(`tensor ${name.replace(/^quantization of /, '')}`)
  expect(dropped.filter((action) => !isSeen(action))).toEqual([])
}

function same(a: ReadonlyMap<string, Uint8Array>, b: ReadonlyMap<string, Uint8Array>): boolean {
  return a.size === b.size && [...a].every(([name, bytes]) => b.has(name) && Buffer.compare(bytes, b.get(name)!) === 0)
}

const describeFiles = (files: ReadonlyMap<string, Uint8Array>): string =>
  [...files].map(([name, bytes]) => `${name}: ${Buffer.from(bytes.subarray(0, 400)).toString('latin1')}`).join('\n')

describe.each(writable.map((format) => [format.id, format] as const))('files in the field, from %s', (_, home) => {
  // Which way round linear weights lie is noted where there is room for notes only.
  const isPlain = (file: string): boolean => !/untransposed|tiny-bert/i.test(file)
  const files = presentCases(home.id)
    .filter((each) => isAccepted(each) && isPlain(each.file) && fixtureBytes(home.id, each.file).byteLength < 20_000)
    .map(({ file }) => file)
  const chosen = files.filter((_file, i) => i % Math.ceil(files.length / 6) === 0)

  it.each(chosen)('%s goes everywhere and comes back', async (file) => {
    const model = await openModel(fixtureSource(home.id, file), { from: home.id })
    for (const away of writable) {
      if (!takes(away, model)) continue
      const there = await convert(model, away).catch(() => undefined)
      if (!there) continue
      const back = await convert(await reopen(there.files, away), home).catch((error: Error) => error)
      if (back instanceof Error) {
        expect(lostIn(there.plan).size, `through ${away.id}: ${back.message}`).toBeGreaterThan(0)
        continue
      }
      await expectHome(model, await reopen(back.files, home), away, lostIn(there.plan, back.plan), false).catch(
        (cause: Error) => {
          throw new Error(`through ${away.id}: ${cause.message}`, { cause })
        },
      )
    }
  })
})
