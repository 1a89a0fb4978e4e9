import { describe, expect, it } from 'vitest'
import {
  type ByteSource,
  closeModel,
  countingSource,
  digestOf,
  formatById,
  hashModel,
  MemorySource,
  type Model,
  openModel,
  type ReadCount,
  readPayload,
  TareError,
  toHex,
  verifySource,
  withVerifiedReads,
} from '../../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../../support/convert.js'
import { fixtureBytes, fixtureSource, isAccepted, loadCases, presentCases } from '../../../support/fixtures.js'
import { sampleModel, sampleTensor } from '../../../support/sample-model.js'
import { aeroBytes, index as chunkOf, codesOf, entry, weights } from '../build.js'

// biome-ignore lint/suspicious/noExplicitAny: the index is taken apart freely here
type Json = any

const decoder = new TextDecoder()
const main = 'model.aeroset.json'

/** The files of a fixture set, with its index changed. */
function changed(set: string, change: (index: Json) => void): MemorySource {
  const names = [main, 'index.aero', 'part-000.aero', 'part-001.aero']
  const files = new Map(names.map((name) => [name, fixtureBytes('aeroset', `${set}/${name}`)]))
  const index = JSON.parse(decoder.decode(files.get(main)))
  change(index)
  return new MemorySource(new TextEncoder().encode(JSON.stringify(index)), main, files)
}

const verifyChanged = async (change: (index: Json) => void): Promise<string[]> =>
  codesOf(await verifySource(changed('sets/global-ids', change)))

