import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { dtypes, parseDescription } from '../../src/kit.js'
import { parseYamlDescription } from '../../src/node/pack/pack-yaml.js'
import { elementTypeNames } from '../../src/pack/element-type.js'
import { schema, schemaErrors } from './schema-validator.js'

const example = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`../../examples/${name}`, import.meta.url)))
const check = (description: object) =>
  schemaErrors(parseDescription(new TextEncoder().encode(JSON.stringify(description)), 'd'))

test('the examples keep to the schema', () => {
  expect(schemaErrors(parseDescription(example('quantized-linear.json'), 'x'))).toEqual([])
  expect(schemaErrors(parseYamlDescription(example('mlp-regression.yaml'), 'x'))).toEqual([])
})

test('it knows every element type', () => {
  const [plain, dotted] = schema.$defs.dtype!.anyOf as [{ enum: string[] }, { pattern: string }]
  const isBlock = (name: string): boolean => dtypes.get(name)?.kind === 'block'
  expect(plain.enum.toSorted()).toEqual(elementTypeNames.filter((name) => !isBlock(name)).toSorted())
  for (const name of elementTypeNames.filter(isBlock)) expect(name).toMatch(new RegExp(dotted.pattern))
})

const tensor = (fields: object) => ({ tensors: { t: fields } })

test.each<[object]>([
  [{}],
  [{ sizevars: { D: 1, E: null } }],
  [{ metadata: { a: 1, b: 'x', c: [[1.5], [2]], d: true, e: null, f: { bitset: [0, 1, true] } } }],
  [
    {
      metadata: {
        g: { value: 'NaN', dtype: 'f32' },
        h: { file: 'h.npy', shape: ['D'] },
        j: { file: 'h.npz', member: 'j' },
        i: { value: 'x', dtype: 'str' },
      },
    },
  ],
  [
    tensor([
      [1, 2],
      [3, 4],
    ]),
  ],
  [tensor({ data: null, dtype: 'i4', shape: ['2*D', 3] })],
  [tensor({ data: 'NaN' })],
  [tensor({ data: [1], dtype: 10 })],
  [tensor({ file: 'w.bin', dtype: 'ggml.q4_0', shape: [32] })],
  [tensor({ file: 'w.npz', member: 'w' })],
])('takes %j', (description) => {
  expect(check(description)).toEqual([])
})

test.each<[object]>([
  [{ tensor: {} }],
  [{ sizevars: { D: -1 } }],
  [{ sizevars: { D: '4' } }],
  [{ metadata: { a: ['x'] } }],
  [{ metadata: { a: { value: 1, bitset: '1' } } }],
  [{ metadata: { a: { bitset: '2' } } }],
  [{ metadata: { a: { value: 1, type: 'f32' } } }],
  [tensor({ data: [1], dtype: 'f31' })],
  [tensor({ data: [1], file: 'x' })],
  [tensor({ data: [1], member: 'x' })],
  [tensor({ file: 'w.npz', member: 1 })],
  [tensor({ data: [1], shape: [-1] })],
  [tensor({ data: [1], shape: [1.5] })],
  [tensor({ data: [1], quant: { scheme: 'symmetric' } })],
  [tensor({ data: [1], quant: { scheme: 'x', scales: 1 } })],
  [tensor({ data: [1], quant: { scheme: 'asymmetric', scales: 1, zeroPoints: 0.5 } })],
])('refuses %j', (description) => {
  expect(check(description)).not.toEqual([])
})
