// Decodes to f32, or encodes from it, against a copy of the f32 values in the same process. Prints JSON.
//   decode TYPE COUNT  a payload in memory, streamed window by window
//   whole TYPE COUNT   the same into one array
//   encode TYPE COUNT  f32 values in memory, streamed as TYPE
import { dtypeById } from '../../dist/dtypes/index.js'
import { bytesPayload } from '../../dist/model/index.js'
import { castTensor } from '../../dist/transforms/cast.js'
import { decodedPayload } from '../../dist/transforms/decode.js'
import { alignedBytes, fillNormal } from '../builders/normal.mjs'
import { answer, race } from '../harness/measure.mjs'

const [work, id, countText] = process.argv.slice(2)
const count = Number(countText)
const floats = (bytes) => new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
const [from, to] = [floats(alignedBytes(count * 4)), floats(alignedBytes(count * 4))]
fillNormal(from.subarray(0, 1 << 20), 7, 0.02)
for (let at = 1 << 20; at < count; at += 1 << 20) from.copyWithin(at, 0, 1 << 20)
const memcpy = async () => to.set(from)
const dtype = dtypeById(id)

const run = { decode, whole, encode }[work]()
const times = await race(run, memcpy, 12)
answer({ ...times, count })

/** Values as a model has them where the type is a float; any codes otherwise. */
function codes() {
  const bytes = alignedBytes(dtype.byteLength([count]))
  if (dtype.codec.fromF32) {
    const bad = dtype.codec.fromF32(from, bytes)
    if (bad < 0) return bytes
  }
  let state = 1
  for (let i = 0; i < bytes.length; i++) {
    state = Math.imul(state, 1664525) + 1013904223
    bytes[i] = state >>> 24
  }
  return bytes
}

function tensorOf(type, bytes) {
  return { name: 'w', dtype: type, shape: [count], order: 'row', role: 'weight', data: bytesPayload(bytes) }
}

function decode() {
  const payload = decodedPayload(tensorOf(dtype, codes()), 'f32')
  return () => drain(payload)
}

function whole() {
  const bytes = codes()
  const target = floats(alignedBytes(count * 4))
  return async () => dtype.codec.toF32(bytes, target)
}

function encode() {
  const bytes = new Uint8Array(from.buffer, from.byteOffset, from.byteLength)
  const { data } = castTensor(tensorOf(dtypeById('f32'), bytes), dtype)
  return () => drain(data)
}

async function drain(payload) {
  for await (const chunk of payload.chunks(1 << 20)) if (chunk.byteLength === 0) throw new Error('an empty chunk')
}