describe('reading', () => {
  it.each(loadCases('aeroset').filter((each) => each.check))('$file: $check', async ({ file, check }) => {
    const codes = codesOf(await verifySource(fixtureSource('aeroset', file)))
    expect(codes).toContain(check!.replace('set.', 'aeroset/'))
  })

  it('opens two files, and a part when somebody reads from it', async () => {
    const files = await convertToFiles(
      sampleModel(Array.from({ length: 12 }, (_, i) => sampleTensor(`t${i}`, 'f32', [128, 256], i))),
      'aeroset',
      { name: main, shardSize: 140_000, extra: { 'part-shards': 1 } },
    )
    const count: ReadCount = { reads: 0, bytes: 0 }
    const model = await openModel(countingSource(sourceOf(files), count))
    const opening = count.reads
    await model.tensors.at(7)!.data!.read!(100_000, 100)
    // The set index was read for detection and again as a whole; over a network the second comes from memory.
    expect(opening).toBeLessThanOrEqual(3)
    expect(count.reads - opening).toBe(2)
    await closeModel(model)
  })

  it.each([
    [
      'aeroset/format',
      (index: Json) => {
        index.format.name = 'OTHER'
      },
    ],
    [
      'aeroset/version',
      (index: Json) => {
        index.format.version = [9, 9]
      },
    ],
    [
      'aeroset/path',
      (index: Json) => {
        index.parts[0].path = '../part-000.aero'
      },
    ],
    [
      'aeroset/path',
      (index: Json) => {
        index.parts[0].path = '/etc/passwd'
      },
    ],
    [
      'aeroset/path',
      (index: Json) => {
        index.parts[0].path = 'sub/../../part-000.aero'
      },
    ],
    [
      'aeroset/index-missing',
      (index: Json) => {
        index.global_tidx.path = 'sub/index.aero'
      },
    ],
    [
      'aeroset/remote',
      (index: Json) => {
        index.parts[1].path = 'http://127.0.0.1:1/part-001.aero'
      },
    ],
    [
      'aeroset/size',
      (index: Json) => {
        index.parts[1].size_bytes++
      },
    ],
    [
      'aeroset/size',
      (index: Json) => {
        index.parts[1].size_bytes = 2 ** 60
      },
    ],
    [
      'aeroset/sha256-form',
      (index: Json) => {
        index.parts[1].sha256 = 'abc'
      },
    ],
    [
      'aeroset/no-sha256',
      (index: Json) => {
        delete index.parts[1].sha256
      },
    ],
    [
      'aeroset/shard-twice',
      (index: Json) => {
        index.parts[1].shards.push(0)
      },
    ],
    [
      'aeroset/tensor-extra',
      (index: Json) => {
        index.parts.push({ ...index.parts[0], shards: [] })
      },
    ],
    [
      'aeroset/json',
      (index: Json) => {
        index.parts[0] = 5
      },
    ],
    [
      'aeroset/json',
      (index: Json) => {
        index.parts[0].shards = [1.5]
      },
    ],
    [
      'aeroset/json',
      (index: Json) => {
        index.global_tidx.size_bytes = -1
      },
    ],
    [
      'aeroset/part-unreadable',
      (index: Json) => {
        index.parts[0].path = main
      },
    ],
  ] as const)('%s', async (code, change) => {
    expect(await verifyChanged(change)).toContain(code)
  })

  it('reads and checks a file once, however often the index names it', async () => {
    const count: ReadCount = { reads: 0, bytes: 0 }
    const source = changed('sets/global-ids', (index) => {
      const [first] = index.parts
      index.parts[0] = { ...first, shards: first.shards.slice(0, 1) }
      for (const path of ['part-000.aero', './part-000.aero'])
        index.parts.push({ ...first, path, shards: first.shards.slice(1), sha256: '0'.repeat(64) })
    })
    const { findings } = await verifySource(countingSource(source, count))
    expect(findings.map(({ code, path }) => [code, path])).toEqual([
      ['aeroset/shard-twice', 'parts[3].shards'],
      ['aeroset/tensor-extra', 'parts[3]'],
      ['aeroset/sha256', 'parts[2].sha256'],
      ['aeroset/sha256', 'parts[3].sha256'],
    ])
    const size = ['index.aero', 'part-000.aero', 'part-001.aero'].reduce(
      (sum, name) => sum + fixtureBytes('aeroset', `sets/global-ids/${name}`).byteLength,
      0,
    )
    expect(count.bytes).toBeLessThan(3 * size)
  })

  it('sees indexes that disagree', async () => {
    const model = sampleModel([sampleTensor('a', 'f32', [4]), sampleTensor('b', 'f32', [4], 2)])
    const one = await convertToFiles(model, 'aeroset', { name: main })
    const other = await convertToFiles(
      sampleModel([sampleTensor('a', 'i32', [4]), sampleTensor('b', 'f32', [2, 2], 2)]),
      'aeroset',
      { name: main },
    )
    const mixed = new Map([...one, ['index.aero', other.get('index.aero')!]])
    const codes = codesOf(await verifySource(sourceOf(mixed)))
    expect(codes.filter((code) => code === 'aeroset/index-disagrees').length).toBe(2)
    expect(codes).toContain('aeroset/sha256')
  })

  it('does not hand out a tensor that part and global index describe differently', async () => {
    const files = await convertToFiles(sampleModel([sampleTensor('a', 'f32', [4])]), 'aeroset', { name: main })
    const other = await convertToFiles(sampleModel([sampleTensor('a', 'i32', [4])]), 'aeroset', { name: main })
    const model = await openModel(sourceOf(new Map([...files, ['index.aero', other.get('index.aero')!]])))
    await expect(readPayload(model.tensors.at(0)!.data!)).rejects.toMatchObject({ code: 'aeroset/index-disagrees' })
  })

  it('does not read from a part of another size', async () => {
    const source = changed('sets/global-ids', (index) => {
      index.parts[0].size_bytes++
    })
    const model = await openModel(source)
    await expect(readPayload(model.tensors.at(0)!.data!)).rejects.toMatchObject({ code: 'aeroset/size' })
  })

  it.each([
    ['./part-000.aero', []],
    ['x/../part-000.aero', []],
    ['x/../../part-000.aero', ['aeroset/path']],
    ['..', ['aeroset/path']],
    ['//part-000.aero', ['aeroset/path']],
  ])('takes %s for what it means', async (path, expected) => {
    const codes = await verifyChanged((index) => {
      index.parts[0].path = path
    })
    expect(codes.filter((code) => code.startsWith('aeroset/'))).toEqual(expected)
  })

  it.each(['part\\000.aero', '\\', 'C:part-000.aero', '../part-000.aero', '/etc/passwd', '..'])(
    'refuses a part at %s when opening, as verifying does',
    async (path) => {
      const source = changed('sets/global-ids', (index) => {
        index.parts[0].path = path
      })
      expect(codesOf(await verifySource(source))).toContain('aeroset/path')
      await expect(openModel(source)).rejects.toMatchObject({ code: 'aeroset/path' })
    },
  )

  it('opens a part whose path leads elsewhere when the caller does', async () => {
    const source = changed('sets/global-ids', (index) => {
      index.parts[0].path = '../part-000.aero'
    })
    const asked: string[] = []
    const openElsewhere = async (location: string, from: ByteSource) => {
      asked.push(location)
      return from.sibling!('part-000.aero')
    }
    const model = await openModel(source, { openElsewhere })
    expect(asked).toEqual(['../part-000.aero'])
    await closeModel(model)
  })

  it('follows addresses only when the caller opens them', async () => {
    const source = changed('sets/global-ids', (index) => {
      index.format.version = [0, 2]
      index.base_url = 'https://example.org/set/'
      index.parts[1].path = 'https://example.org/other.aero'
    })
    const asked: string[] = []
    const openElsewhere = async (location: string): Promise<ByteSource> => {
      asked.push(location)
      return new MemorySource(fixtureBytes('aeroset', 'sets/global-ids/part-001.aero'), location)
    }
    const model = await openModel(source, { openElsewhere })
    const plain = await openModel(fixtureSource('aeroset', `sets/global-ids/${main}`))
    expect((await hashModel(model)).fingerprint).toBe((await hashModel(plain)).fingerprint)
    expect(asked).toEqual(['https://example.org/other.aero']) // files beside a local index are nearer than its base_url
  })

  it('takes base_url at its word when the index itself came from the network', async () => {
    const index = fixtureBytes('aeroset', 'sets/v02-base-url/model.aeroset.json')
    const asked: string[] = []
    const openElsewhere = async (location: string): Promise<ByteSource> => {
      asked.push(location)
      return new MemorySource(fixtureBytes('aeroset', `sets/v02-base-url/${location.split('/').at(-1)}`), location)
    }
    const model = await openModel(new MemorySource(index, 'http://127.0.0.1:8731/x/model.aeroset.json'), {
      openElsewhere,
    })
    await hashModel(model)
    expect(asked).toEqual(
      ['index.aero', 'part-000.aero'].map((name) => `http://127.0.0.1:8731/sets/v02-base-url/${name}`),
    )
  })
})

