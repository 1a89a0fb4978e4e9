// NumPy's arrays inside checkpoints: plain numbers are read, everything else is left alone.
import { describe, expect, it } from 'vitest'
import { inspectModel, MemorySource, type Model, openModel, readPayload, verifySource } from '../../../src/kit.js'
import { fixtureSource } from '../../support/fixtures.js'
import { craftZip } from '../../wire/zip/build.js'
import { archive, bool, build, type Code, call, dict, global, int, ints, none, str, tuple } from './build.js'
import { protocol2, protocol5 } from './numpy-pickles.js'

const open = (bytes: Uint8Array): Promise<Model> => openModel(new MemorySource(bytes, 'm.pt'))

const around = (pickle: Uint8Array): Uint8Array =>
  craftZip([
    { name: 'archive/data.pkl', content: pickle },
    { name: 'archive/version', content: new TextEncoder().encode('3\n') },
  ])

describe.each([
  ['protocol 2', protocol2],
  ['protocol 5', protocol5],
])('%s', (_name, pickle) => {
  it('gives arrays of numbers as tensors', async () => {
    const { tensors } = await open(around(pickle))
    const described = await Promise.all(
      tensors.map(async ({ name, dtype, shape, order, data }) => {
        const bytes = Buffer.from(await readPayload(data!)).toString('hex')
        return `${name} ${dtype.id} [${shape}] ${order} ${bytes}`
      }),
    )
    expect(described).toEqual([
      'c f32 [2,3] row 000000000000803f0000004000004040000080400000a040',
      'fortran i16 [2,3] column 000003000100040002000500',
      'big i32 [2] row 01000000feffffff',
      'flags bool [2] row 0100',
      'complex c64 [1] row 0000803f00000040',
      'half f16 [1] row 003e',
      'none f64 [0,3] row ',
      'zero u64 [] row 0700000000000000',
    ])
  })

  it('gives single numbers as metadata of their own type, and nothing for the rest', async () => {
    const { metadata } = inspectModel(await open(around(pickle)))
    expect(metadata).toMatchObject({
      best: { type: 'f64', value: 0.25 },
      step: { type: 'i64', value: -5 },
      yes: { type: 'bool', value: true },
    })
    expect(Object.keys(metadata).filter((key) => /^(things|record|names|day)$/.test(key))).toEqual([])
  })

  it('still says that these are no plain checkpoints', async () => {
    const { verdict, findings } = await verifySource(new MemorySource(around(pickle), 'm.pt'))
    expect(verdict).toBe('warnings')
    expect(new Set(findings.map(({ code }) => code))).toEqual(new Set(['torch/unknown-global']))
  })
})

it('reads what PyTorch saved beside a tensor', async () => {
  const model = await openModel(fixtureSource('torch', 'odd-numpy.pt'))
  expect(model.tensors.map(({ name, dtype }) => [name, dtype.id])).toEqual([
    ['w', 'f32'],
    ['np', 'f64'],
  ])
  expect(model.metadata.get('scalar')).toEqual({ type: 'f32', value: 2 })
})

describe('what does not add up', () => {
  const latin1 = (text: string): Code => call('_codecs encode', str(text), str('latin1'))
  const dtype = (name: string, ...description: Code[]): Code => {
    const state = tuple(int(3), str('<'), ...(description.length > 0 ? description : [none, none, none]), int(-1))
    return build(call('numpy dtype', str(name), bool(false), bool(true)), state)
  }
  const array = (type: Code, shape: Code, bytes: Code): Code =>
    build(
      call('numpy.core.multiarray _reconstruct', global('numpy ndarray'), ints([0]), latin1('b')),
      tuple(int(1), shape, type, bool(false), bytes),
    )
  const codesFor = async (root: Code): Promise<string[]> => {
    const { findings } = await verifySource(new MemorySource(archive(dict({ a: root })), 'm.pt'))
    return findings.filter(({ severity }) => severity === 'error').map(({ code }) => code)
  }

  it('is reported: too few bytes, too many, shapes beyond all memory or none at all', async () => {
    const f4 = dtype('f4')
    expect(await codesFor(array(f4, ints([1]), latin1('abcd')))).toEqual([])
    for (const shape of [ints([2]), ints([0]), ints([2n ** 40n, 2n ** 40n]), ints([-1]), str('no')])
      expect(await codesFor(array(f4, shape, latin1('abcd')))).toEqual(['torch/tensor-arguments'])
  })

  it('stays inert: other element types, records, bytes that are none', async () => {
    const names: Code[] = [dtype('O8'), dtype('U2'), dtype('V4'), dtype('f3'), dtype('f4', none, tuple(str('x')), none)]
    for (const type of names) {
      const model = await open(archive(dict({ a: array(type, ints([1]), latin1('abcd')) })))
      expect(model.tensors).toEqual([])
    }
    expect((await open(archive(dict({ a: array(dtype('f4'), ints([1]), str('abcd')) })))).tensors).toEqual([])
  })
})
