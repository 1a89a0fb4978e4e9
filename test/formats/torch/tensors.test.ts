// Tensors of PyTorch files: views of every kind, byte orders, flags, and what they share.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codes } from '../../../src/content/torch-save/codes.js'
import { MemorySource, type Model, type OpenOptions, openModel, verifySource } from '../../../src/kit.js'
import { bytesPayload, readPayload } from '../../../src/model/index.js'
import { stridedPayload } from '../../../src/payloads/strided-payload.js'
import * as craft from './build.js'
import { archive, call, dict, global, int, ints, legacy, storage, str, tensor } from './build.js'

const floats = (values: readonly number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer)
const count = (length: number): number[] => Array.from({ length }, (_, i) => i)

const open = (bytes: Uint8Array, options: OpenOptions = {}): Promise<Model> =>
  openModel(new MemorySource(bytes, 'm.pt'), options)

async function values(model: Model, name: string): Promise<number[]> {
  const found = model.tensors.find((each) => each.name === name)
  const bytes = await readPayload(found!.data!)
  return [...new Float32Array(bytes.buffer)]
}

const codesOf = async (bytes: Uint8Array, lenient = false): Promise<string[]> => {
  const { findings } = await verifySource(new MemorySource(bytes, 'm.pt'), { lenient })
  return findings.filter(({ severity }) => severity !== 'note').map(({ code }) => code)
}

/** The elements that a view has, by its definition. */
function expected(shape: readonly number[], strides: readonly number[], offset: number): number[] {
  let places = [offset]
  for (const [axis, dim] of shape.entries())
    places = places.flatMap((place) => count(dim).map((i) => place + i * strides[axis]!))
  return places
}

const viewArb = fc
  .array(fc.record({ dim: fc.integer({ min: 0, max: 5 }), stride: fc.nat(9) }), { maxLength: 4 })
  .chain((axes) => fc.record({ axes: fc.constant(axes), offset: fc.nat(7), deflate: fc.boolean(), old: fc.boolean() }))

describe('views', () => {
  it('are read as their strides say', async () => {
    await fc.assert(
      fc.asyncProperty(viewArb, async ({ axes, offset, deflate, old }) => {
        const shape = axes.map(({ dim }) => dim)
        const strides = axes.map(({ stride }) => stride)
        const length = offset + axes.reduce((sum, { dim, stride }) => sum + Math.max(0, dim - 1) * stride, 1)
        const storages = { '0': floats(count(length)) }
        const root = dict({ w: tensor(storage('0', 'torch FloatStorage', length), shape, { offset, strides }) })
        const model = await open(old ? legacy(root, storages) : archive(root, storages, { deflate }))
        expect(model.tensors.at(0)!.shape).toEqual(shape)
        expect(await values(model, 'w')).toEqual(expected(shape, strides, offset))
      }),
      { numRuns: 150 },
    )
  })

  it('that are large are gathered in bands, without reading much more than is needed', async () => {
    const [rows, columns] = [1500, 2100]
    const data = bytesPayload(floats(count(rows * columns)))
    let read = 0
    const counted = {
      ...data,
      read(offset: number, length: number) {
        read += length
        return data.read!(offset, length)
      },
    }
    const refusal = { file: 'm.pt', code: codes['unsupported-tensor'] }
    const gather = async (shape: number[], strides: number[]): Promise<Float32Array> =>
      new Float32Array((await readPayload(stridedPayload(counted, shape, strides, 4, refusal))).buffer)
    const turned = await gather([columns, rows], [1, columns])
    expect(turned.every((value, i) => value === (i % rows) * columns + Math.floor(i / rows))).toBe(true)
    expect(read).toBeLessThan(2 * data.byteLength)
    read = 0
    const some = await gather([rows / 100, columns / 3], [100 * columns, 3])
    expect(some.length).toBe((rows / 100) * (columns / 3))
    expect(some.every((value, i) => value === Math.floor(i / 700) * 100 * columns + (i % 700) * 3)).toBe(true)
    expect(read).toBeLessThan(data.byteLength / 10)
  })

  it('share the bytes of a shared storage', async () => {
    const of = craft.put(1, storage('0', 'torch FloatStorage', 6))
    const root = dict({
      a: tensor(of, [2, 3]),
      b: tensor(craft.get(1), [2, 3]),
      row: tensor(craft.get(1), [3], { offset: 3 }),
    })
    const { tensors } = await open(archive(root, { '0': floats(count(6)) }))
    const [a, b, row] = tensors.map(({ data }) => data!.origin!)
    expect(b).toEqual(a)
    expect(row!.offset).toBe(a!.offset + 12)
  })

  it('of very old files start inside a larger storage', async () => {
    const view = craft.tuple(str('v'), int(2), int(3))
    const root = dict({ w: tensor(storage('0', 'torch FloatStorage', 6, view), [2], { offset: 1 }) })
    expect(await values(await open(legacy(root, { '0': floats(count(6)) })), 'w')).toEqual([3, 4])
  })
})