describe('parts without an index of their own', () => {
  /** Two parts with two shards and three shards, which hold one tensor of 8 bytes each. */
  async function bare(nameOf: (id: number, place: number) => string, change: (tensors: Json[]) => void = () => {}) {
    const ids = [
      [0, 1],
      [2, 3, 4],
    ]
    const contents = Array.from({ length: 5 }, (_, id) => Uint8Array.from({ length: 10 }, (_, i) => 16 * id + i))
    const tensors = contents.map((bytes, id) => ({
      ...entry(`t${id}`, { shape: [8], shard_id: id, data_off: 2, data_len: 8 }),
      bytes: bytes.subarray(2),
    }))
    change(tensors)
    const described = []
    for (const { bytes, ...each } of tensors) {
      described.push({ ...each, hash_b3: toHex(await digestOf('blake3', bytes)) })
    }
    const files = new Map([['index.aero', await aeroBytes([chunkOf(...described)])]])
    const parts = []
    for (const [i, shards] of ids.entries()) {
      const path = `part-00${i}.aero`
      const chunks = shards.map((id, place) => ({ ...weights(0, nameOf(id, place)), bytes: contents[id]! }))
      files.set(path, await aeroBytes(chunks))
      const bytes = files.get(path)!
      parts.push({ path, sha256: toHex(await digestOf('sha256', bytes)), size_bytes: bytes.byteLength, shards })
    }
    const sha256 = toHex(await digestOf('sha256', files.get('index.aero')!))
    const index = {
      format: { name: 'AEROSET', version: [0, 1] },
      model: { name: 'm', architecture: 'a' },
      parts,
      global_tidx: { path: 'index.aero', sha256, size_bytes: files.get('index.aero')!.byteLength },
    }
    return { source: new MemorySource(new TextEncoder().encode(JSON.stringify(index)), main, files), contents }
  }

  it.each([
    ['numbered over the set', (id: number) => `weights.shard${id}`],
    ['numbered from 0 in each part', (_: number, place: number) => `weights.shard${place}`],
    ['called otherwise', (id: number) => `other${id}`],
  ])('are read, verified and converted when their shards are %s', async (_, nameOf) => {
    const { source, contents } = await bare(nameOf)
    const model = await openModel(source)
    for (const [i, tensor] of model.tensors.entries()) {
      expect(await tensor.data!.read!(0, 8)).toEqual(contents[i]!.subarray(2))
    }
    const { verdict, findings } = await verifySource(source)
    expect([verdict, findings.map(({ code }) => code)]).toEqual([
      'warnings',
      ['aeroset/part-no-index', 'aeroset/part-no-index'],
    ])
    const [file] = (await convertToFiles(await openModel(source), 'aero', { name: 'm.aero' })).values()
    const again = await openModel(new MemorySource(file!))
    expect((await hashModel(again)).fingerprint).toBe((await hashModel(model)).fingerprint)
    const { model: verified, proof } = await withVerifiedReads(await openModel(source))
    expect(await verified.tensors.at(3)!.data!.read!(1, 2)).toEqual(contents[3]!.subarray(3, 5))
    expect(proof).toMatchObject({ against: ['hash_b3 of the tensor'], tensorBytes: 2 })
  })

  it('have what the global index says about them', async () => {
    const wrong = await bare(
      (id) => `weights.shard${id}`,
      (tensors) => {
        tensors[1].data_off = 3
        tensors[4].bytes = Uint8Array.of(1)
      },
    )
    expect(codesOf(await verifySource(wrong.source))).toEqual(
      expect.arrayContaining(['aero/tidx-bounds', 'aero/tensor-hash-b3']),
    )
    await expect(readPayload((await openModel(wrong.source)).tensors.at(1)!.data!)).rejects.toMatchObject({
      code: 'aero/tidx-bounds',
    })
  })
})

