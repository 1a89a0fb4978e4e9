// What must hold for every file, sound or not: opening and verifying agree on its structure, every output opens and verifies without an
// error, and a conversion without loss leaves nothing that differs, there and back again.
import { describe, expect, it } from 'vitest'
import {
  diffModels,
  digestOf,
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
  verifySource,
} from '../../../src/kit.js'
import { sourceOf } from '../../support/convert.js'
import { fixtureBytes, fixtureSource, presentCases } from '../../support/fixtures.js'
import { aeroBytes, entry, index, type TestChunk, weights } from './build.js'

type Files = ReadonlyMap<string, Uint8Array>

async function convert(model: Model, target: Format): Promise<{ plan: Plan; files: Files }> {
  const name = `out${target.extensions[0]}`
  const conversion = await planConversion(model, target.id, { name, deterministic: true })
  const files = new Map<string, Uint8Array>()
  await runConversion(conversion, async (each) => new MemorySink(each, files), { allowLoss: 'content' })
  const main = conversion.layout.files[0]!.name
  return { plan: conversion.plan, files: new Map([[main, files.get(main)!], ...files]) }
}

async function openOrCode(source: MemorySource): Promise<Model | string> {
  try {
    return await openModel(source)
  } catch (error) {
    if (error instanceof TareError) return error.code
    throw error
  }
}

/** Findings that need bytes which opening does not read: the content of chunks, and the parts of a set. */
const isOfContent = (code: string): boolean =>
  /^aero\/(chunk-(hash|zstd|zstd-trailing|ulen|overlap-work)|tensor-hash-b3|phsh-|ihsh-|defect-(zero-hash|empty-pages))/.test(
    code,
  ) || /^aeroset\/(sha256|part-|tensor-not-in-part)/.test(code)

/** The model, where it opens and nothing is wrong with it. */
async function judge(source: () => MemorySource, what: string): Promise<Model | undefined> {
  const model = await openOrCode(source())
  const { findings } = await verifySource(source())
  const errors = findings.filter(({ severity }) => severity === 'error').map(({ code }) => code)
  expect(errors, what).not.toContain('verify/internal')
  if (typeof model === 'string') {
    expect(errors, `${what} is refused: ${model}`).not.toEqual([])
    return undefined
  }
  expect(
    errors.filter((code) => !isOfContent(code)),
    `${what} opens`,
  ).toEqual([])
  return errors.length === 0 ? model : undefined
}

const targets = formats.filter(({ capabilities }) => capabilities.write)

/** What a target cannot hold at all it says with a code. */
async function expectThereAndBack(model: Model, target: Format, what: string): Promise<void> {
  const home = formats.find(({ id }) => id === model.format)!
  const there = await convert(model, target).catch((error: unknown) => error)
  if (there instanceof TareError) {
    expect(there.code, what).toMatch(/^(write\/name-unsupported|npy\/one-array|embd\/write-limit)$/)
    return
  }
  if (there instanceof Error) throw there
  const { plan, files } = there as Awaited<ReturnType<typeof convert>>
  const stored = await judge(() => sourceOf(files), `${what} to ${target.id}`)
  expect(stored, `${what} to ${target.id}`).toBeDefined()
  const difference = await diffModels(model, stored!)
  if (plan.loss === 'content') expect(difference.equal, `${what} to ${target.id}`).toBe(false)
  if (plan.loss !== 'none') return
  const { tensors, metadata, parts } = difference
  expect({ tensors, metadata, parts }, `${what} to ${target.id}`).toEqual({ tensors: [], metadata: [], parts: [] })
  const back = await convert(stored!, home)
  const returned = await judge(() => sourceOf(back.files), `${what} from ${target.id}`)
  expect((await diffModels(model, returned!)).equal, `${what} from ${target.id}`).toBe(true)
  // What an index without weights declares has no place in a file of its own, so it comes back by its name alone.
  if (back.plan.loss === 'none' && model.tensors.every(({ data }) => data))
    expect(fieldsOf(returned!), `${what} from ${target.id}`).toEqual(fieldsOf(model))
}

/** What diff does not look at: the fields that only AERO has. Descriptors are numbered again. */
const fieldsOf = ({ tensors }: Model): Record<string, unknown> =>
  Object.fromEntries([...tensors].map(({ name, extra: { quant_id: _, ...rest } = {} }) => [name, rest]))

describe.each(['aero', 'aeroset'])('%s fixtures', (format) => {
  it.each(presentCases(format))('$file', { timeout: 30_000 }, async ({ file }) => {
    if (fixtureBytes(format, file).byteLength === 0) return
    const model = await judge(() => fixtureSource(format, file), file)
    if (model) for (const target of targets) await expectThereAndBack(model, target, file)
  })
})

/** The hashes of plain chunks are put right again, so that a change is not just one that the hash gives away. */
async function withHashes(bytes: Uint8Array): Promise<Uint8Array> {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  for (let i = 0; i < Math.min(view.getUint32(96, true), 20); i++) {
    const at = 112 + 80 * i
    if (at + 80 > bytes.byteLength) break
    const [offset, length] = [Number(view.getBigUint64(at + 8, true)), Number(view.getBigUint64(at + 16, true))]
    const isCompressed = view.getUint32(at + 4, true) % 2 === 1
    if (isCompressed || offset + length > bytes.byteLength) continue
    bytes.set(await digestOf('blake3', bytes.subarray(offset, offset + length)), at + 48)
  }
  return bytes
}

const json: TestChunk = { fourcc: 'MJSN', name: 'meta.json', bytes: new TextEncoder().encode('{"a":1.0,"b":[1]}') }
const unknown: TestChunk = { fourcc: 'XTRA', name: 'vendor', bytes: new Uint8Array(5).fill(9) }
const f32 = { dtype: 1, shape: [1, 1], data_len: 4 }

const bases: readonly (readonly [string, () => Promise<Uint8Array>])[] = [
  [
    'an index, weights and more',
    () => aeroBytes([json, index(entry('a', f32), entry('b', { data_off: 4, note: 1 })), weights(), unknown]),
  ],
  [
    'packed tensors',
    () =>
      aeroBytes([
        index(entry('q', { dtype: 0x8000, shape: [32], data_len: 18, quant_params: { ggml_type: 2 } })),
        weights(18),
      ]),
  ],
  ['chunks of any type', async () => fixtureBytes('aero', 'valid/unknown-chunks.aero')],
]

/** A prime, so that every kind of field comes up in one file or another. */
const step = process.env.TARE_THOROUGH === undefined ? 7 : 1

describe('a file with one byte changed', () => {
  it.each(bases)('%s', { timeout: 60_000 }, async (_, make) => {
    const base = await make()
    let turn = 0
    for (let at = 0; at < base.byteLength; at += step) {
      for (const value of [0, 0xff, base[at]! ^ 0x04]) {
        if (value === base[at]) continue
        const bytes = base.slice()
        bytes[at] = value
        if (at < 112 || (at - 112) % 80 < 48) await withHashes(bytes)
        const what = `byte ${at} is ${value}`
        const model = await judge(() => new MemorySource(bytes, 'x.aero'), what)
        if (model) await expectThereAndBack(model, targets[turn++ % targets.length]!, what)
      }
    }
  })
})
