// Each check has a file that fires it.
import { describe, expect, it } from 'vitest'
import { defaultLimits, openModel, TareError } from '../../../src/kit.js'
import {
  attribute,
  bytesOf,
  codesOf,
  dataType,
  dims,
  findings,
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

const tensor = (...fields: readonly Rope[]): Uint8Array => modelOf(initializer(tensorName('w'), ...fields))
const sparse = (...fields: readonly Rope[]): Uint8Array => modelOf(protoMessage(15, fields))
const twoIndices = (...values: number[]): Rope => protoMessage(2, [...dims(2), dataType(7), protoPacked(7, values)])
const long = Array<number>(40_000).fill(1)

describe('errors', () => {
  it.each<[string, Uint8Array, string]>([
    ['no bytes', new Uint8Array(0), 'onnx/empty'],
    ['no version', bytesOf([graphOf(initializer(...pair('w'))), opset]), 'onnx/no-ir-version'],
    ['a version of 0', bytesOf([protoInt(1, 0), graphOf(initializer(...pair('w'))), opset]), 'onnx/no-ir-version'],
    ['no graph', bytesOf([version, opset]), 'onnx/no-graph'],
    ['no operator set', bytesOf([version, graphOf(initializer(...pair('w')))]), 'onnx/no-opset'],
    ['type 0', tensor(rawData(floats(1))), 'onnx/dtype'],
    ['type 29', tensor(dataType(29), rawData(floats(1))), 'onnx/dtype'],
    ['a negative dimension', tensor(...dims(-1), dataType(1), rawData(floats(1))), 'onnx/negative-dim'],
    ['256 dimensions', tensor(...Array<Rope>(256).fill(protoInt(1, 1)), dataType(1)), 'onnx/rank'],
    ['256 packed dimensions', tensor(protoPacked(1, Array(256).fill(1)), dataType(1)), 'onnx/rank'],
    ['2^64 elements', tensor(...dims(2n ** 32n, 2n ** 32n), dataType(1)), 'onnx/shape-overflow'],
    ['2^52 elements of eight bytes', tensor(...dims(2n ** 52n), dataType(11)), 'onnx/shape-overflow'],
    ['2^62 elements', tensor(...dims(0, 2n ** 62n), dataType(1)), 'onnx/shape-overflow'],
    ['short raw data', tensor(...dims(2), dataType(1), rawData(floats(1))), 'onnx/size'],
    [
      'empty raw data beside a list',
      tensor(dataType(1), rawData(floats()), protoBytes<never>(4, floats(1))),
      'onnx/size',
    ],
    ['too few values', tensor(...dims(3), dataType(7), protoPacked(7, [1, 2])), 'onnx/count'],
    ['too many single values', tensor(dataType(7), protoInt(7, 1), protoInt(7, 1)), 'onnx/count'],
    ['values for an empty tensor', tensor(...dims(0), dataType(7), protoInt(7, 1)), 'onnx/count'],
    [
      'a long list with one too few',
      tensor(...dims(40_001), dataType(2), protoPacked(5, [...long.slice(1), 200])),
      'onnx/count',
    ],
    ['a long list with one too many', tensor(...dims(39_999), dataType(2), protoPacked(5, long)), 'onnx/count'],
    ['a long list of far too many', tensor(...dims(3), dataType(2), protoPacked(5, long)), 'onnx/count'],
    ['no data', tensor(...dims(2), dataType(1)), 'onnx/no-data'],
    ['data in the list of another type', tensor(dataType(1), protoInt(5, 1)), 'onnx/no-data'],
    ['a segment', tensor(dataType(1), protoMessage(3, [protoInt(1, 0)]), rawData(floats(1))), 'onnx/segment'],
    ['a third place for data', tensor(dataType(1), rawData(floats(1)), protoInt(14, 2)), 'onnx/data-location'],
    ['one text for two', tensor(...dims(2), dataType(8), protoText(6, 'a')), 'onnx/count'],
    ['a name twice', modelOf(initializer(...pair('w')), initializer(...pair('w'))), 'onnx/duplicate-name'],
    ['seven bytes of floats', tensor(dataType(1), protoBytes<never>(4, new Uint8Array(7))), 'protobuf/packed'],
    ['a list that is cut', tensor(dataType(7), protoBytes<never>(7, Uint8Array.of(0x80))), 'protobuf/packed'],
    ['dimensions that are cut', tensor(protoBytes<never>(1, Uint8Array.of(0x80)), dataType(1)), 'protobuf/packed'],
    ['damage where nobody looks', modelOf(protoMessage(13, [rawBytes(15)])), 'protobuf/wire-type'],
    [
      'a list that is cut where nobody looks',
      modelOf(node('N', 'n', attribute('a', protoBytes<never>(8, Uint8Array.of(0x80))))),
      'protobuf/packed',
    ],
    ['positions without values', sparse(twoIndices(0, 1), protoInt(3, 5)), 'onnx/sparse-shape'],
    [
      'three positions for two values',
      sparse(
        protoMessage(1, pair('s')),
        protoMessage(2, [...dims(3), dataType(7), protoPacked(7, [0, 1, 2])]),
        protoInt(3, 5),
      ),
      'onnx/sparse-shape',
    ],
    [
      'positions of another type',
      sparse(
        protoMessage(1, pair('s')),
        protoMessage(2, [...dims(2), dataType(6), protoPacked(5, [0, 1])]),
        protoInt(3, 5),
      ),
      'onnx/sparse-shape',
    ],
    ['a sparse tensor without dims', sparse(protoMessage(1, pair('s')), twoIndices(0, 1)), 'onnx/sparse-shape'],
    ['a position outside', sparse(protoMessage(1, pair('s')), twoIndices(0, 5), protoInt(3, 5)), 'onnx/sparse-index'],
    ['positions that fall', sparse(protoMessage(1, pair('s')), twoIndices(4, 1), protoInt(3, 5)), 'onnx/sparse-order'],
    ['one position twice', sparse(protoMessage(1, pair('s')), twoIndices(1, 1), protoInt(3, 5)), 'onnx/sparse-order'],
    [
      'rows of coordinates that fall',
      sparse(
        protoMessage(1, pair('s')),
        protoMessage(2, [...dims(2, 2), dataType(7), protoPacked(7, [1, 0, 0, 1])]),
        protoPacked(3, [2, 2]),
      ),
      'onnx/sparse-order',
    ],
    ['a negative position', sparse(protoMessage(1, pair('s')), twoIndices(-1, 4), protoInt(3, 5)), 'onnx/sparse-index'],
  ])('%s', async (_, bytes, code) => {
    // An empty file is refused before any format is asked, unless one is named.
    const errors = (await findings(bytes)).filter(({ severity }) => severity === 'error')
    expect(errors.map((finding) => finding.code)).toContain(code)
    for (const { offset, path } of errors) expect([typeof offset, typeof path]).toEqual(['number', 'string'])
  })
})

describe('warnings', () => {
  it.each<[string, Uint8Array, string]>([
    ['a version to come', bytesOf([protoInt(1, 99), graphOf(initializer(...pair('w'))), opset]), 'onnx/new-version'],
    ['data in two fields', tensor(dataType(1), rawData(floats(1)), protoBytes<never>(4, floats(2))), 'onnx/two-fields'],
    ['raw data twice', tensor(dataType(1), rawData(floats(1)), rawData(floats(2))), 'onnx/repeated'],
    ['300 in a u8', tensor(dataType(2), protoInt(5, 300)), 'onnx/value-range'],
    ['-1 in a u16', tensor(dataType(4), protoInt(5, -1)), 'onnx/value-range'],
    ['2 in a list of booleans', tensor(dataType(9), protoInt(5, 2)), 'onnx/value-range'],
    ['64 as six bits', tensor(dataType(28), protoInt(5, 64)), 'onnx/value-range'],
    ['2^32 in a u32', tensor(dataType(12), protoInt(11, 2n ** 32n)), 'onnx/value-range'],
    ['2 as a raw boolean', tensor(dataType(9), rawData(Uint8Array.of(2))), 'verify/bool-value'],
    [
      'bits behind the last element',
      tensor(...dims(3), dataType(21), rawData(Uint8Array.of(0, 0x10))),
      'onnx/fill-bits',
    ],
    ['the same in a list', tensor(...dims(3), dataType(25), protoPacked(5, [0x40])), 'onnx/fill-bits'],
    ['-129 as two i4', tensor(...dims(2), dataType(22), protoInt(5, -129)), 'onnx/value-range'],
    [
      'two constants of one name',
      modelOf(...[1, 2].map(() => node('Constant', 'c', attribute('value', protoMessage(5, pair('x')))))),
      'onnx/duplicate-constant',
    ],
    ['no name', modelOf(initializer(...pair(''))), 'onnx/name-empty'],
    [
      'a constant without output',
      modelOf(protoMessage(1, [protoText(4, 'Constant'), attribute('value', protoMessage(5, pair('x')))])),
      'onnx/name-empty',
    ],
    [
      'a name that is no UTF-8',
      modelOf(initializer(...dims(2), dataType(1), protoBytes<never>(8, Uint8Array.of(0xff)), rawData(floats(1, 2)))),
      'onnx/utf8',
    ],
    [
      'a metadata key twice',
      bytesOf([
        version,
        graphOf(initializer(...pair('w'))),
        opset,
        ...Array<Rope>(2).fill(protoMessage(14, [protoText(1, 'k')])),
      ]),
      'onnx/duplicate-metadata',
    ],
    [
      'a key that tare uses itself',
      bytesOf([
        version,
        graphOf(initializer(...pair('w'))),
        opset,
        protoMessage(14, [protoText(1, 'onnx.ir_version')]),
      ]),
      'onnx/duplicate-metadata',
    ],
    ['a name that is a number', modelOf(initializer(...pair('w'), protoInt(8, 1))), 'protobuf/mismatch'],
  ])('%s', async (_, bytes, code) => {
    const result = await verify(bytes)
    expect(result.findings.map((finding) => finding.code)).toContain(code)
    expect(result.verdict).toBe('warnings')
  })

  it('say which value does not fit', async () => {
    const [finding] = await findings(tensor(...dims(3), dataType(3), protoPacked(5, [1, 300, -200])))
    expect(finding!.message).toMatch(/^300 at position 1 does not fit i8, which has -128 to 127/)
  })

  it('do not hold for bytes of two signed elements, which are often written with a sign', async () => {
    for (const value of [-128, -1, 127, 255])
      expect(await codesOf(tensor(...dims(2), dataType(22), protoInt(5, value)))).toEqual([])
  })

  it('long lists are compared with their type too', async () => {
    const values = [...long, 300]
    expect(await codesOf(tensor(...dims(values.length), dataType(2), protoPacked(5, values)))).toEqual([
      'onnx/value-range',
    ])
  })
})

describe('going on', () => {
  it('a broken tensor does not hide the others', async () => {
    const bytes = modelOf(
      initializer(...dims(3), dataType(1), tensorName('a'), rawData(floats(1))),
      initializer(...pair('b')),
      initializer(dataType(99), tensorName('c')),
    )
    const result = await verify(bytes)
    expect(result.checked.tensors).toBe(1)
    expect(await codesOf(bytes)).toEqual(['onnx/size', 'onnx/dtype'])
  })

  it('bytes behind the model do not hide the weights', async () => {
    const bytes = bytesOf([version, graphOf(initializer(...pair('w'))), opset, rawBytes(0, 0)])
    const result = await verify(bytes)
    expect(result.verdict).toBe('errors')
    expect(result.checked.tensors).toBe(1)
    await expect(open(bytes)).rejects.toMatchObject({ code: 'protobuf/field-number' })
  })

  it('a long list with a wrong count fails when it is read', async () => {
    const model = await open(tensor(...dims(39_999), dataType(2), protoPacked(5, long)))
    const read = async (): Promise<void> => {
      for await (const _ of model.tensors.at(0)!.data!.chunks(1 << 16));
    }
    await expect(read()).rejects.toMatchObject({ code: 'onnx/count' })
  })
})

describe('bombs', () => {
  const nested = (levels: number): Uint8Array => {
    let graph: Rope[] = [initializer(...pair('w'))]
    for (let i = 0; i < levels; i++) graph = [node('If', `y${i}`, attribute('g', protoMessage(6, graph)))]
    return modelOf(...graph)
  }

  it('graphs in graphs, as deep as the protobuf library goes', async () => {
    expect((await open(nested(32))).tensors.length).toBe(1)
    expect(await codesOf(nested(34))).toEqual(['protobuf/depth'])
  })

  it('types in types', async () => {
    let type: Rope[] = []
    for (let i = 0; i < 200; i++) type = [protoMessage(4, [protoMessage(1, type)])]
    expect(await codesOf(modelOf(protoMessage(11, [protoText(1, 'x'), protoMessage(2, type)])))).toEqual([
      'protobuf/depth',
    ])
  })

  it('texts beyond the limit are not read', async () => {
    const bytes = modelOf(initializer(...pair('w'.repeat(1000))))
    const limits = { ...defaultLimits, indexBytes: 500 }
    await expect(openModel(sourceOf(bytes), { limits })).rejects.toMatchObject({ code: 'onnx/text-length' })
  })

  it('any cut and any byte give a coded answer', async () => {
    const bytes = modelOf(
      initializer(...pair('w')),
      initializer(...dims(3), dataType(3), protoPacked(5, [-1, 2, 3]), tensorName('t')),
      node('Constant', 'c', attribute('value', protoMessage(5, pair('x')))),
    )
    for (let at = 0; at < bytes.length; at++) {
      await expect(open(bytes.subarray(0, at))).rejects.toBeInstanceOf(TareError)
      for (const flip of [0x01, 0x80, 0xff]) {
        const changed = bytes.slice()
        changed[at] = changed[at]! ^ flip
        expect(await codesOf(changed)).not.toContain('verify/internal')
      }
    }
  })
})