describe('writing', () => {
  it.each(presentCases('aeroset').filter(isAccepted))('$file comes out as it went in', async ({ file }) => {
    const folder = file.slice(0, file.lastIndexOf('/'))
    const files = await convertToFiles(await openModel(fixtureSource('aeroset', file)), 'aeroset', { name: main })
    for (const [name, bytes] of files)
      expect(Buffer.compare(bytes, fixtureBytes('aeroset', `${folder}/${name}`)), name).toBe(0)
  })

  it('numbers shards over the whole set, in the parts too', async () => {
    const tensors = Array.from({ length: 5 }, (_, i) => sampleTensor(`t${i}`, 'u8', [10], i))
    const files = await convertToFiles(sampleModel(tensors), 'aeroset', {
      name: main,
      shardSize: 10,
      extra: { 'part-shards': 2 },
    })
    expect([...files.keys()].sort()).toEqual(['index.aero', main, 'part-000.aero', 'part-001.aero', 'part-002.aero'])
    const index = JSON.parse(decoder.decode(files.get(main)))
    expect(index.parts.map((part: Json) => part.shards)).toEqual([[0, 1], [2, 3], [4]])
    expect(decoder.decode(files.get('part-002.aero'))).toContain('weights.shard4')
    expect(decoder.decode(files.get(main)).endsWith('}')).toBe(true)
    for (const [name, bytes] of files)
      expect((await verifySource(new MemorySource(bytes, name, files))).findings).toEqual([])
  })

  it('gives files of differently named sets different names', async () => {
    const files = await convertToFiles(sampleModel([sampleTensor('a', 'u8', [3])]), 'aeroset', {
      name: 'x.aeroset.json',
    })
    expect([...files.keys()].sort()).toEqual(['x.aeroset.json', 'x.index.aero', 'x.part-000.aero'])
  })

  it('copies an unchanged set under another name without the names of the old one', async () => {
    const named = async (model: Model, name: string) => convertToFiles(model, 'aeroset', { name })
    const first = await openModel(fixtureSource('aeroset', `sets/v01/${main}`))
    const second = await named(first, 'b.aeroset.json')
    const third = await named(await openModel(sourceOf(second)), 'c.aeroset.json')
    expect([...third.keys()].every((name) => name.startsWith('c.'))).toBe(true)
    expect((await verifySource(sourceOf(third))).findings).toEqual([])
    for (const name of ['index.aero', 'part-001.aero'])
      expect(Buffer.compare(third.get(`c.${name}`)!, fixtureBytes('aeroset', `sets/v01/${name}`)), name).toBe(0)
    const back = await named(await openModel(sourceOf(third)), main)
    expect(JSON.parse(decoder.decode(back.get(main)))).toEqual(
      JSON.parse(decoder.decode(fixtureBytes('aeroset', `sets/v01/${main}`))),
    )
  })

  it('carries other keys along, and none that says where files are', async () => {
    const notes = { notes: { a: 1 }, cache: { max: 2 } }
    const read = await openModel(
      changed('sets/global-ids', (index) => Object.assign(index, { ...notes, base_url: 'http://x' })),
    )
    const part = read.parts.find(({ kind }) => kind === 'aeroset.extra')!
    expect(part.value).toEqual(notes)
    const forged = { ...notes, base_url: 'http://x', parts: [], global_tidx: {}, format: 1, model: 2 }
    const model = { ...read, tensors: [sampleTensor('a', 'u8', [3])], parts: [{ ...part, value: forged }] }
    const files = await convertToFiles(model, 'aeroset', { name: main })
    const { format, model: names, parts, global_tidx: global, ...rest } = JSON.parse(decoder.decode(files.get(main)))
    expect([format.version, names.name, parts.length, global.path]).toEqual([[0, 2], 'g', 1, 'index.aero'])
    expect(rest).toEqual(notes)
    expect((await verifySource(sourceOf(files))).findings).toEqual([])
  })

  it('does not copy what was left out on request', async () => {
    const index = (json: Json) => Object.assign(json, { notes: 'private' })
    const model = await openModel(changed('sets/global-ids', index))
    const without = { ...model, parts: model.parts.filter((part) => part.kind !== 'aeroset.extra') }
    for (const [from, has] of [
      [model, true],
      [without, false],
    ] as const) {
      const files = await convertToFiles(from, 'aeroset', { name: main })
      expect(decoder.decode(files.get(main)).includes('private')).toBe(has)
    }
  })

  it('is one way of a sharded safetensors set, there and back', async () => {
    const original = await openModel(fixtureSource('aero', 'sources/sharded/model.safetensors.index.json'))
    const set = await convertToFiles(original, 'aeroset', { name: main, shardSize: 64 })
    const back = await convertToFiles(await openModel(sourceOf(set)), 'safetensors', { name: 'm.safetensors' })
    const again = await openModel(sourceOf(back))
    expect((await hashModel(again)).fingerprint).toBe((await hashModel(original)).fingerprint)
    expect([...again.metadata]).toEqual([...original.metadata])
  })

  it('turns a set into a file and a file into a set', async () => {
    const set = await openModel(fixtureSource('aeroset', `sets/v01/${main}`))
    const file = await openModel(sourceOf(await convertToFiles(set, 'aero')))
    const again = await openModel(sourceOf(await convertToFiles(file, 'aeroset', { name: main })))
    expect((await hashModel(again)).fingerprint).toBe((await hashModel(set)).fingerprint)
    expect([...again.metadata].sort()).toEqual([...set.metadata].sort())
  })
})

