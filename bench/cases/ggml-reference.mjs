import { join } from 'node:path'
import { isolated, missing, root, run } from '../harness/harness.mjs'
import { row, skipped } from '../harness/rows.mjs'

export const topic = 'Decoding and encoding'
export const about =
  "encoding ggml's blocks against ggml itself, processor time on one thread; TARE_LIBGGML is the path of a libggml-base"

/** How much faster than ggml each type is to be. */
const goals = {
  q8_0: 1,
  q4_0: 1,
  q4_1: 1,
  q5_0: 1,
  q5_1: 1,
  q2_k: 1.5,
  q3_k: 1.2,
  q4_k: 1.5,
  q5_k: 1.5,
  q6_k: 1.5,
  iq4_nl: 1,
  iq4_xs: 1,
  iq3_s: 1,
  iq3_xxs: 1,
  iq2_s: 1,
  iq2_xs: 1,
  iq2_xxs: 1,
  iq1_m: 1,
  iq1_s: 1,
  mxfp4: 1,
  nvfp4: 1,
  tq1_0: 1,
  tq2_0: 1,
  q1_0: 1,
  q2_0: 1,
}
/** Hundreds of times slower than the others, in ggml too. */
const searching = new Set(['iq3_s', 'iq3_xxs', 'iq2_s', 'iq2_xs', 'iq2_xxs', 'iq1_m', 'iq1_s'])

export default async function* ggmlReference({ pick, file, rounds }) {
  const library = process.env.TARE_LIBGGML
  const compiler = process.env.CC ?? 'cc'
  const reason = library ? missing(compiler) : 'TARE_LIBGGML is not set'
  if (reason) {
    yield skipped('encode ggml types', 'ggml', reason)
    return
  }
  const program = file('ggml-quantize')
  run(compiler, ['-O2', '-o', program, join(root, 'bench', 'work', 'ggml-quantize.c'), '-ldl'])
  for (const [type, goal] of Object.entries(goals)) {
    const count = searching.has(type) ? 1 << 16 : pick(1 << 20, 1 << 18)
    const args = [type, count, rounds, program, library, file('values.f32')]
    const { bytes, ...times } = isolated('kernels/ggml-reference.mjs', args)
    yield row(`encode ggml ${type}, one thread`, times, { against: 'ggml', goal, bytes })
  }
}
