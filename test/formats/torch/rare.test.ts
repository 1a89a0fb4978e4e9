// What real checkpoints hold now and then: channels, compressed layouts, packed elements, classes with their source, TorchScript's lists.
import { describe, expect, it } from 'vitest'
import { judgeGlobal } from '../../../src/content/torch-save/globals.js'
import { torch } from '../../../src/formats/torch/index.js'
import { MemorySource, type Model, type OpenOptions, openModel, readPayload, verifySource } from '../../../src/kit.js'
import { PickleGlobal } from '../../../src/wire/pickle/pickle.js'
import * as craft from './build.js'
import {
  archive,
  build,
  call,
  dict,
  global,
  int,
  ints,
  legacy,
  list,
  storage,
  str,
  tensor,
  text,
  tuple,
} from './build.js'

const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i % 256)
const open = (content: Uint8Array, options: OpenOptions = {}): Promise<Model> =>
  openModel(new MemorySource(content, 'm.pt'), options)
const codesOf = async (content: Uint8Array, lenient = false): Promise<string[]> => {
  const { findings } = await verifySource(new MemorySource(content, 'm.pt'), { lenient })
  return findings.filter(({ severity }) => severity !== 'note').map(({ code }) => code)
}
const shapesOf = ({ tensors }: Model): unknown[] => tensors.map(({ name, dtype, shape }) => [name, dtype.id, shape])
const weight = tensor(storage('0', 'torch FloatStorage', 2), [2])
const storages = { '0': bytes(8) }

describe('tensors of several tensors', () => {
  const longs = (key: string, count: number): craft.Code => tensor(storage(key, 'torch LongStorage', count), [count])
  const qtensor = (axis: craft.Code): craft.Code =>
    call(
      'torch._utils _rebuild_qtensor',
      ...[storage('0', 'torch QInt8Storage', 8), int(0), ints([2, 4]), ints([4, 1])],
      tuple(
        global('torch per_channel_affine'),
        tensor(storage('1', 'torch DoubleStorage', 2), [2]),
        longs('2', 2),
        axis,
      ),
      ...[craft.bool(false), craft.orderedDict],
    )
  const quantized = (axis: craft.Code): Uint8Array =>
    archive(dict({ w: qtensor(axis) }), { '0': bytes(8), '1': bytes(16), '2': bytes(16) })

  it('quantized by channels: codes, scales and zero points', async () => {
    const model = await open(quantized(int(1)))
    expect(shapesOf(model)).toEqual([
      ['w', 'i8', [2, 4]],
      ['w.scale', 'f64', [2]],
      ['w.zero_point', 'i64', [2]],
    ])
    expect(model.tensors.at(0)!.extra).toEqual({ quantizedAxis: 1 })
    expect(await readPayload(model.tensors.at(0)!.data!)).toEqual(bytes(8))
    expect(await codesOf(quantized(int(1)))).toEqual(['torch/quantized'])
    expect(await codesOf(quantized(int(2)))).toEqual(['torch/tensor-arguments'])
    expect(await codesOf(quantized(craft.none))).toEqual(['torch/tensor-arguments'])
  })

  it.each([
    ['csr', ['crow_indices', 'col_indices', 'values']],
    ['bsr', ['crow_indices', 'col_indices', 'values']],
    ['csc', ['ccol_indices', 'row_indices', 'values']],
    ['bsc', ['ccol_indices', 'row_indices', 'values']],
  ])('compressed sparse: %s', async (layout, names) => {
    const of = call('torch.serialization _get_layout', str(`torch.sparse_${layout}`))
    const data = tuple(longs('1', 3), longs('2', 2), weight, call('torch Size', ints([2, 5])))
    const file = archive(dict({ w: call('torch._utils _rebuild_sparse_tensor', of, data) }), {
      ...storages,
      '1': bytes(24),
      '2': bytes(16),
    })
    const model = await open(file)
    expect(model.tensors.map(({ name }) => name)).toEqual(names.map((name) => `w.${name}`))
    expect([...model.metadata.keys()]).toEqual(['w.size'])
    expect(await codesOf(file)).toEqual(['torch/sparse'])
  })

  it('nested', async () => {
    const code = call('torch._utils _rebuild_nested_tensor', weight, longs('1', 2), longs('2', 2), longs('3', 2))
    const file = archive(dict({ w: code }), { ...storages, '1': bytes(16), '2': bytes(16), '3': bytes(16) })
    expect(await codesOf(file)).toEqual(['torch/nested'])
    expect((await open(file)).tensors.map(({ name }) => name)).toEqual([
      'w.values',
      'w.sizes',
      'w.strides',
      'w.offsets',
    ])
  })

  it('jagged', async () => {
    const jagged = (parts: Record<string, craft.Code>): Uint8Array => {
      const name = 'torch.nested._internal.nested_tensor'
      const made = [global(`${name} _rebuild_njt`), global(`${name} NestedTensor`), tuple(dict(parts)), dict({})]
      return archive(dict({ w: call('torch._tensor _rebuild_from_type_v2', ...made) }), { ...storages, '1': bytes(24) })
    }
    const parts = { values: weight, offsets: longs('1', 3), lengths: craft.none, _ragged_idx: int(1) }
    const file = jagged({ ...parts, _metadata_cache: dict({}) })
    expect(await codesOf(file)).toEqual(['torch/nested'])
    const { tensors, metadata } = await open(file)
    expect(tensors.map(({ name }) => name)).toEqual(['w.values', 'w.offsets'])
    expect(metadata).toEqual(new Map([['w.ragged_idx', { type: 'i64', value: 1 }]]))
    expect(await codesOf(jagged({ values: weight }))).toEqual(['torch/unsupported-tensor'])
  })
})