describe('directories', () => {
  it('know which file to open', () => {
    const { aero, aeroset } = { aero: formatById('aero')!, aeroset: formatById('aeroset')! }
    const set = ['index.aero', main, 'part-000.aero']
    expect([aero.mainFile!(set), aeroset.mainFile!(set)]).toEqual([undefined, main])
    expect([aero.mainFile!(['a.aero']), aeroset.mainFile!(['a.aero'])]).toEqual(['a.aero', undefined])
  })
})

describe('a set index with values of the wrong kind', () => {
  const set = 'sets/global-ids'
  const odd = [
    '9007199254740993',
    '-18446744073709551617',
    '1e999',
    '-1',
    '1.5',
    'null',
    'true',
    '""',
    '[]',
    '{}',
    '[[{"a":[1]}]]',
  ]

  /** Every place in a JSON value, as a list of keys. */
  function* placesIn(value: Json, path: readonly (string | number)[] = []): Generator<readonly (string | number)[]> {
    yield path
    if (typeof value !== 'object' || value === null) return
    for (const key of Object.keys(value))
      yield* placesIn(value[key], [...path, Array.isArray(value) ? Number(key) : key])
  }

  const names = ['index.aero', 'part-000.aero', 'part-001.aero']
  const files = new Map(names.map((name) => [name, fixtureBytes('aeroset', `${set}/${name}`)]))
  const original = decoder.decode(fixtureBytes('aeroset', `${set}/${main}`))

  function put(path: readonly (string | number)[], value: string): MemorySource {
    const holder = { root: JSON.parse(original) as Json }
    let at: Json = holder
    const keys = ['root', ...path]
    for (const key of keys.slice(0, -1)) at = at[key]
    at[keys.at(-1)!] = '@'
    const json = JSON.stringify(holder.root).replace('"@"', value)
    return new MemorySource(new TextEncoder().encode(json), main, files)
  }

  it('is judged with findings of its own, and opened exactly when there is no error', async () => {
    for (const path of placesIn(JSON.parse(original))) {
      for (const value of odd) {
        const { findings } = await verifySource(put(path, value))
        const errors = findings.filter(({ severity }) => severity === 'error')
        const codes = findings.map(({ code }) => code)
        expect(codes, `${path.join('.')} = ${value}`).not.toContain('verify/internal')
        for (const { code, offset, path: field } of errors)
          expect([code, typeof offset, typeof field]).toEqual([code, 'number', 'string'])
        const opened = await openModel(put(path, value)).then(
          () => true,
          () => false,
        )
        if (errors.length === 0) expect([path, value, opened]).toEqual([path, value, true])
      }
    }
  })

  it('says which name was found', async () => {
    const { findings } = await verifySource(put(['format', 'name'], '9007199254740993'), { from: 'aeroset' })
    expect(findings).toContainEqual(expect.objectContaining({ code: 'aeroset/format', path: 'format.name', offset: 0 }))
    expect(findings[0]!.message).toContain('9007199254740993 where "AEROSET" was expected')
  })
})

describe('a set that is copied', () => {
  it.each([
    ['sets-invalid/shards-swapped', 'aeroset/tensor-not-in-part'],
    ['sets-invalid/part-sha256', 'aeroset/sha256'],
    ['sets-invalid/index-sha256', 'aeroset/sha256'],
  ])('%s is not handed on as it is', async (set, code) => {
    const model = await openModel(fixtureSource('aeroset', `${set}/${main}`))
    const error = await convertToFiles(model, 'aeroset', { name: main }).catch((reason: TareError) => reason)
    expect(error).toBeInstanceOf(TareError)
    const { code: found, message } = error as TareError
    expect(`${found} ${message}`).toContain(code)
  })
})
