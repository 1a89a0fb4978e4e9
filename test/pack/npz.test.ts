// Arrays from .npz files that NumPy saved.
import { describe, expect, test } from 'vitest'
import { hashModel, openModel } from '../../src/kit.js'
import { convertToFiles, sourceOf } from '../support/convert.js'
import { fixtureBytes, fixtureSource } from '../support/fixtures.js'
import { filesOf, pack, refusalOf, valuesOf } from './support.js'

const archive = (file: string) => filesOf({ 'a.npz': fixtureBytes('npz', file) })
const packEntry = (entry: object, file: string, name = 't') =>
  pack({ sizevars: { D: 2 }, tensors: { [name]: entry } }, archive(file))

describe.each(['plain.npz', 'deflated.npz'])('members of %s', (file) => {
  test('come with their type and shape, big-endian ones turned round', async () => {
    const tensors = { w: { file: 'a.npz', member: 'weight', shape: ['D', 3] }, bias: { file: 'a.npz' } }
    const model = await pack({ sizevars: { D: 2 }, tensors }, archive(file))
    expect(model.tensors).toMatchObject([
      { name: 'w', dtype: { id: 'f32' }, shape: [2, 3] },
      { name: 'bias', dtype: { id: 'i32' }, shape: [4] },
    ])
    expect(model.files).toHaveLength(1)
  })

  test('have the values that the archive itself has, in any order of elements', async () => {
    const names = ['weight', 'bias', 'fortran']
    const tensors = Object.fromEntries(names.map((name) => [name, { file: 'a.npz' }]))
    const packed = await pack({ tensors }, archive(file))
    const written = await openModel(sourceOf(await convertToFiles(packed, 'safetensors')))
    const wanted = await hashModel(await openModel(fixtureSource('npz', file)), { decoded: true })
    const found = await hashModel(written, { decoded: true })
    for (const name of names) {
      const digest = (hashes: typeof found): unknown => hashes.tensors.find((tensor) => tensor.name === name)!.digest
      expect(digest(found), name).toBe(digest(wanted))
    }
  })

  test('can be given another type', async () => {
    const model = await packEntry({ file: 'a.npz', member: 'bias', dtype: 'f64' }, file)
    const plain = await packEntry({ file: 'a.npz', member: 'bias' }, file)
    expect(await valuesOf(model, 't')).toEqual(await valuesOf(plain, 't'))
  })

  test('are metadata too', async () => {
    const { metadata } = await pack({ metadata: { fortran: { file: 'a.npz' } } }, archive(file))
    expect(metadata.get('fortran')).toMatchObject({ type: 'ndarray', dtype: { id: 'f64' }, shape: [3, 2] })
  })
})

test('the only array needs no name', async () => {
  expect((await packEntry({ file: 'a.npz' }, 'comment.npz')).tensors.at(0)).toMatchObject({ name: 't', shape: [2, 3] })
})

test('names are taken as they are', async () => {
  for (const member of ['a/b.c', 'grüße 世界', '__proto__'])
    expect((await packEntry({ file: 'a.npz', member }, 'names.npz')).tensors).toHaveLength(1)
})

test('filling in replaces a member by a file, and the other way round', async () => {
  const { fillDescription } = await import('../../src/kit.js')
  const files = filesOf({ 'a.npz': fixtureBytes('npz', 'plain.npz') })
  const declared = { tensors: { t: { file: 'a.npz', member: 'weight' } } }
  const data = await pack(fillDescription(declared, { t: [1, 2] }), files)
  expect(await valuesOf(data, 't')).toEqual([1n, 2n])
  const other = await pack(fillDescription({ tensors: { t: [1] } }, { t: { file: 'a.npz', member: 'bias' } }), files)
  expect(other.tensors.at(0)!.shape).toEqual([4])
})

describe('what cannot be used is an error of the field', () => {
  const at = (path: string) => `tensors.t${path}`

  test.each<[string, object, string, string, string]>([
    ['plain.npz', { file: 'a.npz', member: 'W' }, 'pack/data-file', at('.member'), 'no array "W"; it has weight, bias'],
    ['plain.npz', { file: 'a.npz' }, 'pack/data-file', at('.file'), 'say which one with member:'],
    ['empty.npz', { file: 'a.npz' }, 'pack/data-file', at('.file'), 'it has no arrays'],
    ['plain.npz', { file: 'a.npz', member: 1 }, 'pack/field-type', at('.member'), 'the name of an array'],
    ['plain.npz', { member: 'weight' }, 'pack/missing', at('.member'), 'of which file?'],
    ['plain.npz', { file: 'a.npz', member: 'bias', shape: ['D'] }, 'pack/shape-mismatch', at('.shape[0]'), '[4]'],
    ['bad-not-zip.npz', { file: 'a.npz' }, 'pack/data-file', at('.file'), '(zip/'],
    ['bad-truncated.npz', { file: 'a.npz' }, 'pack/data-file', at('.file'), '(zip/'],
    ['bad-encrypted.npz', { file: 'a.npz' }, 'pack/data-file', at('.file'), '(zip/encrypted)'],
    ['bad-object.npz', { file: 'a.npz' }, 'pack/data-file', at('.file'), 'a.npz'],
    ['bad-deflate.npz', { file: 'a.npz' }, 'pack/data-file', at('.file'), 'a.npz'],
    ['bad-size-lie.npz', { file: 'a.npz' }, 'pack/data-file', at('.file'), 'a.npz'],
  ])('%s with %o', async (file, entry, code, path, words) => {
    const refusal = await refusalOf(async () => convertToFiles(await packEntry(entry, file), 'oinf'))
    expect(refusal).toMatchObject({ code, path })
    expect(refusal.message).toContain(words)
  })

  test('a wrong checksum, when the last byte was read', async () => {
    const model = await packEntry({ file: 'a.npz' }, 'bad-crc.npz')
    const refusal = await refusalOf(() => convertToFiles(model, 'oinf'))
    expect(refusal).toMatchObject({ code: 'pack/data-file', path: 'tensors.t.file' })
    expect(refusal.message).toMatch(/\(zip\/crc\)$/)
  })

  test('a member of what is no archive', async () => {
    const files = filesOf({ 'a.npy': new Uint8Array(9) })
    const refusal = await refusalOf(() => pack({ tensors: { t: { file: 'a.npy', member: 'x' } } }, files))
    expect(refusal).toMatchObject({ code: 'pack/conflict', path: 'tensors.t.member' })
  })
})
