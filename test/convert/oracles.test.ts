// What must hold for every file, whatever is in it: what opens has no fault in its structure that opening did not speak of; a plan names a
// loss exactly where the difference is one; and what is written opens, and has no error that its source did not have. Over all fixtures, and
// over small ones with single bytes changed, into every format and back.
import { describe, expect, it } from 'vitest'
import {
  diffModels,
  type Format,
  formats,
  MemorySink,
  MemorySource,
  type Model,
  openModel,
  type Plan,
  planConversion,
  runConversion,
  TareError,
  type VerifyResult,
  verifySource,
} from '../../src/index.js'
import { sourceOf } from '../support/convert.js'
import { fixtureBytes, presentCases } from '../support/fixtures.js'

const writable = formats.filter((format) => format.layout)
const checked = ['mcf', 'embd'].map((id) => formats.find((format) => format.id === id)!)
const isThorough = process.env.TARE_THOROUGH !== undefined
const largest = 60_000
const largestChanged = 1500
/** Places tried per file; a prime, so that every kind of field comes up in one file or another. */
const step = isThorough ? 1 : 211

type Files = ReadonlyMap<string, Uint8Array>

async function convert(model: Model, target: Format): Promise<{ plan: Plan; files: Files } | undefined> {
  try {
    const name = `m${target.extensions[0]}`
    const conversion = await planConversion(model, target.id, { name, deterministic: true })
    const files = new Map<string, Uint8Array>()
    await runConversion(conversion, async (each) => new MemorySink(each, files), { allowLoss: 'content' })
    const main = conversion.layout.files[0]!.name
    return { plan: conversion.plan, files: new Map([[main, files.get(main)!], ...files]) }
  } catch (error) {
    expect(error).toBeInstanceOf(TareError) // a refusal in words is always possible
    return undefined
  }
}

const errorsOf = ({ findings }: VerifyResult): string[] =>
  findings.filter(({ severity }) => severity === 'error').map(({ code }) => code)

/** The model in the file; undefined when it is refused, and then verifying must have found the reason. */
async function open(bytes: Uint8Array, id: string): Promise<{ model: Model; errors: string[] } | undefined> {
  const source = (): MemorySource => new MemorySource(bytes, 'm')
  const told: string[] = []
  const model = await openModel(source(), { from: id, onFinding: ({ code }) => told.push(code) }).catch((error) => {
    expect(error).toBeInstanceOf(TareError)
    return undefined
  })
  const errors = errorsOf(await verifySource(source(), { from: id }))
  if (!model) {
    expect(errors).not.toEqual([])
    return undefined
  }
  const structural = errorsOf(await verifySource(source(), { from: id, quick: true }))
  expect(structural.filter((code) => !told.includes(code))).toEqual([])
  return { model, errors }
}

const isTaken = ({ id, capabilities }: Format, { tensors }: Model): boolean =>
  tensors.length <= (capabilities.write?.mostTensors ?? Number.POSITIVE_INFINITY) &&
  // Its names are in segments of bytes, for which other formats have one name of bytes.
  !(id === 'primitiv' && tensors.some(({ rawName }) => rawName))

async function checkEverywhere(bytes: Uint8Array, home: Format, where: string): Promise<void> {
  const opened = await open(bytes, home.id)
  if (!opened) return
  const { model, errors } = opened
  for (const away of writable.filter((format) => isTaken(format, model))) {
    const there = await convert(model, away)
    if (!there) continue
    const place = `${where} to ${away.id}`
    const found = errorsOf(await verifySource(sourceOf(there.files), { from: away.id }))
    expect(
      found.filter((code) => !errors.includes(code)),
      place,
    ).toEqual([])
    const carried = await openModel(sourceOf(there.files), { from: away.id })
    const difference = await diffModels(model, carried)
    expect(difference.equal, `${place}: ${there.plan.loss} ${describeDifference(difference)}`).toBe(
      there.plan.loss === 'none',
    )
    const back = await convert(carried, home)
    if (!back) continue
    const left = errorsOf(await verifySource(sourceOf(back.files), { from: home.id }))
    expect(
      left.filter((code) => !errors.includes(code)),
      `${place} and back`,
    ).toEqual([])
    if (there.plan.loss !== 'none' || back.plan.loss !== 'none') continue
    const returned = await diffModels(model, await openModel(sourceOf(back.files), { from: home.id }))
    expect(returned.equal, `${place} and back: ${describeDifference(returned)}`).toBe(true)
  }
}

const describeDifference = ({ tensors, metadata, parts }: Awaited<ReturnType<typeof diffModels>>): string =>
  JSON.stringify([tensors.slice(0, 2), metadata.slice(0, 2), parts.slice(0, 2)])

describe.each(checked.map((format) => [format.id, format] as const))('%s', (id, home) => {
  const files = presentCases(id)
    .map(({ file }) => file)
    .filter((file) => fixtureBytes(id, file).byteLength <= largest)
  const small = files.filter((file) => fixtureBytes(id, file).byteLength <= largestChanged)

  it('has fixtures of both kinds', () => expect(Math.min(files.length, small.length)).toBeGreaterThan(30))

  it.each(files)('%s goes everywhere and back', (file) => checkEverywhere(fixtureBytes(id, file), home, file))

  it.each(small)('%s with single bytes changed', async (file) => {
    const bytes = fixtureBytes(id, file)
    for (let at = file.length % step; at < bytes.byteLength; at += step) {
      const changed = bytes.slice()
      changed[at]! ^= at % 2 === 0 ? 0xff : 0x01
      await checkEverywhere(changed, home, `${file}, byte ${at}`)
    }
  })
})