describe('elements', () => {
  it('of big-endian files are turned round', async () => {
    const data = floats([1.5, -2]).reverse()
    const root = dict({ w: tensor(storage('0', 'torch FloatStorage', 2), [2]) })
    expect(
      await values(await open(archive(root, { '0': data }, { more: { byteorder: craft.text('big') } })), 'w'),
    ).toEqual([-2, 1.5])
    expect(await values(await open(legacy(root, { '0': data }, { bigEndian: true })), 'w')).toEqual([-2, 1.5])
  })

  it('are conjugated and negated as flagged', async () => {
    const flags = (names: Record<string, boolean>) =>
      dict(Object.fromEntries(Object.entries(names).map(([k, v]) => [k, craft.bool(v)])))
    const of = craft.put(1, storage('0', 'torch ComplexFloatStorage', 2))
    const real = storage('1', 'torch FloatStorage', 2)
    const root = dict({
      conj: tensor(of, [2], { flags: flags({ conj: true }) }),
      both: tensor(craft.get(1), [2], { flags: flags({ conj: true, neg: true }) }),
      turned: tensor(craft.get(1), [2], { strides: [1], flags: flags({ neg: true }) }),
      real: tensor(real, [2], { flags: flags({ neg: true }) }),
    })
    const model = await open(archive(root, { '0': floats([1, 2, 3, 4]), '1': floats([5, -6]) }))
    expect(await values(model, 'conj')).toEqual([1, -2, 3, -4])
    expect(await values(model, 'both')).toEqual([-1, 2, -3, 4])
    expect(await values(model, 'turned')).toEqual([-1, -2, -3, -4])
    expect(await values(model, 'real')).toEqual([-5, 6])
  })

  it('of untyped storages are what the tensor says', async () => {
    const of = storage('0', 'torch.storage UntypedStorage', 8)
    const args = [of, int(1), ints([3]), ints([1]), craft.bool(false), craft.orderedDict, global('torch uint16')]
    const root = dict({ w: call('torch._utils _rebuild_tensor_v3', ...args), s: of })
    const { tensors } = await open(archive(root, { '0': Uint8Array.from(count(8)) }))
    expect(tensors.map(({ dtype, shape }) => [dtype.id, shape])).toEqual([
      ['u16', [3]],
      ['u8', [8]],
    ])
    expect([...(await readPayload(tensors.at(0)!.data!))]).toEqual([2, 3, 4, 5, 6, 7])
  })
})

describe('wrapped tensors', () => {
  const of = storage('0', 'torch FloatStorage', 2)
  const inner = craft.tuple(of, int(0), ints([2]), ints([1]), craft.bool(false), craft.orderedDict)
  const file = (code: craft.Code): Uint8Array => archive(dict({ w: code }), { '0': floats([1, 2]) })

  it('parameters, buffers and subclasses', async () => {
    const wrapped = [
      call('torch._utils _rebuild_parameter', tensor(of, [2]), craft.bool(true), craft.orderedDict),
      call(
        'torch._tensor _rebuild_from_type_v2',
        global('torch._utils _rebuild_tensor_v2'),
        global('torch.nn.parameter Buffer'),
        inner,
        dict({}),
      ),
    ]
    for (const code of wrapped) expect(await values(await open(file(code)), 'w')).toEqual([1, 2])
  })

  it('a rebuilding function that is none is refused', async () => {
    const code = call(
      'torch._tensor _rebuild_from_type_v2',
      global('os system'),
      global('torch Tensor'),
      inner,
      dict({}),
    )
    expect(await codesOf(file(code))).toEqual(['torch/unsafe-global', 'torch/tensor-arguments'])
  })

  it('tensors without data are declared', async () => {
    const code = call(
      'torch._utils _rebuild_meta_tensor_no_storage',
      global('torch float16'),
      ints([2, 3]),
      ints([3, 1]),
      craft.bool(false),
    )
    const { tensors } = await open(archive(dict({ w: code })))
    expect(tensors).toMatchObject([{ name: 'w', shape: [2, 3], data: null }])
  })

  it('quantized ones keep scale and zero point', async () => {
    const scheme = (name: string) => craft.tuple(global(`torch ${name}`), craft.float(0.5), int(3))
    const code = (name: string) =>
      call(
        'torch._utils _rebuild_qtensor',
        storage('0', 'torch QInt8Storage', 8),
        int(0),
        ints([8]),
        ints([1]),
        scheme(name),
        craft.bool(false),
        craft.orderedDict,
      )
    const { tensors } = await open(file(code('per_tensor_affine')))
    expect(tensors.at(0)).toMatchObject({ quant: { scheme: 'asymmetric', scales: [0.5], zeroPoints: [3] } })
    expect(await codesOf(file(code('per_channel_affine')))).toEqual(['torch/unsupported-tensor'])
    expect(await codesOf(file(code('per_channel_affine')), true)).toEqual(['torch/unsupported-tensor-left-out'])
  })
})

