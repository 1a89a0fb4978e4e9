// Decoding to f32 and encoding from it, in elements: against a copy of the f32 values in the same process.
import { isolated, row } from '../harness.mjs'

// 0.7 of what native code reaches, which is 1.5 and 1.6 times as many elements as a copy of f32.
const floatGoals = { f16: 0.7 * 1.5, bf16: 0.7 * 1.6 }
const packedRate = 500e6
const packed = ['i4', 'u4', 'i2', 'u2', 't2', 'i1', 'u1', 't1', 'bool', 'bitset', 'f4_e2m1', 'f6_e2m3']
const small = ['f8_e4m3', 'f8_e5m2', 'f8_e8m0', 'f8_e4m3fnuz', 'f8_e5m2fnuz']

export default async function decode({ quick }) {
  const count = quick ? 1 << 22 : 1 << 24
  const measure = (work, id, goal = {}) => {
    const times = isolated('decode-kernels.mjs', [work, id, count])
    const names = { decode: `decode ${id}`, whole: `decode ${id} into one array`, encode: `encode f32 as ${id}` }
    return withRate(row(names[work], times, { against: 'memcpy', goal: goal.ratio, memory: times.memory }), count, goal)
  }
  return [
    ...['f16', 'bf16'].map((id) => measure('decode', id, { ratio: floatGoals[id] })),
    ...['f16', 'bf16'].map((id) => measure('whole', id)),
    ...small.map((id) => measure('decode', id)),
    ...packed.map((id) => measure('decode', id, { rate: packedRate })),
    ...['f16', 'bf16', 'f8_e4m3', 'f8_e5m2', 'f4_e2m1'].map((id) => measure('encode', id)),
  ]
}

/** Adds a line of text that has elements in place of bytes. */
function withRate(each, count, goal) {
  const rate = count / each.tare
  const verdict = (met, text) => `  (goal ${text}, ${met ? 'met' : 'MISSED'})`
  const byRatio = goal.ratio === undefined ? '' : verdict(each.speed >= goal.ratio, goal.ratio.toFixed(2))
  const byRate = goal.rate === undefined ? '' : verdict(rate >= goal.rate, `${goal.rate / 1e6} M/s`)
  const text = `${Math.round(rate / 1e6)} M elements/s${byRate}  memcpy: ${Math.round(count / each.yardstick / 1e6)} M/s`
  const memory = `peak ${Math.round(each.memory / 2 ** 20)} MiB`
  return { ...each, line: `${each.work.padEnd(44)} ${text}  ratio ${each.speed.toFixed(2)}${byRatio}  ${memory}` }
}
