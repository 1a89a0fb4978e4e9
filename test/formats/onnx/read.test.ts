import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { onnxFile } from '../../../src/embed/onnx-proto.js'
import { packers } from '../../../src/kernels/numbers/plain/bit-packing.js'
import {
  bytesPayload,
  countingSource,
  formats,
  mapSource,
  openModel,
  type Payload,
  readPayload,
} from '../../../src/kit.js'
import { joinRopes } from '../../../src/wire/protobuf/write.js'
import {
  attribute,
  bytesOf,
  dataType,
  dims,
  floats,
  graphOf,
  initializer,
  modelOf,
  node,
  open,
  opset,
  pair,
  protoBytes,
  protoInt,
  protoMessage,
  protoPacked,
  protoText,
  type Rope,
  rawBytes,
  rawData,
  sourceOf,
  tensorName,
  verify,
  version,
} from './build.js'

const bytesIn = async (payload: Payload | null): Promise<number[]> => [...(await readPayload(payload!))]

describe('typed fields', () => {
  const kinds = [
    { type: 2, field: 5, width: 1, lowest: 0n, highest: 255n },
    { type: 3, field: 5, width: 1, lowest: -128n, highest: 127n },
    { type: 5, field: 5, width: 2, lowest: -32768n, highest: 32767n },
    { type: 6, field: 5, width: 4, lowest: -(2n ** 31n), highest: 2n ** 31n - 1n },
    { type: 7, field: 7, width: 8, lowest: -(2n ** 63n), highest: 2n ** 63n - 1n },
    { type: 10, field: 5, width: 2, lowest: 0n, highest: 65535n },
    { type: 12, field: 11, width: 4, lowest: 0n, highest: 2n ** 32n - 1n },
    { type: 13, field: 11, width: 8, lowest: 0n, highest: 2n ** 64n - 1n },
    { type: 17, field: 5, width: 1, lowest: 0n, highest: 255n },
  ]
  const anyKind = fc.constantFrom(...kinds).chain((kind) =>
    fc.tuple(
      fc.constant(kind),
      fc.array(fc.tuple(fc.array(fc.bigInt(kind.lowest, kind.highest), { maxLength: 6 }), fc.boolean()), {
        maxLength: 5,
      }),
      fc.boolean(),
    ),
  )

  it('give the bytes that raw_data would hold, packed or not or both, with other fields between', async () => {
    await fc.assert(
      fc.asyncProperty(anyKind, async ([{ type, field, width }, lists, isFirst]) => {
        const pieces = lists.flatMap(([list, isPacked], i) => [
          ...(isPacked ? [protoPacked(field, list)] : list.map((value) => protoInt(field, value))),
          protoText(1000 + i, 'a field that nobody knows'),
        ])
        const values = lists.flatMap(([list]) => list)
        const head = [...dims(values.length), dataType(type), tensorName('w')]
        const file = modelOf(initializer(...(isFirst ? [...pieces, ...head] : [...head, ...pieces])))
        const model = await open(file)
        const expected = new Uint8Array(values.length * width)
        values.forEach((value, i) => {
          for (let k = 0; k < width; k++) expected[i * width + k] = Number(BigInt.asUintN(8, value >> BigInt(8 * k)))
        })
        expect(await bytesIn(model.tensors.at(0)!.data)).toEqual([...expected])
        expect((await verify(file)).verdict).toBe('ok')
      }),
      { numRuns: 100 },
    )
  })

  it('hold six-bit elements one by one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ max: 63, maxLength: 30 }), async (codes) => {
        const file = modelOf(
          initializer(...dims(codes.length), dataType(27), tensorName('w'), protoPacked(5, [...codes])),
        )
        const expected = new Uint8Array(Math.ceil((codes.length * 6) / 8))
        packers[6](codes, expected)
        expect(await bytesIn((await open(file)).tensors.at(0)!.data)).toEqual([...expected])
      }),
    )
  })

  it('of floats are a plain range where they are one packed list', async () => {
    const values = protoBytes<never>(4, floats(1, 2, 3))
    const whole = await open(modelOf(initializer(...dims(3), dataType(1), tensorName('w'), values)))
    expect(whole.tensors.at(0)!.data!.origin).toBeDefined()
    const split = await open(modelOf(initializer(...dims(6), dataType(1), tensorName('w'), values, values)))
    expect(split.tensors.at(0)!.data!.origin).toBeUndefined()
    expect(await bytesIn(split.tensors.at(0)!.data)).toEqual([...floats(1, 2, 3, 1, 2, 3)])
  })

  it('are decoded in pieces when they are long', async () => {
    const values = Array.from({ length: 200_000 }, (_, i) => (i * 7919) % 100_003)
    const packed = [...dims(values.length), dataType(7), protoPacked(7, values), tensorName('packed')]
    const single = [...dims(70_000), dataType(2), ...repeat(protoInt(5, 200), 70_000), tensorName('single')]
    const model = await open(modelOf(initializer(...packed), initializer(...single)))
    const expected = new Uint8Array(BigInt64Array.from(values, BigInt).buffer)
    expect(Buffer.compare(await readPayload(model.tensors.at(0)!.data!), expected)).toBe(0)
    expect((await readPayload(model.tensors.at(1)!.data!)).every((byte) => byte === 200)).toBe(true)
  })
})

