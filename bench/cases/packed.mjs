import { isolated } from '../harness/harness.mjs'
import { row } from '../harness/rows.mjs'

export const topic = 'Decoding and encoding'
export const about =
  'weights as libraries pack them (GPTQ, AWQ and others), decoded to f32, against memcpy of the f32 values'

const schemes = ['gptq', 'awq', 'compressed-tensors', 'bitsandbytes', 'fp8', 'modelopt']
/** Bytes of f32 per second. */
const enough = 500e6

export default async function* packed({ pick }) {
  for (const scheme of pick(schemes, schemes.slice(0, 1))) {
    const { bytes, ...times } = isolated('kernels/packed.mjs', [scheme, pick(4096, 512), 4096])
    const goal = { text: '≥ 500 MB/s', met: bytes / times.tare >= enough }
    yield row(`decode packed weights: ${scheme}`, times, { against: 'memcpy', goal, bytes })
  }
}
