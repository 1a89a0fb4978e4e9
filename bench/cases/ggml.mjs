import { isolated } from '../harness/harness.mjs'
import { row } from '../harness/rows.mjs'

export const topic = 'Decoding and encoding'
export const about =
  "decoding and encoding ggml's blocks against memcpy of the f32 values; the error of encoding against ggml's own"

const decodeGoals = {
  q4_0: 0.08,
  q8_0: 0.08,
  q4_k: 0.08,
  q6_k: 0.08,
  q5_k: undefined,
  q2_k: undefined,
  q3_k: undefined,
}
const encoded = ['q8_0', 'q4_0', 'q4_1', 'q5_0', 'q5_1', 'q2_k', 'q3_k', 'q4_k', 'q5_k', 'q6_k']

export default async function* ggml({ pick }) {
  for (const [type, goal] of Object.entries(decodeGoals).slice(0, pick(undefined, 3))) {
    const { bytes, ...times } = isolated('kernels/ggml-decode.mjs', [type, pick(1 << 24, 1 << 21)])
    yield row(`decode ggml ${type}`, times, { against: 'memcpy', goal, bytes })
  }
  for (const type of encoded.slice(0, pick(undefined, 3))) {
    const { bytes, ...times } = isolated('kernels/ggml-encode.mjs', [type, pick(1 << 22, 1 << 20)])
    yield row(`encode ggml ${type}`, times, { against: 'memcpy', bytes })
  }
  for (const type of encoded.slice(0, pick(undefined, 3))) {
    const goal = { text: '≤ 1.01 × ggml' }
    const errors = isolated('kernels/ggml-error.mjs', [type])
    goal.met = errors.tare <= 1.01 * errors.yardstick
    yield row(`error of ggml ${type}, RMSE`, errors, { topic: 'Quantizing', against: 'ggml', unit: 'error', goal })
  }
}
