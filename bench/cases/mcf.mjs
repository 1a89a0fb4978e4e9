// Quantizing and decoding, in f32 bytes per second against a copy in the same process; and the error on normally distributed values.
import { isolated, row } from '../harness.mjs'

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

export default async function mcf({ quick }) {
  const count = quick ? 1 << 21 : 1 << 24
  const rows = []
  const measure = (method, work, goal) => {
    const { bytes, memory, ...times } = isolated('mcf-kernels.mjs', [method, work, count])
    const names = {
      decode: `decode ${method}`,
      search: `quantize to ${method}`,
      reference: `quantize to ${method} like the reference`,
    }
    rows.push(row(names[work], times, { against: 'memcpy', goal, bytes, memory }))
  }
  for (const [method, goal] of Object.entries(goals)) {
    measure(method, 'search', goal.search)
    measure(method, 'reference', referenceGoal)
    measure(method, 'decode', decodeGoal)
  }
  for (const method of ['int8', 'int4']) {
    measure(method, 'search')
    measure(method, 'decode', decodeGoal)
  }
  for (const [method, goal] of Object.entries(goals)) rows.push(errorRow(method, goal.error, quick))
  rows.push(memoryRow(quick))
  return rows
}

/** Errors are no times: the row brings its own text. The least possible error is looked for where codes are few enough to find it. */
function errorRow(method, goal, quick) {
  const count = quick ? 1 << 18 : 1 << 22
  const { search, reference } = isolated('mcf-kernels.mjs', [method, 'error', count])
  const least = Number(method.slice(1)) <= 4 ? isolated('mcf-kernels.mjs', [method, 'least', count]).least : undefined
  const work = `error of ${method} on N(0,1)`
  const met = search <= goal ? 'met' : 'MISSED'
  const bound = least === undefined ? '' : `; ${least.toFixed(5)} is the least that any scales give`
  const line = `${work.padEnd(44)} ${search.toFixed(5)}  reference: ${reference.toFixed(5)}  (goal ${goal}, ${met}${bound})`
  return { work, against: 'the reference', tare: search, yardstick: reference, speed: reference / search, line }
}

/** One tensor that is far larger than what may be kept in memory. */
function memoryRow(quick) {
  const { seconds, memory } = isolated('mcf-virtual.mjs', [quick ? 2 ** 29 : 4 * 2 ** 30])
  return row(
    'quantize a virtual model, memory only',
    { tare: seconds, yardstick: seconds },
    { against: 'itself', memory },
  )
}
