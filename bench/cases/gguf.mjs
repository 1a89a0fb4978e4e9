// Opening a GGUF header with a large vocabulary, against the reader of Hugging Face and against reading its bytes; and decoding ggml's
// blocks, in f32 bytes per second against a copy.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeVocabulary } from '../gguf-sample.mjs'
import { isolated, row, scratch } from '../harness.mjs'

/** At most 0.05 of the peer's time. */
const openGoal = 20
const decodeGoal = 0.08

export default async function gguf({ quick }) {
  const folder = scratch()
  const path = join(folder, 'vocabulary.gguf')
  const header = writeVocabulary(path, { tokens: 152_000, merges: 151_000, tensors: 291 })
  const rows = [openRow(path, header), readRow(path, header)]
  rmSync(folder, { recursive: true, force: true })
  for (const type of ['q4_0', 'q8_0', 'q4_k', 'q6_k', 'q5_k']) {
    const { bytes, memory, ...times } = isolated('ggml-decode.mjs', [type, quick ? 1 << 21 : 1 << 24])
    const goal = type === 'q5_k' ? undefined : decodeGoal
    rows.push(row(`decode ggml ${type}`, times, { against: 'memcpy', goal, bytes, memory }))
  }
  return rows
}

const work = 'open 152,000 tokens, 151,000 merges (GGUF)'
const peer = '@huggingface/gguf'

/** The peer is not needed for anything else, so it may be missing; then the row says so and has just our own time. */
function openRow(path, header) {
  const { memory, tare, yardstick } = isolated('gguf-header.mjs', [path, header, 'peer'])
  if (yardstick !== null) return row(work, { tare, yardstick }, { against: peer, goal: openGoal, memory })
  const line = `${work.padEnd(44)} ${(tare * 1000).toFixed(1)} ms  ${peer}: peer not installed  peak ${Math.round(memory / 2 ** 20)} MiB`
  return { work, against: peer, tare, yardstick: null, memory, line }
}

function readRow(path, header) {
  const { memory, bytes, ...times } = isolated('gguf-header.mjs', [path, header, 'read'])
  return row('the same, against reading the bytes', times, { against: 'read', bytes, memory })
}
