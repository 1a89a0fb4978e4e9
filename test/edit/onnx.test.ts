// Edits of ONNX files: the graph stays what it is, and a runtime computes the same with it.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { describe, expect, it } from 'vitest'
import {
  type Conversion,
  type Edits,
  MemorySink,
  MemorySource,
  openModel,
  planEdit,
  readPayload,
  runConversion,
  text,
} from '../../src/kit.js'
import {
  attribute,
  bytesOf,
  dataType,
  dims,
  external,
  floats,
  graphOf,
  initializer,
  modelOf,
  opset,
  protoInt,
  protoMessage,
  protoText,
  type Rope,
  rawData,
  tensorName,
  version,
} from '../formats/onnx/build.js'
import { fixturesRoot } from '../support/fixtures.js'
import { editBytes } from './edit-bytes.js'

const weight = (name: string, ...values: number[]): Rope =>
  initializer(...dims(values.length), dataType(1), tensorName(name), rawData(floats(...values)))
const call = (operator: string, inputs: readonly string[], output: string, ...attributes: Rope[]): Rope =>
  protoMessage(1, [
    ...inputs.map((name) => protoText(1, name)),
    protoText(2, output),
    protoText(4, operator),
    ...attributes,
  ])
const described = (field: number, name: string, type = 1): Rope =>
  protoMessage(field, [
    protoText(1, name),
    protoMessage(2, [protoMessage(1, [protoInt(1, type), protoMessage(2, [protoMessage(1, [protoInt(1, 2)])])])]),
  ])
const branch = (name: string, ...fields: Rope[]): Rope =>
  attribute(name, protoMessage(6, [protoText(2, name), ...fields]), protoInt(20, 5))
const constant = (name: string, ...values: number[]): Rope =>
  call(
    'Constant',
    [],
    name,
    attribute(
      'value',
      protoMessage(5, [...dims(values.length), dataType(1), rawData(floats(...values))]),
      protoInt(20, 4),
    ),
  )
const annotated = (name: string, scale: string): Rope =>
  protoMessage(14, [protoText(1, name), protoMessage(2, [protoText(1, 'SCALE_TENSOR'), protoText(2, scale)])])

/** y = (x + w) · c, then a branch that uses w of the graph around it, its own k, and a name that its neighbour uses too. */
const model = bytesOf([
  version,
  protoText(2, 'maker'),
  graphOf(
    protoText(2, 'g'),
    call('Add', ['x', 'w'], 'sum'),
    constant('c', 2, 3),
    call('Mul', ['sum', 'c'], 'scaled'),
    call(
      'If',
      ['cond'],
      'y',
      branch(
        'then_branch',
        weight('k', 10, 20),
        call('Add', ['scaled', 'w'], 'inner'),
        call('Add', ['inner', 'k'], 'then_out'),
        described(12, 'then_out'),
      ),
      branch('else_branch', weight('k', 7, 7), call('Mul', ['scaled', 'k'], 'else_out'), described(12, 'else_out')),
    ),
    weight('w', 1, 2),
    initializer(dataType(9), tensorName('cond'), rawData(Uint8Array.of(1))),
    weight('out', 5, 6),
    described(11, 'x'),
    described(12, 'y'),
    described(12, 'out'),
    described(13, 'w'),
    annotated('w', 'c'),
  ),
  opset,
  protoMessage(14, [protoText(1, 'author'), protoText(2, 'somebody')]),
])

const inputs = { x: new Tensor('float32', Float32Array.of(1, 1), [2]) }
const edit = (edits: Edits, bytes = model) => editBytes(bytes, 'onnx', edits, 'm.onnx')

async function run(bytes: Uint8Array): Promise<Record<string, number[]>> {
  const results = await (await InferenceSession.create(bytes, { logSeverityLevel: 4 })).run(inputs)
  return Object.fromEntries(Object.entries(results).map(([name, { data }]) => [name, [...(data as Float32Array)]]))
}

