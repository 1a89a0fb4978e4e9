// The error of our own ggml quantizer and of ggml's, on the values that ggml's golden files were made from: RMSE of each.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dtypeById } from '../../dist/kit-node.js'
import { root } from '../harness/harness.mjs'
import { answer } from '../harness/measure.mjs'

const type = process.argv[2]
const load = (kind) => {
  const bytes = readFileSync(join(root, 'fixtures', 'ggml', `${type}.${kind}.f32`))
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
}
const values = load('src')
const { codec, byteLength } = dtypeById(`ggml.${type}`)
const bytes = new Uint8Array(byteLength([values.length]))
codec.fromF32(values, bytes)
const decoded = new Float32Array(values.length)
codec.toF32(bytes, decoded)
answer({ tare: rmse(decoded), yardstick: rmse(load('deq')) })

function rmse(other) {
  return Math.sqrt(values.reduce((sum, value, i) => sum + (value - other[i]) ** 2, 0) / values.length)
}
