// Models that had a graph keep it, and it computes what it computed; other models become graphs without nodes. onnxruntime is the judge.
import { mkdirSync, writeFileSync } from 'node:fs'
import { InferenceSession, Tensor as OnnxTensor } from 'onnxruntime-node'
import { describe, expect, it } from 'vitest'
import { f32 } from '../../../src/dtypes/index.js'
import {
  bytesPayload,
  closeModel,
  lazyPayload,
  MemorySource,
  type Model,
  openModel,
  planConversion,
  putIntoGraph,
  type Tensor,
} from '../../../src/kit.js'
import { smallModel } from '../../embed/small-model.js'
import { useTempDir } from '../../node/temp-dir.js'
import { convertToFiles, sourceOf as filesSource } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import {
  attribute,
  bytesOf,
  dataType,
  dims,
  floats,
  graphOf,
  initializer,
  open,
  protoInt,
  protoMessage,
  protoText,
  type Rope,
  rawData,
  tensorName,
  version,
} from './build.js'

const at = useTempDir()

const values = (count: number, seed: number): Uint8Array =>
  floats(...Array.from({ length: count }, (_, i) => Math.sin(i * 1.7 + seed)))
const weight = (name: string, ...shape: number[]): Rope[] => [
  ...dims(...shape),
  dataType(1),
  tensorName(name),
  rawData(
    values(
      shape.reduce((a, b) => a * b, 1),
      name.length + shape.length,
    ),
  ),
]
const value = (field: number, name: string, type: number, ...shape: number[]): Rope =>
  protoMessage(field, [
    protoText(1, name),
    protoMessage(2, [
      protoMessage(1, [
        protoInt(1, type),
        protoMessage(
          2,
          shape.map((dim) => protoMessage(1, [protoInt(1, dim)])),
        ),
      ]),
    ]),
  ])
const compute = (operator: string, inputs: readonly string[], output: string, ...attributes: Rope[]): Rope =>
  protoMessage(1, [
    ...inputs.map((name) => protoText(1, name)),
    protoText(2, output),
    protoText(4, operator),
    ...attributes,
  ])
const branch = (name: string, ...fields: Rope[]): Rope =>
  attribute(name, protoMessage(6, [protoText(2, name), ...fields]), protoInt(20, 5))

/** Weights of the main graph, of a node and of a branch; both branches see those around them, and one weight is an input, too. */
function graphFile({ opset = 17, outputs = [] as Rope[] } = {}): Uint8Array {
  const constant = attribute('value', protoMessage(5, weight('', 3)), protoInt(20, 4))
  const graph = graphOf(
    compute('Constant', [], 'k', constant),
    compute('Gemm', ['x', 'w1', 'b1'], 'h0'),
    compute('Relu', ['h0'], 'h'),
    compute('MatMul', ['h', 'w2'], 'y0'),
    compute('Add', ['y0', 'k'], 'y'),
    compute(
      'If',
      ['cond'],
      'out',
      branch(
        'then_branch',
        compute('Add', ['y', 'own'], 't'),
        initializer(...weight('own', 3)),
        value(12, 't', 1, 2, 3),
      ),
      branch(
        'else_branch',
        compute('MatMul', ['h', 'w2'], 'e0'),
        compute('Add', ['e0', 'y'], 'e'),
        value(12, 'e', 1, 2, 3),
      ),
    ),
    protoText(2, 'main'),
    initializer(...weight('w1', 4, 400)),
    initializer(...weight('b1', 400)),
    initializer(...weight('w2', 400, 3)),
    value(11, 'x', 1, 2, 4),
    value(11, 'cond', 9),
    value(11, 'w1', 1, 4, 400),
    value(12, 'out', 1, 2, 3),
    value(13, 'w2', 1, 400, 3),
    ...outputs,
  )
  return bytesOf([version, graph, protoMessage(8, [protoText(1, ''), protoInt(2, opset)])])
}

let folders = 0

/** What the graph computes for both answers to its condition. */
async function run(files: ReadonlyMap<string, Uint8Array>): Promise<number[]> {
  const folder = at(`run${folders++}`)
  mkdirSync(folder)
  for (const [name, bytes] of files) writeFileSync(`${folder}/${name}`, bytes)
  const session = await InferenceSession.create(`${folder}/${[...files.keys()][0]}`, { logSeverityLevel: 3 })
  const x = new OnnxTensor(
    'float32',
    Float32Array.from({ length: 8 }, (_, i) => Math.cos(i)),
    [2, 4],
  )
  const results: number[] = []
  for (const answer of [1, 0]) {
    const { out } = await session.run({ x, cond: new OnnxTensor('bool', [answer === 1], []) })
    results.push(...(out!.data as Float32Array))
  }
  await session.release()
  return results
}

const convert = async (options: Parameters<typeof convertToFiles>[2] = {}, file = graphFile()) =>
  convertToFiles(await open(file), 'onnx', { name: 'out.onnx', ...options })