describe('packed elements', () => {
  const of = (shape: number[], strides: number[], offset = 0): Uint8Array => {
    const args = [int(offset), ints(shape), ints(strides), craft.bool(false), craft.orderedDict]
    const untyped = storage('0', 'torch.storage UntypedStorage', 8)
    const code = call('torch._utils _rebuild_tensor_v3', untyped, ...args, global('torch float4_e2m1fn_x2'))
    return archive(dict({ w: code }), storages)
  }

  it('count one by one', async () => {
    const model = await open(of([2, 3], [1, 2], 1))
    expect(shapesOf(model)).toEqual([['w', 'f4_e2m1', [2, 6]]])
    expect(await readPayload(model.tensors.at(0)!.data!)).toEqual(Uint8Array.of(1, 3, 5, 2, 4, 6))
  })

  it('need a dimension to be counted in', async () => {
    expect(await codesOf(of([], []))).toEqual(['torch/unsupported-tensor'])
  })

  it.each([
    ['QUInt4x2Storage', 'u4', 2],
    ['QUInt2x4Storage', 'u2', 4],
  ])('of %s count one by one, several to a byte', async (type, dtype, perByte) => {
    const quantized = (shape: number[], strides: number[], count = 8, first = 0): Uint8Array => {
      const view = [storage('0', `torch ${type}`, count), int(first), ints(shape), ints(strides)]
      const scheme = tuple(global('torch per_tensor_affine'), craft.float(0.5), int(3))
      const made = call('torch._utils _rebuild_qtensor', ...view, scheme, craft.bool(false), craft.orderedDict)
      return archive(dict({ w: made }), storages)
    }
    const [rows, columns] = [3, perByte + 1]
    const model = await open(quantized([rows, columns], [columns, 1]))
    expect(shapesOf(model)).toEqual([['w', dtype, [rows, columns]]])
    expect(await readPayload(model.tensors[0]!.data!)).toEqual(bytes(Math.ceil((rows * columns) / perByte)))
    expect(model.tensors[0]!.quant).toEqual({ scheme: 'asymmetric', scales: [0.5], zeroPoints: [3] })
    expect(await codesOf(quantized([8 * perByte], [1]))).toEqual(['torch/quantized'])
    expect(await codesOf(quantized([8 * perByte + 1], [1]))).toEqual(['torch/bounds'])
    expect(await codesOf(quantized([2, 4], [1, 2]))).toEqual(['torch/unsupported-tensor'])
    expect(await codesOf(quantized([4], [1], 8, 2))).toEqual(['torch/unsupported-tensor'])
  })

  it('that are bits without a meaning are whole numbers', async () => {
    const untyped = storage('0', 'torch.storage UntypedStorage', 8)
    const of = (type: string): craft.Code =>
      call(
        'torch._utils _rebuild_tensor_v3',
        ...[untyped, int(0), ints([4]), ints([1]), craft.bool(false), craft.orderedDict, global(`torch ${type}`)],
      )
    const model = await open(archive(dict({ a: of('bits8'), b: of('bits2x4'), c: of('bits16') }), storages))
    expect(model.tensors.map(({ dtype }) => dtype.id)).toEqual(['u8', 'u8', 'u16'])
  })
})

