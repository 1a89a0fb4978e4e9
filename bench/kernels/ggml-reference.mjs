// Encodes f32 values to blocks of one ggml type, in turn with a libggml that another program calls. Both have their values in memory and use one
// thread; what counts is processor time. Prints JSON.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { takeWindow } from '../../dist/bytes/index.js'
import { ggmlTypes } from '../../dist/dtypes/ggml/types.js'
import { fillNormal } from '../builders/normal.mjs'
import { answer, peakMemory } from '../harness/measure.mjs'

const [type, countText, roundsText, program, library, file] = process.argv.slice(2)
const count = Number(countText)
const columns = 4096
const repeats = 5

const { dtype, number } = ggmlTypes.find(({ dtype }) => dtype.id === `ggml.${type}`)
// In a window, which is where the values of a file are when they are encoded.
const window = takeWindow(4 * count)
const values = new Float32Array(window.buffer, window.byteOffset, count)
fillNormal(values, 1, 0.02)
writeFileSync(file, window)
/** Every column counts the same: for the types that are not made without importance weights. */
const importance = dtype.codec.rows?.weights === 'required' ? new Float32Array(columns).fill(1) : undefined
const target = takeWindow(dtype.byteLength([count / columns, columns]))

function encodeValues() {
  if (!importance) return dtype.codec.fromF32(values, target)
  const size = dtype.byteLength([1, columns])
  for (let row = 0; row < count / columns; row++) {
    const from = values.subarray(row * columns, (row + 1) * columns)
    const bad = dtype.codec.rows.encode(from, target.subarray(row * size), { importance })
    if (bad >= 0) return bad
  }
  return -1
}

function encode() {
  const start = process.cpuUsage()
  if (encodeValues() >= 0) throw new Error('not all values were encoded')
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}

const reference = () =>
  Number(
    execFileSync(program, [library, number, columns, repeats, file, importance ? 1 : 0].map(String), {
      encoding: 'utf8',
    }),
  )

encode()
const memory = peakMemory()
const best = { tare: Number.POSITIVE_INFINITY, yardstick: Number.POSITIVE_INFINITY }
for (let round = 0; round < Number(roundsText); round++) {
  best.yardstick = Math.min(best.yardstick, reference())
  for (let i = 0; i < repeats; i++) best.tare = Math.min(best.tare, encode())
}
answer({ ...best, memory, bytes: 4 * count })
