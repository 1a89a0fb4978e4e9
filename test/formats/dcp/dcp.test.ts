// Distributed checkpoints beyond the list of fixtures: what becomes of objects, and files that were changed on purpose.
import { describe, expect, it } from 'vitest'
import { MemorySource, openModel, readPayload, verifySource } from '../../../src/kit.js'
import { fixtureBytes } from '../../support/fixtures.js'

type Files = Map<string, Uint8Array>

const names = ['__0_0.distcp', '__1_0.distcp']

function filesOf(folder: string): Files {
  const all = folder === 'plain' ? names.slice(0, 1) : names
  return new Map(['.metadata', ...all].map((name) => [name, fixtureBytes('dcp', `${folder}/${name}`).slice()]))
}

const sourceOf = (files: Files): MemorySource => new MemorySource(files.get('.metadata')!, '.metadata', files)

/** Replaces a text in a file by another of the same length, everywhere. */
function replace(files: Files, name: string, from: string, to: string): Files {
  expect(to.length).toBe(from.length)
  const text = Buffer.from(files.get(name)!).toString('latin1')
  expect(text).toContain(from)
  return files.set(name, Uint8Array.from(Buffer.from(text.replaceAll(from, to), 'latin1')))
}

const codesOf = async (files: Files): Promise<string[]> => {
  const { findings } = await verifySource(sourceOf(files))
  return [...new Set(findings.map(({ code }) => code))]
}

describe('objects of a distributed checkpoint', () => {
  it('are metadata under their names', async () => {
    const { metadata, version } = await openModel(sourceOf(filesOf('plain')))
    expect(version).toBe('1.0.0')
    expect(metadata.get('step')).toEqual({ type: 'i64', value: 17 })
    expect(metadata.get('lr')).toEqual({ type: 'f64', value: 0.001 })
    expect(metadata.get('name')).toMatchObject({ type: 'str', value: 'run' })
    expect(metadata.get('none')).toEqual({ type: 'null' })
    expect(metadata.get('tuple')).toMatchObject({ type: 'array', length: 2 })
  })

  it('can be bytes, one of each rank', async () => {
    const { metadata } = await openModel(sourceOf(filesOf('row-column')))
    expect(metadata.get('rank1.rng.state')).toEqual({ type: 'bytes', value: Uint8Array.of(1, 1, 2, 3) })
  })

  it('are settings of an optimizer, whose tensors are its state', async () => {
    const { metadata, tensors } = await openModel(sourceOf(filesOf('fsdp-adamw')))
    expect(metadata.get('optim.param_groups.0.lr')).toEqual({ type: 'f64', value: 0.01 })
    const roles = new Map(tensors.map(({ name, role }) => [name, role]))
    expect(roles.get('optim.state.fc.weight.exp_avg')).toBe('state')
    expect(roles.get('model.fc.weight')).toBe('weight')
  })
})

describe('tensors of a distributed checkpoint', () => {
  it('are looked up when they are read, not when it is opened', async () => {
    const broken = replace(filesOf('row-column'), '.metadata', 'float16', 'float99')
    await expect(openModel(sourceOf(broken))).rejects.toMatchObject({ code: 'dcp/dtype' })
    const other = replace(filesOf('row-column'), '.metadata', 'float32', 'float64')
    const model = await openModel(sourceOf(other))
    const tensor = model.tensors.find(({ name }) => name === 'row.weight')!
    await expect(readPayload(tensor.data!)).rejects.toMatchObject({
      code: 'dcp/chunk-tensor',
      finding: { file: '__0_0.distcp', path: expect.stringContaining('row.weight') },
    })
    expect(await codesOf(other)).toContain('dcp/chunk-tensor')
  })

  it('are read from any place on', async () => {
    const { tensors } = await openModel(sourceOf(filesOf('row-column')))
    for (const { name, data } of tensors) {
      const whole = await readPayload(data!)
      for (let at = 0; at < whole.byteLength; at += 5) {
        const length = Math.min(11, whole.byteLength - at)
        expect(Uint8Array.from(await data!.read!(at, length)), `${name} @ ${at}`).toEqual(whole.slice(at, at + length))
      }
    }
  })
})

