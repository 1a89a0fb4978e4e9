// Decodes a weight that a library packed in several tensors, against a copy of the f32 values in the same process. Prints JSON.
//   SCHEME ROWS COLUMNS
import { dtypeById, findPacking, unpackWeight } from '../../dist/kit.js'
import { bytesPayload } from '../../dist/model/index.js'
import { alignedBytes, fillNormal } from '../builders/normal.mjs'
import { answer, race } from '../harness/measure.mjs'

const [scheme, rowsText, columnsText] = process.argv.slice(2)
const [rows, columns] = [Number(rowsText), Number(columnsText)]
const group = 128
const [groups, count] = [columns / group, rows * columns]
const [tensors, settings] = {
  gptq: () => [
    [
      tensor('qweight', 'i32', [columns / 8, rows], anyBytes(count / 2)),
      tensor('qzeros', 'i32', [groups, rows / 8], anyBytes((groups * rows) / 2)),
      scales('scales', [groups, rows], 'f16'),
    ],
    { quant_method: 'gptq', bits: 4, group_size: group },
  ],
  awq: () => [
    [
      tensor('qweight', 'i32', [columns, rows / 8], anyBytes(count / 2)),
      tensor('qzeros', 'i32', [groups, rows / 8], anyBytes((groups * rows) / 2)),
      scales('scales', [groups, rows], 'f16'),
    ],
    { quant_method: 'awq', bits: 4, group_size: group },
  ],
  'compressed-tensors': () => [
    [
      tensor('weight_packed', 'i32', [rows, columns / 8], anyBytes(count / 2)),
      scales('weight_scale', [rows, groups], 'bf16'),
      tensor('weight_shape', 'i64', [2], new BigInt64Array([BigInt(rows), BigInt(columns)])),
    ],
    {
      quant_method: 'compressed-tensors',
      config_groups: { all: { weights: { num_bits: 4, type: 'int', group_size: group, strategy: 'group' } } },
    },
  ],
  bitsandbytes: () => {
    const state = new TextEncoder().encode(JSON.stringify({ blocksize: 64, shape: [rows, columns], dtype: 'float16' }))
    return [
      [
        tensor('weight', 'u8', [count / 2, 1], anyBytes(count / 2)),
        scales('weight.absmax', [count / 64], 'f32'),
        scales('weight.quant_map', [16], 'f32'),
        tensor('weight.quant_state.bitsandbytes__nf4', 'u8', [state.length], state),
      ],
      { quant_method: 'bitsandbytes' },
    ]
  },
  fp8: () => [
    [
      tensor('weight', 'f8_e4m3', [rows, columns], anyBytes(count)),
      scales('weight_scale_inv', [rows / group, groups], 'f32'),
    ],
    { quant_method: 'fp8', weight_block_size: [group, group] },
  ],
  modelopt: () => [
    [tensor('weight', 'u8', [rows / 2, columns], anyBytes(count / 2)), scales('weight_scale', [rows, groups], 'f32')],
    { quant_method: 'modelopt', quant_algo: 'W4A16_AWQ', group_size: group },
  ],
}[scheme]()

const { data } = await unpackWeight(findPacking(tensors, settings).weights[0])
const [from, to] = [floats(count), floats(count)]
fillNormal(from.subarray(0, 1 << 18), 7)
const decode = async () => {
  let length = 0
  for await (const chunk of data.chunks(1 << 20)) length += chunk.byteLength
  if (length !== 4 * count) throw new Error(`${length} bytes were decoded`)
}
answer({ ...(await race(decode, async () => to.set(from), 5)), bytes: 4 * count })

function floats(length) {
  const bytes = alignedBytes(4 * length)
  return new Float32Array(bytes.buffer, 0, length)
}

function tensor(name, type, shape, values) {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
  return { name: `w.${name}`, dtype: dtypeById(type), shape, order: 'row', role: 'weight', data: bytesPayload(bytes) }
}

function scales(name, shape, type) {
  const dtype = dtypeById(type)
  const values = fillNormal(new Float32Array(shape.reduce((product, length) => product * length, 1)), 3, 0.01)
  const bytes = new Uint8Array(dtype.byteLength(shape))
  if (type === 'f32') new Float32Array(bytes.buffer).set(values)
  else dtype.codec.fromF32(values, bytes)
  return tensor(name, type, shape, bytes)
}

/** Codes without a pattern. */
function anyBytes(length) {
  const bytes = new Uint8Array(length)
  let state = 1
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    bytes[i] = state >>> 24
  }
  return bytes
}
