// Quantizes and decodes normally distributed values, each method against a copy of the same values in the same process. Prints JSON.
import { dtypeById } from '../../dist/dtypes/index.js'
import { bytesPayload } from '../../dist/model/index.js'
import { decodedPayload } from '../../dist/transforms/decode.js'
import { quantizeTensor } from '../../dist/transforms/quantize/quantize.js'
import { answer, race } from '../harness/measure.mjs'

const [method, work, countText] = process.argv.slice(2)
const count = Number(countText)
const columns = 4096
const shape = [count / columns, columns]
// Page-aligned, as the windows are that files are read into.
const aligned = () => new Float32Array(new WebAssembly.Memory({ initial: (count * 4) / 65536 }).buffer)
const values = normalValues(aligned(), 7)
const bytes = new Uint8Array(values.buffer)
const tensor = { name: 'w', dtype: dtypeById('f32'), shape, order: 'row', role: 'weight', data: bytesPayload(bytes) }
const copy = aligned()
const memcpy = async () => copy.set(values)

const result =
  work === 'error'
    ? await errors()
    : work === 'minimum'
      ? { minimum: lowestError() }
      : { ...(await speed()), bytes: bytes.byteLength }
answer(result)

async function speed() {
  if (work !== 'decode') return race(async () => drain(quantizeTensor(tensor, method, { mode: work })), memcpy, 4)
  const quantized = quantizeTensor(tensor, method)
  const decoded = decodedPayload({ ...quantized, data: bytesPayload(await collect(quantized)) }, 'f32')
  return race(async () => drain({ data: decoded }), memcpy, 8)
}

/** RMSE over the deviation of the values. */
async function errors() {
  const result = {}
  for (const mode of ['search', 'reference']) {
    const quantized = quantizeTensor(tensor, method, { mode })
    const decoded = new Float32Array(count)
    await quantized.dtype.regions.decode(bytesPayload(await collect(quantized)), shape, 0, decoded)
    result[mode] = Math.sqrt(sum((i) => (decoded[i] - values[i]) ** 2) / sum((i) => values[i] ** 2))
  }
  return result
}

/** The error with the best real scale for each block, found by brute force: no choice of stored scales can be better. */
function lowestError() {
  const maxCode = 2 ** (Number(method.slice(1)) - 1) - 1
  let [error, square] = [0, 0]
  for (let from = 0; from < count; from += 32) {
    const block = values.subarray(from, from + 32)
    const magnitude = block.reduce((max, x) => Math.max(max, Math.abs(x)), 0)
    const squares = block.reduce((total, x) => total + x * x, 0)
    let gain = 0
    for (let start = Math.max(0.55, 0.8 * maxCode - 1); start < 1.05 * maxCode + 2; start += 0.04) {
      const inverse = start / magnitude
      let [product, codes] = [0, 0]
      for (let i = 0; i < 32; i++) {
        const code = Math.max(-maxCode, Math.min(maxCode, Math.round(block[i] * inverse)))
        product += code * block[i]
        codes += code * code
      }
      if (codes > 0) gain = Math.max(gain, (product * product) / codes)
    }
    error += squares - gain
    square += squares
  }
  return Math.sqrt(error / square)
}

function sum(term) {
  let total = 0
  for (let i = 0; i < count; i++) total += term(i)
  return total
}

async function drain({ data }) {
  for await (const chunk of data.chunks(1 << 20)) if (chunk.byteLength === 0) throw new Error('an empty chunk')
}

async function collect({ data }) {
  const all = new Uint8Array(data.byteLength)
  let at = 0
  for await (const chunk of data.chunks(1 << 20)) {
    all.set(chunk, at)
    at += chunk.byteLength
  }
  return all
}

function normalValues(result, seed) {
  const state = BigInt.asUintN(64, BigInt(seed) * 0x9e3779b97f4a7c15n)
  let [high, low] = [Number(state >> 32n), Number(state & 0xffffffffn)]
  const next = () => {
    // xorshift over 64 bits in two halves
    let [h, l] = [high, low]
    h ^= (h << 13) | (l >>> 19)
    l ^= l << 13
    l ^= (l >>> 7) | (h << 25)
    h ^= h >>> 7
    h ^= (h << 17) | (l >>> 15)
    l ^= l << 17
    high = h >>> 0
    low = l >>> 0
    return (high + 0.5) / 2 ** 32
  }
  for (let i = 0; i < result.length; i += 2) {
    const radius = Math.sqrt(-2 * Math.log(next()))
    const angle = 2 * Math.PI * next()
    result[i] = radius * Math.cos(angle)
    result[i + 1] = radius * Math.sin(angle)
  }
  return result
}