describe('a distributed checkpoint that was changed', () => {
  it('names a file outside its directory', async () => {
    const files = replace(filesOf('row-column'), '.metadata', '__1_0.distcp', '../_0.distcp')
    expect(await codesOf(files)).toContain('dcp/item-path')
    await expect(openModel(sourceOf(files))).rejects.toMatchObject({ code: 'dcp/item-path' })
  })

  it('lacks the place of a chunk', async () => {
    // The name stands once in the description and once for each chunk; only the former is changed.
    const files = filesOf('plain')
    const text = Buffer.from(files.get('.metadata')!).toString('latin1')
    const at = text.indexOf('noncontiguous')
    const changed = `${text.slice(0, at)}nOncontiguous${text.slice(at + 'noncontiguous'.length)}`
    files.set('.metadata', Uint8Array.from(Buffer.from(changed, 'latin1')))
    const codes = await codesOf(files)
    expect(codes).toContain('dcp/item-missing')
    expect(codes).toContain('dcp/item-unused')
  })

  it('has chunks that overlap in a file', async () => {
    // BININT2 of 2522, where the third item begins, becomes one less.
    const files = filesOf('plain')
    const bytes = files.get('.metadata')!
    const place = bytes.findIndex((_, i) => bytes[i] === 0x4d && bytes[i + 1] === 0xda && bytes[i + 2] === 0x09)
    expect(place).toBeGreaterThan(0)
    bytes[place + 1] = 0xd9
    expect(await codesOf(files)).toContain('dcp/item-overlap')
  })

  it('has a chunk outside its tensor, or a hole', async () => {
    const files = filesOf('row-column')
    const bytes = files.get('.metadata')!
    // torch.Size((7, 5)) of the first tensor: BININT1 7, BININT1 5, TUPLE2.
    const at = bytes.findIndex((_, i) => [0x4b, 7, 0x4b, 5, 0x86].every((byte, k) => bytes[i + k] === byte))
    bytes[at + 1] = 6
    expect(await codesOf(files)).toContain('dcp/chunk-bounds')
    bytes[at + 1] = 8
    expect(await codesOf(files)).toContain('dcp/chunk-hole')
  })

  it('has an object that cannot be read', async () => {
    // The first archive loses the signature of its end record; everything else is still looked at.
    const files = filesOf('plain')
    const bytes = files.get('__0_0.distcp')!
    bytes.fill(0, 1200, 1261)
    const { findings } = await verifySource(sourceOf(files))
    const errors = findings.filter(({ severity }) => severity === 'error')
    expect(errors.length).toBeGreaterThan(0)
    for (const { path } of errors) expect(path).toContain('storage_data["step"]')
  })

  it('has a changed byte among the weights', async () => {
    const files = filesOf('row-column')
    const { tensors } = await openModel(sourceOf(files))
    const whole = await readPayload(tensors.find(({ name }) => name === 'row.weight')!.data!)
    const file = Buffer.from(files.get('__0_0.distcp')!)
    const at = file.indexOf(whole.subarray(0, 16))
    file[at] = file[at]! ^ 1
    files.set('__0_0.distcp', Uint8Array.from(file))
    const { findings, verdict } = await verifySource(sourceOf(files))
    expect(verdict).toBe('errors')
    const damage = findings.filter(({ severity }) => severity === 'error')
    expect(damage).toMatchObject([
      { code: 'zip/crc', file: '__0_0.distcp', path: expect.stringContaining('row.weight') },
    ])
    expect(damage[0]!.offset).toBeLessThanOrEqual(at)
    expect(damage[0]!.offset! + damage[0]!.length!).toBeGreaterThan(at)
  })
})

it('a file of chunks alone says where to look', async () => {
  const source = new MemorySource(filesOf('plain').get('__0_0.distcp')!, 'dir/__0_0.distcp')
  await expect(openModel(source)).rejects.toMatchObject({ code: 'dcp/part-alone' })
})
