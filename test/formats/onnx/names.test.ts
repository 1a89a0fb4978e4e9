// Names that several tensors of a model have, and models that are no binary files.
import { describe, expect, it } from 'vitest'
import { convertToFiles } from '../../support/convert.js'
import {
  attribute,
  codesOf,
  findings,
  initializer,
  modelOf,
  node,
  open,
  pair,
  protoMessage,
  type Rope,
  verify,
} from './build.js'

const constant = (name: string) => node('Constant', name, attribute('value', protoMessage(5, pair('x'))))
const inGraph = (...fields: Rope[]) => attribute('then_branch', protoMessage(6, fields))
const namesOf = async (bytes: Uint8Array): Promise<string[]> => (await open(bytes)).tensors.map(({ name }) => name)

describe('names of tensors', () => {
  const nested = modelOf(
    node(
      'If',
      'y',
      inGraph(initializer(...pair('w'))),
      inGraph(initializer(...pair('w')), initializer(...pair('w@2'))),
    ),
  )

  it('may be the same in graphs beside each other, and are told apart by a number', async () => {
    expect(await namesOf(nested)).toEqual(['w', 'w@3', 'w@2'])
    expect((await findings(nested)).map(({ severity, code }) => [severity, code])).toEqual([
      ['note', 'onnx/name-reused'],
    ])
    const files = await convertToFiles(await open(nested), 'safetensors', {
      name: 'x.safetensors',
      without: ['onnx.graph'],
    })
    expect(files.size).toBe(1)
  })

  it('belong to the last of several constants, as in runtimes', async () => {
    const bytes = modelOf(constant('c'), constant('d'), constant('c'), constant('c'))
    expect(await namesOf(bytes)).toEqual(['c@2', 'd', 'c@3', 'c'])
    expect(await codesOf(bytes)).toEqual(['onnx/duplicate-constant', 'onnx/duplicate-constant'])
  })

  it('of initializers may stand once in a graph', async () => {
    expect(await codesOf(modelOf(initializer(...pair('w')), initializer(...pair('w'))))).toEqual([
      'onnx/duplicate-name',
    ])
    expect(await codesOf(modelOf(constant('w'), initializer(...pair('w'))))).toEqual(['onnx/duplicate-name'])
  })
})

describe('models as text', () => {
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
  it.each([
    ['text of protobuf', '# a model\nir_version: 8\nproducer_name: "x"\ngraph {\n  name: "g"\n}\n'],
    ['text of protobuf', 'graph {\n  node { op_type: "Relu" }\n}\nopset_import { version: 13 }'],
    [
      'text of onnx.parser',
      '<\n  ir_version: 8,\n  opset_import: ["" : 17]\n>\nagraph (float[N] x) => (float[N] y) { y = Relu(x) }',
    ],
    ['JSON', '{\n  "irVersion": "8",\n  "graph": {}\n}'],
  ])('are called what they are: %s', async (form, text) => {
    const { findings } = await verify(encode(text))
    expect(findings).toMatchObject([{ code: 'onnx/text-form', message: expect.stringContaining(form) }])
    await expect(open(encode(text))).rejects.toMatchObject({ code: 'onnx/text-form' })
  })

  it.each(['<!DOCTYPE html><html>ir_version: 8</html>', 'graph { a -> b }', '{"graph": 1}', 'ir_version\0: 8'])(
    'are told from other texts: %j',
    async (text) => expect(await codesOf(encode(text))).not.toContain('onnx/text-form'),
  )
})
