// Models that together use everything a container may have to hold.

import { tableOf, vocabularyPart } from '../../src/content/vocabulary.js'
import {
  bytesPayload,
  dtypeById,
  listOf,
  MemorySource,
  type MetaValue,
  type Model,
  type Part,
  type Tensor,
  text,
} from '../../src/kit.js'
import { sampleModel as nameless, sampleTensor } from './sample-model.js'

/** Some containers note what the file that they were made of is called. */
const sampleModel = (...parts: Parameters<typeof nameless>): Model => ({
  ...nameless(...parts),
  files: [new MemorySource(new Uint8Array(), 'm.memory')],
})

const encode = (value: string): Uint8Array => new TextEncoder().encode(value)

/** Bytes of ordinary numbers. */
function plainTensor(name: string, dtype: string, shape: readonly number[]): Tensor {
  const tensor = sampleTensor(name, dtype, shape)
  const type = dtypeById(dtype)!
  const isSmall = ['f8_e4m3', 'f8_e5m2', 'f8_e8m0', 'f8_e4m3fnuz', 'f8_e5m2fnuz', 't2', 't1'].includes(dtype)
  if (type.kind !== 'float' && !isSmall) return tensor
  // Small patterns are small numbers in every float type; for the ternary ones they are -1, 0 and 1.
  const bytes = new Uint8Array(type.byteLength(shape)!).map((_, i) =>
    dtype.startsWith('t') ? 0b01_00_01_00 : 1 + (i % 7),
  )
  return { ...tensor, data: bytesPayload(bytes) }
}

const dtypes = `f64 f32 f16 bf16 f8_e4m3 f8_e5m2 i64 i32 i16 i8 u64 u32 u16 u8 bool i4 i2 u4 u2 u1 t2 c64`.split(' ')

/** Every byte, so that there are NaN of all kinds, booleans of 2 and codes that stand for nothing; and as many elements as asked for. */
function anyBits(dtype: string, count: number): Tensor {
  const bytes = new Uint8Array(dtypeById(dtype)!.byteLength([count])!).map((_, i) => 255 - (i % 256))
  return { ...sampleTensor(`${dtype}.${count}`, dtype, [count]), data: bytesPayload(bytes) }
}

const metadata = new Map<string, MetaValue>([
  ['zulu', text('last by name, first in the model')],
  ['u8', { type: 'u8', value: 200 }],
  ['u32', { type: 'u32', value: 7 }],
  ['u64', { type: 'u64', value: 2n ** 63n + 5n }],
  ['i64', { type: 'i64', value: -5n }],
  ['f32', { type: 'f32', value: 0.5 }],
  ['f64', { type: 'f64', value: 1 / 3 }],
  ['bool', { type: 'bool', value: true }],
  ['words', listOf('str', [text('a'), text('ö')])],
  [
    'numbers',
    listOf(
      'i32',
      [-1, 2].map((value): MetaValue => ({ type: 'i32', value })),
    ),
  ],
  ['json', { type: 'json', value: { a: [1, null] } }],
  ['raw', { type: 'bytes', value: Uint8Array.of(0, 255) }],
  ['array', { type: 'ndarray', dtype: dtypeById('i16')!, shape: [2], value: Uint8Array.of(1, 0, 2, 0) }],
  ['null', { type: 'null' }],
])

const file = (name: string, content: string): Part => {
  const data = bytesPayload(encode(content))
  return { kind: 'file', sharing: 'shared', name, value: { bytes: data.byteLength }, data }
}

const vocabulary = vocabularyPart(tableOf(['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'öl', '##s'].map(encode)))

export const featureModels: Readonly<Record<string, Model>> = {
  'plain weights': sampleModel([sampleTensor('b.weight', 'f32', [4, 6], 2), sampleTensor('a.bias', 'f32', [5], 1)]),
  'weights in no order': sampleModel(
    ['output.dense.weight', 'output.dense.bias', 'attention.self.key.weight', 'attention.self.query.weight']
      .map((name, i) => sampleTensor(`encoder.layer.1.${name}`, i === 1 ? 'f16' : 'f32', i === 1 ? [4] : [4, 4], i))
      .concat(
        sampleTensor('pooler', 'f32', [3]),
        sampleTensor('embeddings.word_embeddings.weight', 'f32', [5, 4]),
        sampleTensor('a', 'f64', [2]),
        sampleTensor('Z', 'f32', [2]),
      ),
  ),
  'one array': sampleModel([sampleTensor('out', 'f32', [3, 4])]),
  'every element type': sampleModel(dtypes.map((id) => plainTensor(`t.${id}`, id, [2, 16]))),
  'any bits': sampleModel(
    [...dtypes, 'f8_e4m3fnuz', 'f8_e5m2fnuz', 'f8_e8m0'].flatMap((id) => [anyBits(id, 1024), anyBits(id, 7)]),
  ),
  'odd shapes': sampleModel([
    sampleTensor('scalar', 'f32', []),
    sampleTensor('empty', 'f32', [0, 3]),
    sampleTensor('deep', 'f32', [2, 1, 2, 1, 2]),
    { ...sampleTensor('declared', 'f32', [4]), data: null },
  ]),
  'odd names': sampleModel([
    sampleTensor(`long.${'x'.repeat(90)}`, 'f32', [2]),
    sampleTensor('with space/slash', 'f32', [2]),
    sampleTensor('ünïcode.重み', 'f32', [2]),
    sampleTensor('__proto__', 'f32', [2]),
  ]),
  'typed metadata': sampleModel([sampleTensor('w', 'f32', [2])], metadata),
  'files and a vocabulary': {
    ...sampleModel([sampleTensor('w', 'f32', [2, 3])]),
    parts: [file('config.json', '{"model_type": "tiny"}'), file('notes.txt', 'größer'), vocabulary],
  },
  'optimizer state': sampleModel([
    sampleTensor('w', 'f32', [2, 3]),
    { ...sampleTensor('w#Adam.m1', 'f32', [2, 3], 3), role: 'state', stat: 'Adam.m1' },
  ]),
  'quantization beside tensors': sampleModel([
    { ...sampleTensor('q', 'i8', [2, 4]), quant: { scheme: 'asymmetric', scales: [0.5], zeroPoints: [3] } },
  ]),
  'columns first': sampleModel([{ ...sampleTensor('c', 'f32', [3, 5]), order: 'column' }]),
  blocks: sampleModel([plainTensor('g', 'ggml.q8_0', [2, 64]), sampleTensor('f', 'f32', [2])]),
}