const computed = { y: [15, 31], out: [5, 6] }

describe('names of tensors', () => {
  it('are found by number where two graphs use them', async () => {
    const { tensors } = await openModel(new MemorySource(model, 'm.onnx'))
    expect(tensors.map(({ name }) => name)).toEqual(['c', 'k', 'k@2', 'w', 'cond', 'out'])
    expect(await run(model)).toEqual(computed)
  })

  it.each<[string, [string, string][], string[], object]>([
    ['an initializer', [['w', 'a.much/longer name']], ['c', 'k', 'k@2', 'a.much/longer name', 'cond', 'out'], computed],
    ['a shorter name', [['cond', 'p']], ['c', 'k', 'k@2', 'w', 'p', 'out'], computed],
    ['a constant', [['c', 'constant']], ['constant', 'k', 'k@2', 'w', 'cond', 'out'], computed],
    ['one of a branch', [['k@2', 'second']], ['c', 'k', 'second', 'w', 'cond', 'out'], computed],
    [
      'those of both branches',
      [
        ['k', 'first'],
        ['k@2', 'second'],
      ],
      ['c', 'first', 'second', 'w', 'cond', 'out'],
      computed,
    ],
    [
      'two at once',
      [
        ['w', 'c'],
        ['c', 'w'],
      ],
      ['w', 'k', 'k@2', 'c', 'cond', 'out'],
      computed,
    ],
    ['an output', [['out', 'result']], ['c', 'k', 'k@2', 'w', 'cond', 'result'], { y: [15, 31], result: [5, 6] }],
  ])('change with everything that refers to them: %s', async (_, rename, names, results) => {
    const { bytes, after } = await edit({ rename })
    expect(after.tensors.map(({ name }) => name)).toEqual(names)
    expect(await run(bytes)).toEqual(results)
    for (const [old] of rename) {
      // No other name is left of it: descriptions and annotations have the new one too.
      const stated = Buffer.from([old.length, ...Buffer.from(old)])
      if (rename.length === 1 && old.length > 2) expect(Buffer.from(bytes).includes(stated)).toBe(false)
    }
  })

  it('are not taken from something else', async () => {
    const refused = async (from: string, to: string): Promise<unknown> =>
      edit({ rename: [[from, to]] }).then(
        () => 'done',
        ({ code }) => code,
      )
    expect(await refused('w', 'sum')).toBe('onnx/name-taken')
    expect(await refused('w', 'x')).toBe('onnx/name-taken')
    expect(await refused('w', 'inner')).toBe('onnx/name-taken')
    expect(await refused('k', 'scaled')).toBe('onnx/name-taken')
    expect(await refused('w', 'c')).toBe('write/duplicate-name')
    expect(await refused('w', 'fine')).toBe('done')
  })

  it('change without opening the files that hold the data again', async () => {
    const tensor = (name: string, offset: string): Rope =>
      initializer(...dims(1), dataType(1), tensorName(name), ...external({ location: 'w.bin', offset, length: '4' }))
    let opened = 0
    const sourceOf = (bytes: Uint8Array): MemorySource => {
      const source = new MemorySource(bytes, 'm.onnx')
      source.sibling = async (name) => {
        opened++
        return new MemorySource(floats(1, 2), name)
      }
      return source
    }
    const model = await openModel(sourceOf(modelOf(tensor('a', '0'), tensor('b', '4'))))
    const { conversion } = await planEdit(model, { rename: [['b', 'c']] }, { name: 'm.onnx', inPlace: false })
    expect(opened).toBe(1)
    const files = new Map([['w.bin', floats(1, 2)]])
    await runConversion(conversion, async (each) => new MemorySink(each, files))
    const { tensors } = await openModel(sourceOf(files.get('m.onnx')!))
    expect(tensors.map(({ name }) => name)).toEqual(['a', 'c'])
    expect(await readPayload(tensors[1]!.data!)).toEqual(floats(2))
  })
})

