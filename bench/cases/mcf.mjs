import { isolated } from '../harness/harness.mjs'
import { limitRow, row } from '../harness/rows.mjs'

export const topic = 'Quantizing'
export const about =
  'the MCF methods: quantizing and decoding in f32 bytes per second against memcpy, and the error on N(0,1)'

const goals = {
  q8: { search: 0.02, error: 0.0049 },
  q4: { search: 0.02, error: 0.0903 },
  k6: { search: 0.01, error: 0.0205 },
  k4: { search: 0.01, error: 0.0904 },
  k3: { search: 0.01, error: 0.194 },
  k2: { search: 0.01, error: 0.421 },
}
const decodeGoal = 0.1
const referenceGoal = 0.06
const names = {
  search: (method) => `quantize to ${method}`,
  reference: (method) => `quantize to ${method}, --reference-exact`,
  decode: (method) => `decode ${method}`,
}

export default async function* mcf({ pick }) {
  const wanted = Object.entries(goals).slice(0, pick(undefined, 4))
  const measure = (method, work, goal) => {
    const { bytes, ...times } = isolated('kernels/mcf.mjs', [method, work, pick(1 << 24, 1 << 20)])
    return row(names[work](method), times, { against: 'memcpy', goal, bytes })
  }
  for (const [method, goal] of wanted) {
    yield measure(method, 'search', goal.search)
    yield measure(method, 'reference', referenceGoal)
    yield measure(method, 'decode', decodeGoal)
  }
  for (const method of pick(['int8', 'int4'], [])) {
    yield measure(method, 'search')
    yield measure(method, 'decode', decodeGoal)
  }
  for (const [method, { error }] of wanted) yield errorRow(method, error, pick(1 << 22, 1 << 18))
}

/** RMSE over the deviation. The smallest possible error is searched for where codes are few enough to find it. */
function errorRow(method, max, count) {
  const { search, reference, memory } = isolated('kernels/mcf.mjs', [method, 'error', count])
  const minimum =
    Number(method.slice(1)) <= 4 ? isolated('kernels/mcf.mjs', [method, 'minimum', count]).minimum : undefined
  const note = minimum && `${minimum.toPrecision(4)} is the minimum over all scales`
  const options = { max, unit: 'error', against: 'the reference', yardstick: reference, note }
  return limitRow(`error of ${method} on N(0,1), RMSE/σ`, { tare: search, memory }, options)
}
