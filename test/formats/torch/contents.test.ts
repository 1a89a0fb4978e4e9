// What is in a checkpoint beside its tensors' bytes: names, roles, metadata, and what is refused.
import { describe, expect, it } from 'vitest'
import { judgeGlobal } from '../../../src/content/torch-save/globals.js'
import { inspectModel, MemorySource, type Model, mapSource, openModel, verifySource } from '../../../src/kit.js'
import { PickleGlobal } from '../../../src/wire/pickle/pickle.js'
import { fixtureSource } from '../../support/fixtures.js'
import { craftZip } from '../../wire/zip/build.js'
import * as craft from './build.js'
import {
  archive,
  build,
  call,
  dict,
  get,
  global,
  int,
  legacy,
  list,
  put,
  storage,
  str,
  tensor,
  text,
  tuple,
} from './build.js'

const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i % 256)
const weight = tensor(storage('0', 'torch FloatStorage', 2), [2])
const storages = { '0': bytes(8) }
const file = (root: craft.Code): Uint8Array => archive(root, storages)
const open = (content: Uint8Array, name = 'm.pt'): Promise<Model> => openModel(new MemorySource(content, name))
const namesOf = ({ tensors }: Model): string[] => tensors.map(({ name }) => name)

const codesOf = async (content: Uint8Array, name = 'm.pt'): Promise<string[]> => {
  const { findings } = await verifySource(new MemorySource(content, name))
  for (const { severity, offset, path } of findings) {
    if (severity === 'error') expect([typeof offset, typeof path]).toEqual(['number', 'string'])
  }
  return findings.filter(({ severity }) => severity !== 'note').map(({ code }) => code)
}

/** All findings, notes included. */
const notesOf = async (content: Uint8Array): Promise<string[]> => {
  const { findings } = await verifySource(new MemorySource(content, 'm.pt'))
  return findings.map(({ severity, code }) => `${severity} ${code}`)
}

const metadataOf = async (root: craft.Code): Promise<unknown> => inspectModel(await open(file(root))).metadata

describe('names and roles', () => {
  it('are the keys joined by dots', async () => {
    const root = dict({ model: dict({ 'layer.0': list(weight, dict({ w: weight })) }), bare: weight })
    expect(namesOf(await open(file(root)))).toEqual(['model.layer.0.0', 'model.layer.0.1.w', 'bare'])
  })

  it('a bare tensor is called after its file', async () => {
    expect(namesOf(await open(file(weight), '/x/y.z/net.v2.pt'))).toEqual(['net.v2'])
  })

  it('a single value is called the same whatever the file is called, so that a copy has it, too', async () => {
    const content = file(str('i3'))
    for (const name of ['a.pt', 'b.pt']) expect([...(await open(content, name)).metadata.keys()]).toEqual(['value'])
  })

  it('optimizer state is state', async () => {
    const optimizer = dict({
      state: dict({ a: dict({ exp_avg: weight }) }),
      param_groups: list(dict({ lr: craft.float(0.1) })),
    })
    const lightning = dict({
      state_dict: dict({ w: weight }),
      optimizer_states: list(optimizer),
      other: list(optimizer),
    })
    const { tensors } = await open(file(lightning))
    expect(tensors.map(({ name, role }) => [name, role])).toEqual([
      ['state_dict.w', 'weight'],
      ['optimizer_states.0.state.a.exp_avg', 'state'],
      ['other.0.state.a.exp_avg', 'state'],
    ])
  })

  it('dictionaries come in several shapes', async () => {
    const pairs = call('collections OrderedDict', list(tuple(str('a'), weight)))
    const assigned = [...craft.orderedDict, ...str('b'), ...weight, 0x73]
    const counted = call('collections Counter', dict({ c: int(3) }))
    const model = await open(file(list(pairs, assigned, counted)))
    expect([namesOf(model), [...model.metadata.keys()]]).toEqual([['0.a', '1.b'], ['2.c']])
  })

  it('of whole modules are those of state_dict()', async () => {
    const module = (state: Record<string, craft.Code>) =>
      build(
        [...global('net Linear'), ...tuple(), 0x81],
        dict({ _parameters: dict({}), _buffers: dict({}), _modules: dict({}), ...state }),
      )
    const inner = module({ _parameters: dict({ weight, bias: craft.none }), training: craft.bool(true) })
    const model = await open(file(module({ _modules: dict({ fc: inner }), _hooks: dict({ x: weight }) })))
    expect(namesOf(model)).toEqual(['fc.weight'])
  })

  it('that meet are reported, and numbered', async () => {
    const tensors = file(dict({ 'a.b': weight, a: dict({ b: weight, 'b~2': weight }) }))
    expect(new Set(await codesOf(tensors))).toEqual(new Set(['torch/same-name']))
    expect(namesOf(await open(tensors))).toEqual(['a.b', 'a.b~2', 'a.b~2~2'])
    const values = file(dict({ 'a.b': int(1), a: dict({ b: int(2) }) }))
    expect(await codesOf(values)).toEqual(['torch/same-name'])
    expect([...(await open(values)).metadata]).toEqual([
      ['a.b', { type: 'i64', value: 1 }],
      ['a.b~2', { type: 'i64', value: 2 }],
    ])
  })
})