describe('what is listed', () => {
  it('initializers and constants of every graph, by their own names', async () => {
    const inner = protoMessage(6, [initializer(...pair('inner')), node('Constant', 'deep', value(pair('x')))])
    const model = await open(
      modelOf(
        node(
          'If',
          'y',
          attribute('then_branch', inner),
          attribute('else_branch', protoMessage(11, [initializer(...pair('other'))])),
        ),
        node('Constant', 'c', value(pair('not this name'))),
        initializer(...pair('w')),
      ),
    )
    expect(model.tensors.map(({ name }) => name)).toEqual(['inner', 'deep', 'other', 'c', 'w'])
    expect(model.tensors.map(({ extra }) => extra)).toEqual([
      { graph: 'graph.node[0].attribute[0].g' },
      { constant: true, graph: 'graph.node[0].attribute[0].g' },
      { graph: 'graph.node[0].attribute[1].graphs[0]' },
      { constant: true },
      undefined,
    ])
  })

  it('no fill values, no constants of other domains, nothing of functions and training', async () => {
    const other = protoMessage(1, [protoText(4, 'Constant'), protoText(7, 'com.example'), value(pair('z'))])
    const graph = graphOf(node('ConstantOfShape', 'f', value(pair('f'))), other)
    const training = protoMessage(20, [protoMessage(1, [initializer(...pair('t'))])])
    const local = protoMessage(25, [protoText(1, 'fn'), protoMessage(7, [protoText(4, 'Constant'), value(pair('l'))])])
    const model = await open(bytesOf([version, graph, opset, training, local]))
    expect(model.tensors).toEqual([])
    expect(model.parts[0]).toMatchObject({
      kind: 'onnx.graph',
      value: { nodes: 2, operators: { ConstantOfShape: 1, Constant: 1 } },
    })
  })

  it('texts and sparse tensors as parts', async () => {
    const strings = initializer(...dims(2), dataType(8), tensorName('s'), protoText(6, 'a'), protoText(6, 'b'))
    const values = protoMessage(1, pair('sp'))
    const indices = protoMessage(2, [...dims(2, 2), dataType(7), protoPacked(7, [0, 1, 2, 2])])
    const sparse = protoMessage(15, [values, indices, protoPacked(3, [3, 3])])
    const file = modelOf(strings, sparse)
    const { parts } = await open(file)
    expect(parts.slice(1)).toEqual([
      { kind: 'onnx.strings', sharing: 'private', name: 's', value: { shape: [2] } },
      { kind: 'onnx.sparse', sharing: 'private', name: 'sp', value: { dtype: 'f32', shape: [3, 3], stored: 2 } },
    ])
    expect((await verify(file)).verdict).toBe('ok')
  })

  it('what the model says about itself', async () => {
    const properties = [protoMessage(14, [protoText(1, '__proto__'), protoText(2, 'p')]), protoMessage(14, [])]
    const custom = protoMessage(8, [protoText(1, 'com.example'), protoInt(2, 3)])
    const { metadata, version: irVersion } = await open(
      bytesOf([
        protoInt(1, 8),
        protoText(2, 'me'),
        protoInt(5, -1),
        graphOf(protoText(2, 'g')),
        opset,
        custom,
        ...properties,
      ]),
    )
    expect(irVersion).toBe('8')
    expect([...metadata].map(([key, value]) => [key, (value as { value: unknown }).value])).toEqual([
      ['onnx.ir_version', 8n],
      ['onnx.producer_name', 'me'],
      ['onnx.model_version', -1n],
      ['onnx.opset.ai.onnx', 17n],
      ['onnx.opset.com.example', 3n],
      ['onnx.graph.name', 'g'],
      ['__proto__', 'p'],
      ['', ''],
    ])
  })
})

