// Which decoder and encoder go with which block.
import type { Codec } from '../dtype.js'
import { blockCodec } from './codec.js'
import { compiled, compiledEncoder } from './compiled.js'
import { decodeMXFP4, decodeNVFP4, decodeTQ1_0, decodeTQ2_0 } from './decode-fp4.js'
import { decodeIQ2_S, decodeIQ2_XS, decodeIQ2_XXS, decodeIQ3_S, decodeIQ3_XXS } from './decode-iq.js'
import { decodeIQ1_M, decodeIQ1_S, decodeIQ4_NL, decodeIQ4_XS } from './decode-iq-edge.js'
import { decodeQ2_K, decodeQ3_K, decodeQ4_K, decodeQ5_K, decodeQ6_K, decodeQ8_K } from './decode-k.js'
import {
  type DecodeBlocks,
  decodeQ1_0,
  decodeQ2_0,
  decodeQ4_0,
  decodeQ4_1,
  decodeQ5_0,
  decodeQ5_1,
  decodeQ8_0,
  decodeQ8_1,
} from './decode-legacy.js'
import { encodeQ2_K, encodeQ3_K, encodeQ4_K, encodeQ5_K, encodeQ6_K } from './encode-k.js'
import { type EncodeBlocks, encodeQ4_0, encodeQ4_1, encodeQ5_0, encodeQ5_1, encodeQ8_0 } from './encode-legacy.js'
import { type BlockName, layouts } from './layouts.js'

const rows: Readonly<Record<BlockName, readonly [DecodeBlocks, EncodeBlocks?]>> = {
  q4_0: [compiled('decodeQ4_0', layouts.q4_0, decodeQ4_0), compiledEncoder('encodeQ4_0', layouts.q4_0, encodeQ4_0)],
  q4_1: [decodeQ4_1, compiledEncoder('encodeQ4_1', layouts.q4_1, encodeQ4_1)],
  q5_0: [decodeQ5_0, compiledEncoder('encodeQ5_0', layouts.q5_0, encodeQ5_0)],
  q5_1: [decodeQ5_1, compiledEncoder('encodeQ5_1', layouts.q5_1, encodeQ5_1)],
  q8_0: [compiled('decodeQ8_0', layouts.q8_0, decodeQ8_0), compiledEncoder('encodeQ8_0', layouts.q8_0, encodeQ8_0)],
  q8_1: [decodeQ8_1],
  q2_k: [compiled('decodeQ2_K', layouts.q2_k, decodeQ2_K), compiledEncoder('encodeQ2_K', layouts.q2_k, encodeQ2_K)],
  q3_k: [compiled('decodeQ3_K', layouts.q3_k, decodeQ3_K), compiledEncoder('encodeQ3_K', layouts.q3_k, encodeQ3_K)],
  q4_k: [compiled('decodeQ4_K', layouts.q4_k, decodeQ4_K), compiledEncoder('encodeQ4_K', layouts.q4_k, encodeQ4_K)],
  q5_k: [compiled('decodeQ5_K', layouts.q5_k, decodeQ5_K), compiledEncoder('encodeQ5_K', layouts.q5_k, encodeQ5_K)],
  q6_k: [compiled('decodeQ6_K', layouts.q6_k, decodeQ6_K), compiledEncoder('encodeQ6_K', layouts.q6_k, encodeQ6_K)],
  q8_k: [decodeQ8_K],
  iq2_xxs: [decodeIQ2_XXS],
  iq2_xs: [decodeIQ2_XS],
  iq3_xxs: [decodeIQ3_XXS],
  iq1_s: [decodeIQ1_S],
  iq4_nl: [decodeIQ4_NL],
  iq3_s: [decodeIQ3_S],
  iq2_s: [decodeIQ2_S],
  iq4_xs: [decodeIQ4_XS],
  iq1_m: [decodeIQ1_M],
  tq1_0: [decodeTQ1_0],
  tq2_0: [decodeTQ2_0],
  mxfp4: [decodeMXFP4],
  nvfp4: [decodeNVFP4],
  q1_0: [decodeQ1_0],
  q2_0: [decodeQ2_0],
}

export const codecOf = (name: BlockName): Codec => blockCodec(layouts[name], ...rows[name])
