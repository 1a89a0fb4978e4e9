// Makes examples/tiny-mlp.safetensors: a classifier of 8×8 digits with two layers and random weights, small enough to read by eye.
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const tensors = [
  ['layers.0.weight', [32, 64]],
  ['layers.0.bias', [32]],
  ['layers.1.weight', [10, 32]],
  ['layers.1.bias', [10]],
]

// A small generator with a fixed seed, so that the file is always the same.
let state = 42
const uniform = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return state / 2 ** 32
}
const normal = () => Math.sqrt(-2 * Math.log(uniform() + 1e-12)) * Math.cos(2 * Math.PI * uniform())

const header = { __metadata__: { format: 'pt', model: 'tiny-mlp', license: 'MIT' } }
const parts = []
let offset = 0
for (const [name, shape] of tensors) {
  const count = shape.reduce((product, dim) => product * dim, 1)
  const values = Float32Array.from({ length: count }, () => normal() / Math.sqrt(shape.at(-1)))
  header[name] = { dtype: 'F32', shape, data_offsets: [offset, offset + count * 4] }
  parts.push(Buffer.from(values.buffer))
  offset += count * 4
}
const text = JSON.stringify(header)
const padded = text.padEnd(Math.ceil(text.length / 8) * 8)
const prefix = Buffer.alloc(8)
prefix.writeBigUInt64LE(BigInt(padded.length))
const target = join(dirname(fileURLToPath(import.meta.url)), 'tiny-mlp.safetensors')
writeFileSync(target, Buffer.concat([prefix, Buffer.from(padded), ...parts]))