describe('metadata', () => {
  it('is set, added and taken away in place, since it lies behind the graph', async () => {
    const { bytes, after, how } = await edit({
      set: [
        ['author', 'somebody else'],
        ['license', 'none'],
      ],
    })
    expect(how).toBe('in place')
    expect([after.metadata.get('author'), after.metadata.get('license')]).toEqual([text('somebody else'), text('none')])
    expect(await run(bytes)).toEqual(computed)
    const back = await edit({ set: [['author', 'somebody']], unset: ['license'] }, bytes)
    expect([back.how, Buffer.compare(back.bytes, model)]).toEqual(['in place', 0])
  })

  it('is also what the model says of itself', async () => {
    const set: [string, string][] = [
      ['onnx.producer_name', 'another maker'],
      ['onnx.producer_version', '2'],
      ['onnx.model_version', '7'],
      ['onnx.graph.name', 'h'],
      ['onnx.graph.doc_string', 'a graph'],
      ['onnx.opset.ai.onnx', '18'],
    ]
    const { bytes, after } = await edit({ set })
    for (const [key, value] of set) expect(String((after.metadata.get(key) as { value: unknown }).value)).toBe(value)
    expect(await run(bytes)).toEqual(computed)
    const back = await edit(
      {
        set: [
          ['onnx.producer_name', 'maker'],
          ['onnx.graph.name', 'g'],
          ['onnx.opset.ai.onnx', '17'],
        ],
        unset: ['onnx.producer_version', 'onnx.model_version', 'onnx.graph.doc_string'],
      },
      bytes,
    )
    expect(Buffer.compare(back.bytes, model)).toBe(0)
  })

  it('keeps what every reader needs', async () => {
    for (const key of ['onnx.ir_version', 'onnx.opset.ai.onnx', 'onnx.graph.name'])
      await expect(edit({ unset: [key] })).rejects.toMatchObject({ code: 'onnx/field-required' })
    await expect(edit({ set: [['onnx.model_version', 'new']] })).rejects.toMatchObject({ code: 'onnx/field-value' })
  })

  it('that is the same already leaves nothing to write', async () => {
    const source = await openModel(new MemorySource(model, 'm.onnx'))
    const { patch } = await planEdit(source, { set: [['author', 'somebody']] }, { name: 'm.onnx' })
    expect(patch).toEqual({ patches: [], size: model.byteLength })
  })
})

async function written(conversion: Conversion): Promise<Uint8Array> {
  const files = new Map<string, Uint8Array>()
  await runConversion(conversion, async (name) => new MemorySink(name, files))
  return [...files.values()][0]!
}

/** Inputs and outputs, or why the runtime does not take the model. */
async function ports(bytes: Uint8Array): Promise<unknown> {
  try {
    const { inputNames, outputNames } = await InferenceSession.create(bytes, { logSeverityLevel: 4 })
    return { inputNames, outputNames }
  } catch (error) {
    return (error as Error).message
  }
}

const others = ['gpt2_past.onnx', 'nested_if_loop_if.onnx', 'conv.int4.int8.qdq.onnx']
const besides = join(fixturesRoot, '..', '..', 'shared', 'fixtures', 'regressions')
describe('files of others', () => {
  it.skipIf(!existsSync(besides)).each(others)('load as before when all tensors have other names: %s', async (name) => {
    const bytes = new Uint8Array(readFileSync(join(besides, name)))
    const { tensors } = await openModel(new MemorySource(bytes, name))
    const rename = tensors.map(({ name: old }, i): [string, string] => [old, `renamed.${i}`])
    const unique = rename.filter(([old]) => !/@\d+$/.test(old))
    const source = await openModel(new MemorySource(bytes, name))
    const { conversion } = await planEdit(source, { rename: unique, set: [['a', 'b']] }, { name, inPlace: false })
    expect(await ports(await written(conversion))).toEqual(await ports(bytes))
  })
})
