import { isolated } from '../harness/harness.mjs'
import { row } from '../harness/rows.mjs'

export const topic = 'Decoding and encoding'
export const about = 'plain and packed element types to f32 and back, against memcpy of the f32 values'

// 0.7 of what native code reaches, which is 1.5 and 1.6 times as many elements as a copy of f32.
const floatGoals = { f16: 0.7 * 1.5, bf16: 0.7 * 1.6 }
const packedRate = 500e6
const packed = ['i4', 'u4', 'i2', 'u2', 't2', 'i1', 'u1', 't1', 'bool', 'bitset', 'f4_e2m1', 'f6_e2m3']
const small = ['f8_e4m3', 'f8_e5m2', 'f8_e8m0', 'f8_e4m3fnuz', 'f8_e5m2fnuz']

export default async function* decode({ pick }) {
  const size = pick(1 << 24, 1 << 21)
  const names = {
    decode: (id) => `decode ${id}`,
    whole: (id) => `decode ${id} into one array`,
    encode: (id) => `encode f32 as ${id}`,
  }
  const measure = (work, id, goal) => {
    const { count, ...times } = isolated('kernels/decode.mjs', [work, id, size])
    return row(names[work](id), times, {
      against: 'memcpy',
      goal: goal?.(count / times.tare),
      count,
      items: 'elements',
    })
  }
  for (const id of ['f16', 'bf16']) yield measure('decode', id, () => floatGoals[id])
  for (const id of pick(['f16', 'bf16'], [])) yield measure('whole', id)
  for (const id of pick(small, small.slice(0, 1))) yield measure('decode', id)
  const enough = (rate) => ({ text: '≥ 500 M elements/s', met: rate >= packedRate })
  for (const id of pick(packed, packed.slice(0, 3))) yield measure('decode', id, enough)
  for (const id of pick(['f16', 'bf16', 'f8_e4m3', 'f8_e5m2', 'f4_e2m1'], ['f16'])) yield measure('encode', id)
}
