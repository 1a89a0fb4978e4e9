// Exports of PyTorch compute what they computed, whatever tare writes of them. onnxruntime is the judge.
import { mkdirSync, writeFileSync } from 'node:fs'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { describe, expect, it } from 'vitest'
import { openModel, putIntoGraph } from '../../../src/kit.js'
import { useTempDir } from '../../node/temp-dir.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'
import { fixtureBytes, fixtureSource } from '../../support/fixtures.js'

const at = useTempDir()
const floats = (count: number) => Float32Array.from({ length: count }, (_, i) => Math.sin(3 * i + 1))

const inputs = {
  'torch-cond.onnx': [
    new Tensor('float32', floats(16), [2, 8]),
    new Tensor('float32', floats(16).map(Math.abs), [2, 8]),
  ],
  'torch-transformer.onnx': [new Tensor('float32', floats(64), [1, 4, 16])],
  'torch-lstm.onnx': [new Tensor('int64', BigInt64Array.from([3n, 0n, 19n, 7n, 3n]), [5])],
}
type Export = keyof typeof inputs
const exports = Object.keys(inputs) as Export[]

const open = (file: Export) => openModel(fixtureSource('onnx', file))
const convert = async (file: Export, options: object) =>
  convertToFiles(await open(file), 'onnx', { name: 'out.onnx', ...options })

let folders = 0

async function run(file: Export, files: ReadonlyMap<string, Uint8Array>): Promise<number[]> {
  const folder = at(`run${folders++}`)
  mkdirSync(folder)
  for (const [name, bytes] of files) writeFileSync(`${folder}/${name}`, bytes)
  const session = await InferenceSession.create(`${folder}/${[...files.keys()][0]}`, { logSeverityLevel: 3 })
  const results: number[] = []
  for (const input of inputs[file]) {
    const outputs = await session.run({ [session.inputNames[0]!]: input })
    for (const name of session.outputNames) results.push(...(outputs[name]!.data as Float32Array))
  }
  await session.release()
  return results
}

const truth = (file: Export) => run(file, new Map([['m.onnx', fixtureBytes('onnx', file)]]))

describe.each(exports)('%s', (file) => {
  it.each<[string, object]>([
    ['nothing changed', {}],
    ['other names', { rename: ['s/^/model./'] }],
    ['data in other files', { shardSize: 3000 }],
    ['a property', { set: [['author', 'somebody']] }],
    ['a wider type', { cast: 'f64' }],
  ])('gives the same outputs with %s', async (_, options) => {
    expect(await run(file, await convert(file, options))).toEqual(await truth(file))
  })

  it.each([
    ['f16', 0.01],
    ['bf16', 0.1],
  ])('gives outputs that are near with weights of %s', async (cast, tolerance) => {
    const results = await run(file, await convert(file, { cast }))
    const wanted = await truth(file)
    expect(Math.max(...results.map((each, i) => Math.abs(each - wanted[i]!)))).toBeLessThan(tolerance)
    expect(results).not.toEqual(wanted)
  })

  it('takes its weights back from another container', async () => {
    const away = await convertToFiles(await open(file), 'safetensors', { name: 'w', without: ['onnx.graph'] })
    const { model } = putIntoGraph(await open(file), await openModel(sourceOf(away)))
    expect(await run(file, await convertToFiles(model, 'onnx', { name: 'out.onnx' }))).toEqual(await truth(file))
  })
})