const truth = () => run(new Map([['m.onnx', graphFile()]]))
const largest = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((each, i) => Math.abs(each - b[i]!)))

describe('a model with a graph', () => {
  it('is written as it is', async () => {
    expect(Buffer.compare((await convert()).get('out.onnx')!, graphFile())).toBe(0)
  })

  it.each([
    ['f16', 0.02],
    ['bf16', 0.2],
    ['f64', 0],
  ])('with weights as %s computes the same as far as they have it', async (cast, tolerance) => {
    const files = await convert({ cast })
    const model = await openModel(filesSource(files))
    // What a node holds is no weight, but a number that it computes with.
    expect(model.tensors.map(({ dtype }) => dtype.id)).toEqual(['f32', cast, cast, cast, cast])
    expect(model.tensors.map(({ name }) => name)).toEqual((await open(graphFile())).tensors.map(({ name }) => name))
    expect(largest(await run(files), await truth())).toBeLessThanOrEqual(tolerance)
    // And back again.
    const again = await convertToFiles(model, 'onnx', { name: 'back.onnx', cast: 'f32' })
    expect(largest(await run(again), await run(files))).toBe(0)
  })

  it('with data in other files, of any number, computes the same', async () => {
    const files = await convert({ shardSize: 5000 })
    expect([...files.keys()]).toEqual(['out.onnx', 'out.onnx_data', 'out.onnx_data_1', 'out.onnx_data_2'])
    expect(files.get('out.onnx')!.byteLength).toBeLessThan(1500)
    expect(await run(files)).toEqual(await truth())
    const again = await convertToFiles(await openModel(filesSource(files)), 'onnx', { name: 'b.onnx', cast: 'f16' })
    expect([...again.keys()]).toEqual(['b.onnx', 'b.onnx_data'])
    expect(largest(await run(again), await truth())).toBeLessThan(0.02)
  })

  it('with other names computes the same', async () => {
    for (const cast of [undefined, 'f64']) {
      const files = await convert({ rename: ['s/^/model./'], cast })
      const model = await openModel(filesSource(files))
      expect(model.tensors.every(({ name }) => name.startsWith('model.'))).toBe(true)
      expect(await run(files)).toEqual(await truth())
    }
  })

  it('keeps its graph only with all of its tensors', async () => {
    const model = await open(graphFile())
    const some = { name: 'x.onnx', only: ['w*'] }
    await expect(planConversion(model, 'onnx', some)).rejects.toMatchObject({ code: 'onnx/graph-tensors' })
    const files = await convertToFiles(model, 'onnx', { ...some, without: ['onnx.graph'] })
    const left = await openModel(filesSource(files))
    expect([left.tensors.map(({ name }) => name), left.parts]).toEqual([['w1', 'w2'], []])
  })

  it('says where a type cannot change', async () => {
    const output = graphFile({ outputs: [value(12, 'b1', 1, 400)] })
    for (const [file, cast] of [
      [output, 'f16'],
      [graphFile({ opset: 11 }), 'bf16'],
    ] as const)
      await expect(convert({ cast }, file)).rejects.toMatchObject({ code: 'onnx/graph-type' })
  })

  it('of an encoder computes the same with other weights', async () => {
    const files = await convertToFiles(smallModel(), 'onnx', { name: 'e.onnx', extra: { heads: 2 } })
    const model = await openModel(filesSource(files))
    const smaller = await convertToFiles(model, 'onnx', { name: 'e.onnx', cast: 'f16' })
    const results = await Promise.all([files, smaller].map((each) => embed(each.get('e.onnx')!)))
    expect(largest(results[0]!, results[1]!)).toBeLessThan(0.01)
    expect(results[0]!.length).toBeGreaterThan(0)
  })

  it('that is made of an encoder has its data in another file where it is split, or larger than 2 GiB', async () => {
    const small = smallModel()
    const withRows = (rows: number, data: Tensor['data']): Model => ({
      ...small,
      parts: [],
      tensors: small.tensors.map((tensor) =>
        tensor.name.endsWith('word_embeddings.weight') ? { ...tensor, shape: [rows, 12], data } : tensor,
      ),
    })
    const options = { name: 'e.onnx', extra: { heads: 2 } }
    const model = withRows(100, bytesPayload(values(1200, 1)))
    const files = await convertToFiles(model, 'onnx', { ...options, shardSize: 2000 })
    expect([...files].map(([name, bytes]) => [name, bytes.byteLength > 4800])).toEqual([
      ['e.onnx', true],
      ['e.onnx_data', false],
    ])
    const folder = at('encoder')
    mkdirSync(folder)
    for (const [name, bytes] of files) writeFileSync(`${folder}/${name}`, bytes)
    const whole = await convertToFiles(model, 'onnx', options)
    expect(await embed(`${folder}/e.onnx`)).toEqual(await embed(whole.get('e.onnx')!))

    const rows = 2 ** 26
    const large = withRows(
      rows,
      lazyPayload(rows * 12 * 4, async function* () {}),
    )
    const { plan } = await planConversion(large, 'onnx', options)
    expect(plan.files.map(({ name, size }) => [name, size > 2 ** 31])).toEqual([
      ['e.onnx', false],
      ['e.onnx_data', true],
    ])
  })
})