describe('protobuf rules', () => {
  it('the graph in two pieces is one graph', async () => {
    const file = bytesOf([version, graphOf(initializer(...pair('a'))), opset, graphOf(initializer(...pair('b')))])
    expect((await open(file)).tensors.map(({ name }) => name)).toEqual(['a', 'b'])
  })

  it('a tensor in two pieces is one tensor', async () => {
    const first = protoMessage(5, [...dims(2), dataType(7), protoBytes<never>(4, floats(1))])
    const second = protoMessage(5, [...dims(1), dataType(1), protoBytes<never>(4, floats(2))])
    const { tensors } = await open(modelOf(node('Constant', 'c', attribute('value', first, second))))
    expect(tensors.at(0)).toMatchObject({ name: 'c', shape: [2, 1], dtype: { id: 'f32' } })
    expect(await bytesIn(tensors.at(0)!.data)).toEqual([...floats(1, 2)])
  })

  it('the last of two values counts', async () => {
    const fields = [...dims(1), dataType(7), dataType(1), tensorName('x'), tensorName('w')]
    const file = modelOf(initializer(...fields, rawData(floats(1, 2)), rawData(floats(3))))
    const { tensors } = await open(file)
    expect(tensors.at(0)!.name).toBe('w')
    expect(await bytesIn(tensors.at(0)!.data)).toEqual([...floats(3)])
    expect((await verify(file)).findings.map(({ code }) => code)).toContain('onnx/repeated')
  })

  it('names that are not UTF-8 keep their bytes', async () => {
    const name = protoBytes<never>(8, Uint8Array.of(0xff, 0x61))
    const { tensors } = await open(modelOf(initializer(...dims(2), dataType(1), name, rawData(floats(1, 2)))))
    expect(tensors.at(0)!.rawName).toEqual([Uint8Array.of(0xff, 0x61)])
  })
})

describe('recognising', () => {
  const onnx = formats.find(({ id }) => id === 'onnx')!
  const detect = (bytes: Uint8Array, name = 'file'): string => onnx.detect(bytes, name, bytes.byteLength)

  it('by the first fields, in any order', () => {
    expect(detect(modelOf(initializer(...pair('w'))))).toBe('yes')
    expect(detect(bytesOf([opset, graphOf(initializer(...pair('w'))), version]))).toBe('yes')
  })

  it('not by chance', () => {
    expect(detect(bytesOf([protoInt(1, 8), protoText(9, 'no field of a model')]))).toBe('no')
    expect(detect(bytesOf([protoInt(1, 0), graphOf(initializer(...pair('w')))]))).toBe('no')
    expect(detect(bytesOf([protoInt(1, 8), protoBytes<never>(7, Uint8Array.of(8, 1))]))).toBe('no')
    expect(detect(new Uint8Array(100))).toBe('no')
    expect(detect(new Uint8Array(100), 'MODEL.ONNX')).toBe('maybe')
  })
})

it('lists a large file by reading little of it', async () => {
  const data = new Uint8Array(1 << 20)
  const tensors = Array.from({ length: 30 }, (_, i) =>
    initializer(...dims(1 << 18), dataType(1), tensorName(`layer.${i}`), rawData(data)),
  )
  const count = { reads: 0, bytes: 0 }
  const model = await openModel(countingSource(sourceOf(modelOf(...tensors)), count))
  expect(model.tensors.length).toBe(30)
  expect(count.bytes).toBeLessThan(65_536 + 31 * 600)
})

it('reads what the exporter of encoders writes', async () => {
  const graph = {
    name: 'g',
    nodes: [{ op: 'Identity', name: 'n', inputs: ['w'], outputs: ['y'], attributes: { axis: 1 } }],
    constants: [{ name: 'w', type: 'f32' as const, shape: [1, 3], data: bytesPayload(floats(1, 2, 3)) }],
    inputs: [{ name: 'x', type: 'i64' as const, shape: ['batch', 2] }],
    outputs: [{ name: 'y', type: 'f32' as const, shape: [1, 3] }],
  }
  const pieces = joinRopes([onnxFile({ graph, opset: 17, metadata: new Map([['k', 'v']]) })]).pieces
  const parts = await Promise.all(pieces.map((piece) => ('chunks' in piece ? readPayload(piece) : piece)))
  const model = await open(Uint8Array.from(parts.flatMap((part) => [...part])))
  expect(model.tensors.at(0)).toMatchObject({ name: 'w', shape: [1, 3] })
  expect(await bytesIn(model.tensors.at(0)!.data)).toEqual([...floats(1, 2, 3)])
  expect(model.parts[0]!.value).toMatchObject({ inputs: ['x'], outputs: ['y'] })
})

it('maps values that come in pieces as data, and what is not listed as fields', async () => {
  const typed = initializer(...dims(3), dataType(7), protoPacked(7, [1, 2]), tensorName('w'), protoInt(7, 3))
  const { files } = await mapSource(
    sourceOf(modelOf(typed, node('Fill', 'f', value(pair('v'))), rawBytes(0xba, 0x3e, 0))),
  )
  const rows = files[0]!.extents
  expect(rows.filter(({ kind }) => kind === 'data').map(({ path, length }) => [path, length])).toEqual([
    ['data["w"]', 2],
    ['data["w"]', 1],
  ])
  expect(rows.filter(({ kind }) => kind === 'gap')).toEqual([])
})

const value = (tensor: readonly Rope[]): Rope => attribute('value', protoMessage(5, tensor))

function repeat(field: Rope, count: number): Rope[] {
  return Array.from({ length: count }, () => field)
}
