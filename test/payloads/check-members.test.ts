// Checksums of archives: all of them, or those that cover the tensors that are asked for.
import { describe, expect, it } from 'vitest'
import { collectingReport, type Finding } from '../../src/errors/index.js'
import { recognise } from '../../src/formats/open.js'
import { MemorySource } from '../../src/kit.js'
import { npyHeaderOf } from '../../src/wire/npy/header.js'
import * as craft from '../formats/torch/build.js'
import { craftZip } from '../wire/zip/build.js'

/** The members whose checksum was found wrong, and how many bytes were looked at. */
async function check(bytes: Uint8Array, name: string, only?: readonly string[]) {
  const findings: Finding[] = []
  const source = new MemorySource(bytes, name)
  const { context, read } = await recognise(source, { report: collectingReport(name, findings) })
  const { check } = await read()
  let checked = 0
  const count = (length: number): void => {
    checked += length
  }
  await check!({ ...context, extra: {}, checked: count, ...(only && { only: new Set(only) }) })
  return { wrong: findings.filter(({ code }) => code === 'zip/crc').map(({ path }) => path), checked }
}

const array = (...data: number[]): Uint8Array => Uint8Array.from([...npyHeaderOf('|u1', [data.length], false), ...data])
const wrongSum = { local: { crc: 1 }, central: { crc: 1 } }

describe('checksums of an archive', () => {
  const npz = craftZip([
    { name: 'a.npy', content: array(1, 2), ...wrongSum },
    { name: 'b.npy', content: array(3, 4, 5), ...wrongSum },
    { name: 'notes.txt', content: Uint8Array.of(1), ...wrongSum },
  ])

  it('are all compared', async () => {
    const { wrong } = await check(npz, 'x.npz')
    expect(wrong).toEqual(['members["a.npy"]', 'members["b.npy"]', 'members["notes.txt"]'])
  })

  it('are compared for certain tensors, reading nothing else', async () => {
    expect(await check(npz, 'x.npz', ['b'])).toEqual({ wrong: ['members["b.npy"]'], checked: array(3, 4, 5).length })
    expect(await check(npz, 'x.npz', [])).toEqual({ wrong: [], checked: 0 })
  })

  it('of PyTorch are found by the storages of the tensors, whatever their views are', async () => {
    const { dict, tensor, storage, pickle, text } = craft
    const [first, second] = [storage('0', 'torch FloatStorage', 4), storage('1', 'torch FloatStorage', 1)]
    const turned = tensor(first, [2, 2], { strides: [1, 2] })
    const content = { 'data.pkl': pickle(dict({ w: turned, v: tensor(first, [4]), b: tensor(second, [1]) })) }
    const records = { ...content, 'data/0': new Uint8Array(16), 'data/1': new Uint8Array(4), version: text('3\n') }
    const bytes = craftZip(
      Object.entries(records).map(([name, of]) => ({ name: `m/${name}`, content: of, ...wrongSum })),
    )
    expect(await check(bytes, 'm.pt', ['w'])).toEqual({ wrong: ['members["m/data/0"]'], checked: 16 })
    expect(await check(bytes, 'm.pt', ['v', 'b'])).toMatchObject({ checked: 20 })
    expect((await check(bytes, 'm.pt')).wrong).toHaveLength(4)
  })

  it('of arrays in a pickle are those of the pickle', async () => {
    const { call, dict, int, ints, str, tuple, build, none, pickle, text } = craft
    const type = build(
      call('numpy dtype', str('u1'), craft.bool(false), craft.bool(true)),
      tuple(int(3), str('|'), none, none, none, int(-1), int(-1), int(0)),
    )
    const data = call('_codecs encode', str('ab'), str('latin1'))
    const empty = call('numpy.core.multiarray _reconstruct', craft.global('numpy ndarray'), ints([0]), str('b'))
    const root = pickle(dict({ a: build(empty, tuple(int(1), ints([2]), type, craft.bool(false), data)) }))
    const records = { 'data.pkl': root, version: text('3\n') }
    const bytes = craftZip(
      Object.entries(records).map(([name, of]) => ({ name: `m/${name}`, content: of, ...wrongSum })),
    )
    expect(await check(bytes, 'm.pt', ['a'])).toEqual({ wrong: ['members["m/data.pkl"]'], checked: root.byteLength })
  })
})