describe('metadata', () => {
  it('keeps the types of plain values', async () => {
    const root = dict({
      int: int(5),
      wide: int(2n ** 63n),
      huge: int(-(2n ** 100n)),
      float: craft.float(0.5),
      none: craft.none,
      mixed: tuple(int(1), str('a')),
      empty: list(),
      nothing: dict({}),
      size: call('torch Size', tuple(int(2), int(3))),
      device: call('torch device', str('cuda'), int(1)),
      dtype: global('torch bfloat16'),
      bytes: call('__builtin__ bytearray', call('_codecs encode', str('aÿ'), str('latin1'))),
      set: call('__builtin__ set', list(int(1))),
    })
    expect(await metadataOf(root)).toMatchObject({
      int: { type: 'i64', value: 5 },
      wide: { type: 'u64' },
      huge: { type: 'str', value: String(-(2n ** 100n)) },
      float: { type: 'f64', value: 0.5 },
      none: { type: 'null' },
      mixed: { type: 'array', item: 'mixed', length: 2 },
      empty: { type: 'json', value: [] },
      nothing: { type: 'json', value: {} },
      size: { type: 'array', item: 'i64', length: 2 },
      device: { type: 'str', value: 'cuda:1' },
      dtype: { type: 'str', value: 'torch.bfloat16' },
      bytes: { type: 'bytes', value: [97, 255] },
      set: { type: 'array', length: 1 },
    })
  })

  it('keeps attributes of dictionaries, and keys such as __proto__', async () => {
    const named = (version: number) => dict({ version: int(version) })
    const versions = dict(
      Object.fromEntries([
        ['', named(1)],
        ['__proto__', named(2)],
      ]),
    )
    const root = build([...craft.orderedDict, ...str('w'), ...weight, 0x73], dict({ _metadata: versions }))
    const { metadata } = inspectModel(await open(file(root)))
    expect(JSON.stringify(metadata)).toBe(
      '{"_metadata":{"type":"json","value":{"":{"version":1},"__proto__":{"version":2}}}}',
    )
  })

  it('shows unknown objects by their class', async () => {
    const root = dict({ a: call('net Thing'), b: build(call('argparse Namespace'), dict({ lr: craft.float(1) })) })
    expect(await metadataOf(root)).toMatchObject({ a: { value: '<net.Thing>' }, 'b.lr': { value: 1 } })
    expect(await codesOf(file(root))).toEqual(['torch/unknown-global', 'torch/unknown-global'])
  })
})