/** Of one file in memory, or of several in a folder. */
async function embed(file: Uint8Array | string): Promise<number[]> {
  const session = await InferenceSession.create(file as string, { logSeverityLevel: 3 })
  const ids = BigInt64Array.from([2n, 5n, 6n, 3n])
  const all = {
    input_ids: ids,
    attention_mask: BigInt64Array.from([1n, 1n, 1n, 1n]),
    token_type_ids: new BigInt64Array(4),
  }
  const feeds = Object.fromEntries(
    session.inputNames.map((name) => [name, new OnnxTensor('int64', all[name as keyof typeof all], [1, 4])]),
  )
  const outputs = await session.run(feeds)
  return [...(Object.values(outputs)[0]!.data as Float32Array)]
}

describe('weights of another container', () => {
  const weights = async (change: (model: Model) => Model = (model) => model) => {
    const { tensors } = await open(graphFile())
    const named = tensors
      .filter(({ name }) => /^[wbko]/.test(name))
      .map((each) => ({ ...each, name: `net.${each.name}` }))
    const plain = change({ ...sampleModel([]), tensors: named })
    return openModel(filesSource(await convertToFiles(plain, 'safetensors', { name: 'w.safetensors', cast: 'f16' })))
  }
  const rename = ['s/net[.]//']

  it('are put into the graph under their names', async () => {
    const graph = await open(graphFile())
    const put = putIntoGraph(graph, await weights(), { rename })
    expect([put.count, put.actions]).toEqual([5, []])
    const files = await convertToFiles(put.model, 'onnx', { name: 'out.onnx' })
    expect(largest(await run(files), await truth())).toBeLessThan(0.02)
    const types = (await openModel(filesSource(files))).tensors.map(({ name, dtype }) => `${name} ${dtype.id}`)
    expect(types).toEqual(['k f16', 'own f16', 'w1 f16', 'b1 f16', 'w2 f16'])
  })

  it('have to fit, and those without a place are named', async () => {
    const graph = await open(graphFile())
    expect(() => putIntoGraph(graph, sampleModel([sampleTensor('other', 'f32', [2], 1)]))).toThrow(
      /no tensor has a name/,
    )
    const turned = sampleModel([sampleTensor('w1', 'f32', [400, 4], 1)])
    expect(() => putIntoGraph(graph, turned)).toThrow(/the graph has it transposed/)
    const more = sampleModel([sampleTensor('b1', 'f32', [400], 1), sampleTensor('head', 'f32', [4], 1)])
    expect(putIntoGraph(graph, more).actions).toMatchObject([{ name: 'head', action: 'drop', loss: 'content' }])
  })
})

describe('any other model', () => {
  it('becomes a graph without nodes, and comes back', async () => {
    const model = sampleModel([
      sampleTensor('a', 'f32', [3, 4], 1),
      sampleTensor('b', 'i64', [], 2),
      sampleTensor('c', 'bf16', [0, 5], 3),
    ])
    const files = await convertToFiles(model, 'onnx', { name: 'm.onnx' })
    const back = await openModel(filesSource(files))
    expect(back.tensors.map(({ name, dtype, shape }) => [name, dtype.id, shape])).toEqual(
      model.tensors.map(({ name, dtype, shape }) => [name, dtype.id, shape]),
    )
  })

  it('of more than 2 GiB has its data beside it', async () => {
    const [rows, columns] = [1 << 15, 1 << 15]
    const data = lazyPayload(rows * columns * 4, async function* () {})
    const tensor = { name: 'w', dtype: f32, shape: [rows, columns], order: 'row', role: 'weight', data } as const
    const { layout, plan } = await planConversion(sampleModel([tensor]), 'onnx', { name: 'm.onnx' })
    expect(layout.files.map(({ name }) => name)).toEqual(['m.onnx', 'm.onnx_data'])
    expect(plan.files.map(({ size }) => size > 2 ** 31)).toEqual([false, true])
  })

  it('is read again by a source that has its files', async () => {
    const files = await convertToFiles(sampleModel([sampleTensor('a', 'f32', [64, 64], 1)]), 'onnx', {
      name: 'm.onnx',
      shardSize: 1 << 20,
    })
    const model = await openModel(new MemorySource(files.get('m.onnx')!, 'm.onnx', files))
    expect(model.files.map(({ name }) => name)).toEqual(['m.onnx', 'm.onnx_data'])
    await closeModel(model)
  })
})