describe('classes', () => {
  it('of the old format bring their source, which nobody runs', async () => {
    const net = [...tuple(str('module'), global('net Net'), str('net.py'), str('import os')), 0x51]
    const state = dict({ _parameters: dict({ w: weight }), _buffers: dict({}), _modules: dict({}) })
    const root = build([...net, ...tuple(), 0x81], state)
    const file = legacy(root, storages)
    expect((await open(file)).tensors.map(({ name }) => name)).toEqual(['w'])
    expect(await codesOf(file)).toEqual(['torch/unknown-global'])
    expect(await codesOf(archive(root, storages))).toContain('torch/persistent-id')
    const unsafe = [...tuple(str('module'), global('os system'), str('net.py'), str('')), 0x51]
    expect(await codesOf(legacy(dict({ x: unsafe, w: weight }), storages))).toEqual(['torch/unsafe-global'])
  })

  it.each<[string, string]>([
    ['__main__ GPTConfig', 'inert'],
    ['__main__ make', 'unsafe'],
    ['__main__.sub Config', 'unsafe'],
    ['typing Any', 'inert'],
    ['typing get_type_hints', 'unsafe'],
    ['__builtin__ xrange', 'harmless'],
    ['torch.jit._pickle build_intlist', 'unsafe'],
  ])('%s is %s', (name, verdict) => {
    const [module, rest] = name.split(' ')
    expect(judgeGlobal(new PickleGlobal(module!, rest!, 0))).toBe(verdict)
  })
})

describe('archives', () => {
  it('of TorchScript have lists that know their type', async () => {
    const state = dict({
      sizes: call('torch.jit._pickle build_intlist', list(int(1), int(2))),
      all: call('torch.jit._pickle build_tensorlist', list(weight)),
      tagged: call('torch.jit._pickle restore_type_tag', dict({ w: weight }), str('Dict[str, Tensor]')),
    })
    const root = build([...global('__torch__ Net'), ...tuple(), 0x81], state)
    const more = { 'constants.pkl': craft.pickle(tuple()), 'code/__torch__.py': text(''), byteorder: text('little') }
    const file = archive(root, storages, { more })
    expect(await codesOf(file)).toEqual([])
    const model = await open(file)
    expect(model.tensors.map(({ name }) => name)).toEqual(['all.0', 'tagged.w'])
    expect(model.metadata.get('sizes')).toMatchObject({ type: 'array', item: 'i64', length: 2 })
  })

  it.each(['0', '11', '99\n', 'three', ''])('of version %j are refused, as PyTorch does', async (version) => {
    const file = archive(weight, storages, { more: { version: text(version) } })
    expect(await codesOf(file)).toEqual(['torch/version'])
    expect(await codesOf(file, true)).toEqual(['torch/version-taken'])
    expect((await open(file, { lenient: true })).tensors.length).toBe(1)
  })

  it('say their version in one of two places', async () => {
    const more = { '.data/version': text('3'), version: text('none') }
    expect(await codesOf(archive(weight, storages, { more }))).toEqual([])
  })

  it('name storages in five parts, the old format may in six', async () => {
    const six = tensor(storage('0', 'torch FloatStorage', 2, craft.none), [2])
    expect(await codesOf(archive(six, storages))).toEqual(['torch/persistent-id'])
    expect(await codesOf(legacy(six, storages))).toEqual([])
  })

  it('of tar are refused by name', async () => {
    const file = new Uint8Array(1024)
    file.set(text('sys_info'))
    file.set(text('ustar'), 257)
    expect(await codesOf(file)).toEqual(['torch/tar'])
  })
})

it.each<[string, craft.Code]>([
  ['a call of nothing', [...craft.none, ...tuple(), 0x52]],
  ['a call of a text', [...str('os'), ...tuple(), 0x52]],
  ['an instance of a number', [...int(1), ...tuple(), 0x81]],
  ['a list as a key', [...dict({}), ...list(), ...int(1), 0x73]],
  ['a dict as a key', [...dict({}), ...dict({}), ...int(1), 0x73]],
])('%s is no pickle that Python could load', async (_, code) => {
  expect(await codesOf(archive(code, storages))).toEqual(['pickle/stack'])
})

it.each([
  [['pytorch_model.bin', 'pytorch_model.fp16.bin.index.json'], 'pytorch_model.bin'],
  [['pytorch_model.bin.index.json', 'pytorch_model.fp16.bin.index.json'], 'pytorch_model.bin.index.json'],
  [['pytorch_model.fp16.bin.index.json', 'optimizer.pt'], 'pytorch_model.fp16.bin.index.json'],
  [['consolidated.00.pth', 'consolidated.01.pth'], undefined],
])('of %j it opens %s', (names, main) => expect(torch.mainFile!(names)).toBe(main))