describe('names of things to import', () => {
  const judge = (name: string): string => {
    const [module, ...rest] = name.split(' ')
    return judgeGlobal(new PickleGlobal(module!, rest.join(' '), 0))
  }

  it.each([
    'collections OrderedDict',
    'torch FloatStorage',
    'torch float8_e4m3fn',
    'torch.cuda HalfStorage',
    '__builtin__ set',
    '_codecs encode',
    'torch._utils _rebuild_tensor_v2',
  ])('%s is plain data', (name) => expect(judge(name)).toBe('harmless'))

  it.each([
    'argparse Namespace',
    'torch.nn.modules.linear Linear',
    'net.models Outer.Inner',
    'omegaconf.dictconfig DictConfig',
    'numpy ndarray',
    'numpy float64',
    'pathlib PosixPath',
    'torch.nn.functional relu',
    'numpy.core.multiarray _reconstruct',
  ])('%s stays inert', (name) => expect(judge(name)).toBe('inert'))

  it.each([
    'os system',
    'posix system',
    'nt system',
    'builtins eval',
    'builtins getattr',
    '__builtin__ exec',
    'subprocess Popen',
    'ctypes CDLL',
    'types FunctionType',
    'importlib import_module',
    'runpy _run_code',
    'pty spawn',
    'webbrowser open',
    'functools partial',
    'operator attrgetter',
    'pickle loads',
    'code InteractiveInterpreter',
    'asyncio.unix_events _UnixSubprocessTransport',
    '_io FileIO',
    '_pickle loads',
    'torch load',
    'torch.storage _load_from_bytes',
    'torch.hub load',
    'torch.jit load',
    'torch os.system',
    'torch NoSuchStorage',
    'collections OrderedDict.__init__',
    'collections abc',
    'numpy load',
    'numpy.testing._private.utils runstring',
    'pip main',
    'net run',
    'net A.b',
    'net __import__',
    ' system',
    'os\u0000 x',
  ])('%j is refused', (name) => expect(judge(name)).toBe('unsafe'))

  it('that are functions of another program are refused when they are called, and reported when they are stored', async () => {
    const stored = global('net run')
    expect(await codesOf(file(dict({ x: stored, w: weight })))).toEqual(['torch/stored-global'])
    const state = build([...global('net Thing'), ...tuple(), 0x81], dict({ x: stored }))
    expect(await codesOf(file(state))).toEqual(['torch/unknown-global', 'torch/stored-global'])
    expect(await codesOf(file(dict({ x: call('net run', str('')), w: weight })))).toEqual(['torch/unsafe-global'])
    // Handed to a call, which may call it; directly, in a list, and behind the memo.
    for (const args of [stored, list(stored), build([...global('net Box'), ...tuple(), 0x81], dict({ x: stored }))])
      expect(await codesOf(file(call('net Thing', args)))).toContain('torch/unsafe-global')
    const late = [...put(1, list()), 0x30, ...tuple(call('net Thing', get(1)), [...get(1), ...stored, 0x61])]
    expect(await codesOf(file(late))).toContain('torch/unsafe-global')
  })

  it('that are reached through another program are refused even when they are stored', async () => {
    for (const name of ['torch os.system', 'net sys.modules', '_private run', 'os\u0000 x', 'builtins eval'])
      expect(await codesOf(file(dict({ x: global(name), w: weight }))), name).toEqual(['torch/unsafe-global'])
  })

  it('are looked at even when nothing comes of them', async () => {
    expect(await codesOf(file([...global('os system'), 0x30, ...weight]))).toEqual(['torch/unsafe-global'])
    await expect(open(file(dict({ x: call('os system', str('true')), w: weight })))).rejects.toMatchObject({
      code: 'torch/unsafe-global',
    })
  })
})

describe('what is remarked once, however often it occurs', () => {
  const remarks = async (root: craft.Code): Promise<string[]> => {
    const { findings } = await verifySource(new MemorySource(file(root), 'm.pt'))
    return findings.map(({ severity, code, message }) => `${severity} ${code} ${message}`)
  }

  it('quantized tensors', async () => {
    const scheme = tuple(global('torch per_tensor_affine'), craft.float(0.5), int(3))
    const of = storage('0', 'torch QInt8Storage', 8)
    const one = call('torch._utils _rebuild_qtensor', of, int(0), craft.ints([8]), craft.ints([1]), scheme)
    expect(await remarks(dict({ a: one, b: one, c: one }))).toEqual([
      'warning torch/quantized 3 tensors are quantized: "a" as i8 with scale 0.5, …',
    ])
  })

  it('tensors without data', async () => {
    const type = global('torch float32')
    const one = call(
      'torch._utils _rebuild_meta_tensor_no_storage',
      type,
      craft.ints([2]),
      craft.ints([1]),
      craft.bool(false),
    )
    expect(await remarks(dict({ a: one, w: weight }))).toEqual([
      'note torch/meta 1 tensor is declared without data: "a"',
    ])
  })

  it('tensors as keys, and dictionaries with a default', async () => {
    const keyed = [0x7d, 0x28, ...weight, ...int(1), 0x75]
    expect(await remarks(dict({ d: keyed, w: weight }))).toEqual([
      'note torch/tensor-key 1 value has a key that is a tensor, which is not read: "d.object"',
    ])
    const counted = [...call('collections defaultdict', global('__builtin__ list')), 0x28, ...str('k'), ...weight, 0x75]
    expect(await remarks(dict({ d: counted, e: counted }))).toEqual([
      'note torch/default-dict 2 values are a defaultdict, whose default is not kept: "d", …',
    ])
    expect(namesOf(await open(file(dict({ d: counted }))))).toEqual(['d.k'])
  })
})