describe('checks of tensors', () => {
  const of = storage('0', 'torch FloatStorage', 4)
  const file = (code: craft.Code): Uint8Array => archive(dict({ w: code }), { '0': floats(count(4)) })
  it.each<[string, craft.Code]>([
    ['torch/bounds', tensor(of, [5])],
    ['torch/bounds', tensor(of, [4], { offset: 1 })],
    ['torch/bounds', tensor(of, [2, 2], { strides: [3, 1] })],
    ['torch/shape-overflow', tensor(of, [2 ** 40, 2 ** 40], { strides: [0, 0] })],
    ['torch/shape-overflow', tensor(of, [2 ** 52], { strides: [0] })],
    ['torch/expanded', tensor(of, [2 ** 40], { strides: [0] })],
    ['torch/tensor-arguments', tensor(of, [-1])],
    ['torch/tensor-arguments', tensor(of, [2], { strides: [-1] })],
    ['torch/tensor-arguments', tensor(of, [2], { offset: -1 })],
    ['torch/tensor-arguments', tensor(of, [2], { strides: [1, 1] })],
    [
      'torch/tensor-arguments',
      tensor(
        of,
        count(65).map(() => 1),
      ),
    ],
    ['torch/tensor-arguments', tensor(str('0'), [2])],
    ['torch/tensor-arguments', call('torch._utils _rebuild_tensor_v2', of, int(0), str('2'), ints([1]))],
    ['torch/tensor-arguments', call('torch._utils _rebuild_parameter', str('w'))],
    ['torch/unsupported-tensor', call('torch._utils _rebuild_nested_tensor', of)],
    ['torch/storage-missing', tensor(storage('9', 'torch FloatStorage', 4), [4])],
    ['torch/storage-size', tensor(storage('0', 'torch FloatStorage', 3), [3])],
    ['torch/storage-size', tensor(storage('0', 'torch DoubleStorage', 4), [3])],
    ['torch/storage-type', tensor(storage('0', 'torch Size', 4), [3])],
    ['torch/persistent-id', [...craft.tuple(str('module'), of), 0x51]],
    ['torch/persistent-id', [...str('0'), 0x51]],
    ['torch/persistent-id', tensor(storage('0', 'torch FloatStorage', -4), [3])],
  ])('%s', async (code, root) => expect(await codesOf(file(root))).toEqual([code]))

  it('an enormous view is refused whatever is said, except that the limit is higher', async () => {
    const bytes = file(tensor(of, [2 ** 40], { strides: [0], offset: 2 }))
    await expect(open(bytes, { lenient: true })).rejects.toMatchObject({ code: 'torch/expanded' })
    expect(await codesOf(bytes, true)).toEqual(['torch/expanded'])
    const model = await open(bytes, { limits: { expansion: 2 ** 40 } })
    const payload = model.tensors.at(0)!.data!
    expect(payload.byteLength).toBe(2 ** 42)
    for await (const chunk of payload.chunks(4096)) {
      expect(new Float32Array(chunk.slice().buffer).every((value) => value === 2)).toBe(true)
      break
    }
  })

  it('a view may be larger than its storage, and a little more so where that is wanted', async () => {
    const wide = storage('0', 'torch FloatStorage', 2 ** 20)
    const stored = { '0': new Uint8Array(2 ** 22) }
    const expanded = archive(dict({ w: tensor(wide, [2 ** 5, 2 ** 20], { strides: [0, 1] }) }), stored)
    expect(await codesOf(expanded)).toEqual(['torch/expanded'])
    expect(await codesOf(expanded, true)).toEqual(['torch/expanded-taken'])
    expect(await codesOf(archive(dict({ w: tensor(wide, [16, 2 ** 20], { strides: [0, 1] }) }), stored))).toEqual([])
  })

  it('views may not promise together what none of them could alone', async () => {
    const half = tensor(of, [2 ** 23], { strides: [0] })
    expect(await codesOf(file(dict({ a: half, b: half })))).toEqual([])
    expect(await codesOf(file(dict({ a: half, b: half, c: half, d: tensor(of, [4]) })))).toEqual([
      ...['torch/expanded', 'torch/expanded'],
    ])
    expect(await codesOf(legacy(dict({ a: half, b: half, c: half }), { '0': floats(count(4)) }))).toContain(
      'torch/expanded',
    )
  })
})
