// ggml's own quantizers: the same bytes for the same values, with and without importance weights.
import { encoders } from '../encoders.js'
import type { BlockName, EncodeRow } from '../layouts.js'
import {
  encodeMXFP4,
  referenceMXFP4,
  referenceNVFP4,
  referenceQ1_0,
  referenceQ2_0,
  referenceTQ1_0,
  referenceTQ2_0,
} from './encode-flat.js'
import { referenceIQ1_M, referenceIQ1_S } from './encode-iq1.js'
import { referenceIQ4_NL, referenceIQ4_XS } from './encode-iq4.js'
import {
  encodeIQ3_S,
  referenceIQ2_S,
  referenceIQ2_XS,
  referenceIQ2_XXS,
  referenceIQ3_S,
  referenceIQ3_XXS,
} from './encode-iq23.js'
import { referenceQ2_K, referenceQ3_K, referenceQ4_K, referenceQ5_K, referenceQ6_K } from './encode-k.js'
import { referenceQ4_0, referenceQ4_1, referenceQ5_0, referenceQ5_1 } from './encode-simple.js'

/** What importance weights are to a type. */
export type WeightUse = 'ignored' | 'used' | 'required'

export interface RowEncoders {
  readonly weights: WeightUse
  /** As ggml, byte for byte. */
  readonly reference: EncodeRow
  /** As ggml, without what is wrong there. */
  readonly encode: EncodeRow
}

const row = (weights: WeightUse, reference: EncodeRow, encode = reference): RowEncoders => ({
  weights,
  reference,
  encode,
})

/** All types but those that no file holds, which are for activations. */
export type EncodableBlock = Exclude<BlockName, 'q8_1' | 'q8_k'>

export const rowEncoders: Readonly<Record<EncodableBlock, RowEncoders>> = {
  q4_0: row('used', referenceQ4_0),
  q4_1: row('used', referenceQ4_1),
  q5_0: row('used', referenceQ5_0),
  q5_1: row('used', referenceQ5_1),
  q8_0: row('ignored', (values, target) => encoders.q8_0(values, target, values.length / 32)),
  q2_k: row('used', referenceQ2_K),
  q3_k: row('used', referenceQ3_K),
  q4_k: row('used', referenceQ4_K),
  q5_k: row('used', referenceQ5_K),
  q6_k: row('used', referenceQ6_K),
  iq2_xxs: row('required', referenceIQ2_XXS),
  iq2_xs: row('required', referenceIQ2_XS),
  iq2_s: row('used', referenceIQ2_S),
  iq3_xxs: row('used', referenceIQ3_XXS),
  iq3_s: row('used', referenceIQ3_S, encodeIQ3_S),
  iq1_s: row('required', referenceIQ1_S),
  iq1_m: row('used', referenceIQ1_M),
  iq4_nl: row('used', referenceIQ4_NL),
  iq4_xs: row('used', referenceIQ4_XS),
  mxfp4: row('ignored', referenceMXFP4, encodeMXFP4),
  nvfp4: row('ignored', referenceNVFP4),
  tq1_0: row('ignored', referenceTQ1_0),
  tq2_0: row('ignored', referenceTQ2_0),
  q1_0: row('ignored', referenceQ1_0),
  q2_0: row('ignored', referenceQ2_0),
}