describe('hostile structures', () => {
  const twice = (inner: craft.Code, index: number): craft.Code => [
    ...put(index, inner),
    0x30,
    ...tuple(get(index), get(index)),
  ]

  it('cycles', async () => {
    const self = [...put(1, [0x7d]), ...str('self'), ...get(1), 0x73]
    expect(await codesOf(file(self))).toEqual(['torch/cycle'])
    const through = [...put(1, [0x5d]), ...put(2, call('net Thing', get(1))), 0x61]
    expect(await codesOf(file(through))).toEqual(['torch/unknown-global', 'torch/cycle'])
    const layout = call('torch.serialization _get_layout', str('torch.sparse_coo'))
    const sparse = [...put(1, [0x5d]), ...put(2, call('torch._utils _rebuild_sparse_tensor', layout, get(1))), 0x61]
    expect(await codesOf(file([...sparse, ...get(2), 0x61, ...get(2), 0x61]))).toContain('torch/cycle')
  })

  it('more ways than can be listed', async () => {
    let root: craft.Code = list(weight)
    for (let level = 0; level < 40; level++) root = twice(root, level)
    expect(await codesOf(file(root))).toEqual(['torch/shared-paths'])
  })

  it('long names, texts and lists used over and over', async () => {
    const many = (code: craft.Code): craft.Code =>
      dict({ [`k${'x'.repeat(20_000)}`]: list(list(), ...Array.from({ length: 20_000 }, () => code)) })
    expect(await codesOf(file(many(get(1)).toSpliced(0, 0, ...put(1, str('y'.repeat(50_000))), 0x30)))).toEqual([
      'torch/shared-paths',
    ])
    const longList = put(1, list(...Array.from({ length: 20_000 }, () => craft.none)))
    expect(
      await codesOf(file([...longList, 0x30, ...list(list(), ...Array.from({ length: 20_000 }, () => get(1)))])),
    ).toEqual(['torch/shared-paths'])
  })

  it('depth', async () => {
    let root: craft.Code = weight
    for (let level = 0; level < 200; level++) root = list(root)
    expect(await codesOf(file(root))).toEqual(['torch/depth'])
  })
})

describe('archives', () => {
  it.each<[string, Uint8Array]>([
    [
      'torch/pickle-trailing',
      archive(weight, storages, { more: { 'data.pkl': Uint8Array.from([...craft.pickle(weight), 1]) } }),
    ],
    ['torch/byte-order', archive(weight, storages, { more: { byteorder: text('middle') } })],
    ['torch/archive-root', archive(weight, storages, { outside: { 'other/x': bytes(1) } })],
    ['torch/archive', archive(weight, storages, { root: '' })],
    ['zip/crc', flipIn(archive(weight, storages), bytes(8))],
  ])('%s', async (code, content) => {
    expect(await codesOf(content)).toContain(code)
  })

  it('say when they hold a program', async () => {
    const more = { 'constants.pkl': craft.pickle(tuple()), 'code/__torch__.py': text('class Net: pass') }
    const root = build([...global('__torch__ Net'), ...tuple(), 0x81], dict({ fc: dict({ w: weight }) }))
    const content = archive(root, storages, { more: { ...more, byteorder: text('little') } })
    expect(await notesOf(content)).toEqual(['note torch/torchscript'])
    expect(await codesOf(archive(root, storages, { more }))).toEqual(['torch/byte-order-unstated'])
    const model = await open(content)
    expect([namesOf(model), model.variant, model.parts[0]!.kind]).toEqual([['fc.w'], 'torchscript', 'torch.code'])
  })

  it('note storages that nobody uses, once', async () => {
    const more = archive(weight, { ...storages, '7': bytes(4), '8': bytes(4), '9': bytes(4) })
    expect(await notesOf(more)).toEqual(['note torch/unused-record'])
  })

  it('written without checksums are not damaged', async () => {
    const members = { 'data.pkl': craft.pickle(weight), 'data/0': storages['0']!, version: text('3\n') }
    const none = { local: { crc: 0 }, central: { crc: 0 } }
    const list = Object.entries(members).map(([name, content]) => ({ name: `m/${name}`, content, ...none }))
    expect(await notesOf(craftZip(list))).toEqual(['note verify/no-checksums'])
    expect(await codesOf(craftZip(list.with(2, { ...list[2]!, local: { crc: 7 }, central: { crc: 7 } })))).toContain(
      'zip/crc',
    )
  })

  it('saved without their data are named as such', async () => {
    const none = { local: { crc: 0 }, central: { crc: 0 } }
    const list = [
      { name: 'm/data.pkl', content: craft.pickle(weight) },
      { name: 'm/data/0', content: new Uint8Array(storages['0']!.length), ...none },
      { name: 'm/version', content: text('3\n') },
    ]
    expect(await codesOf(craftZip(list))).toEqual(['torch/skipped-data'])
  })

  it('are mapped to the last byte', async () => {
    for (const content of [archive(weight, storages, { deflate: true }), legacy(weight, storages)]) {
      const { files } = await mapSource(new MemorySource(content, 'm.pt'))
      expect(files[0]!.extents.filter(({ kind }) => kind === 'gap')).toEqual([])
    }
  })
})

function flipIn(content: Uint8Array, needle: Uint8Array): Uint8Array {
  const at = Buffer.from(content).indexOf(needle)
  return content.with(at, 99)
}

describe('the old format', () => {
  it('reads pickles longer than the first window', async () => {
    const filler = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`key ${i} ${'x'.repeat(40)}`, int(i)]))
    const model = await open(legacy(dict({ ...filler, w: weight }), storages))
    expect([model.metadata.size, namesOf(model)]).toEqual([3000, ['w']])
  })

  it.each<[string, Uint8Array]>([
    ['torch/truncated', legacy(weight, storages).slice(0, -1)],
    ['torch/truncated', legacy(weight, storages).slice(0, -10)],
    ['torch/trailing-bytes', Uint8Array.from([...legacy(weight, storages), 0])],
    ['torch/storage-size', legacy(weight, storages, { elementSize: 8 })],
    ['torch/storage-keys', legacy(weight, { ...storages, '1': bytes(4) })],
    ['torch/storage-keys', legacy(weight, storages, { keys: ['0', '0'] })],
    ['torch/storage-missing', legacy(weight, {}, { keys: [] })],
    ['torch/system-info', legacy(weight, storages, { info: list() })],
    ['torch/magic', craft.pickle(int(5))],
    ['torch/magic', text('hello')],
    ['torch/protocol-version', Uint8Array.from([...legacy(weight, storages).slice(0, 15), ...craft.pickle(int(7))])],
    ['pickle/truncated', legacy(weight, storages).slice(0, 40)],
  ])('%s', async (code, content) => expect(await codesOf(content)).toContain(code))

  it('has no checksums, which is said', async () => {
    const { findings } = await verifySource(new MemorySource(legacy(weight, storages), 'm.pt'))
    expect(findings.map(({ code }) => code)).toEqual(['verify/no-checksums'])
  })
})

describe('sharded sets', () => {
  const shard = file(dict({ w: weight }))
  const index = (map: unknown, metadata: unknown = {}): Uint8Array =>
    text(JSON.stringify({ metadata, weight_map: map }))
  const verify = async (content: Uint8Array, shards: Record<string, Uint8Array>): Promise<string[]> => {
    const source = new MemorySource(content, 'pytorch_model.bin.index.json', new Map(Object.entries(shards)))
    return (await verifySource(source)).findings.map(({ code }) => code)
  }

  it.each<[string, Record<string, unknown>, unknown?]>([
    ['torch/shard-path', { w: 'a.bin', v: '../b.bin' }],
    ['torch/shard-path', { w: 'a.bin', v: '/etc/b.bin' }],
    ['torch/shard-missing', { w: 'a.bin', v: 'b.bin' }],
    ['torch/shard-missing', { w: 'a.bin', v: 'broken.bin' }],
    ['torch/shard-tensor-missing', { w: 'a.bin', v: 'a.bin' }],
    ['torch/shard-tensor-extra', { v: 'a.bin' }],
    ['torch/index-shape', { w: 'a.bin', v: 7 }],
    ['torch/total-size', { w: 'a.bin' }, { total_size: 9 }],
  ])('%s', async (code, map, metadata) => {
    expect(await verify(index(map, metadata), { 'a.bin': shard, 'broken.bin': shard.slice(0, -1) })).toContain(code)
  })

  it('are checked to the last shard', async () => {
    const damaged = flipIn(shard, bytes(8))
    expect(await verify(index({ w: 'a.bin' }, { total_size: 8 }), { 'a.bin': damaged })).toEqual(['zip/crc'])
    expect((await openModel(fixtureSource('torch', 'sharded/pytorch_model.bin.index.json'))).files.length).toBe(3)
  })
})
